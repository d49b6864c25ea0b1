/** Rounds of SIGKILL, each at a moment that the seed chose, and what must hold after each. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import assert from "node:assert/strict"
import { type Governor, openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { AGENT, storageAt, type StoreAt } from "./capturing-process.ts"

interface Acknowledged {
  readonly act: string
  readonly ref: string
  readonly seq: number
  readonly hash: string
}

const program = fileURLToPath(new URL("./capturing-process.ts", import.meta.url))

/** Runs the process until it has acknowledged `acts` acts, kills it, and answers every whole line it wrote. */
const killAfter = (at: StoreAt, dir: string, round: number, acts: number): Promise<ReadonlyArray<Acknowledged>> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, JSON.stringify(at), dir, String(round)], { stdio: ["ignore", "pipe", "pipe"] })
    const acknowledged: Array<Acknowledged> = []
    let stderr = ""
    child.stderr.on("data", (chunk) => (stderr += String(chunk)))
    const lines = createInterface(child.stdout)
    lines.on("line", (line) => {
      const [act, ref, seq, hash] = line.split(" ")
      // The line under way when the process died is not an acknowledgement: its caller never saw the end of it.
      if (hash === undefined || (hash !== "-" && hash.length !== 71)) return
      acknowledged.push({ act: act!, ref: ref!, seq: Number(seq), hash })
      if (acknowledged.length === acts) child.kill("SIGKILL")
    })
    const ended = new Promise<NodeJS.Signals | null>((done) => child.on("exit", (_, signal) => done(signal)))
    lines.on("close", () => {
      ended.then((signal) => signal === "SIGKILL" ? resolve(acknowledged) : reject(new Error(`the process ended by itself: ${stderr.slice(-2_000)}`)), reject)
    })
  })

/** Everything that is in the chain, by what it is about. */
const recordsByRef = async (governor: Governor): Promise<ReadonlyMap<string, ReadonlyArray<{ readonly seq: number; readonly hash: string }>>> => {
  const found = new Map<string, Array<{ seq: number; hash: string }>>()
  const refOf = new Map<number, string>()
  for (let from = 0;;) {
    const page = await governor.chain.records({ from, limit: 1_000 })
    for (const record of page) {
      const { body } = JSON.parse(new TextDecoder().decode(record.bytes)) as { readonly body: { readonly client_ref?: string; readonly decision_seq?: number; readonly seq?: number } }
      if (record.kind === "decision.witnessed") refOf.set(record.seq, body.client_ref!)
      const name = record.kind === "decision.witnessed" ? `witnessed ${body.client_ref}` : record.kind === "decision.settled" ? `settled ${refOf.get(body.decision_seq!)}` : record.kind === "part.erased" ? `erased ${refOf.get(body.seq!)}` : null
      if (name !== null) found.set(name, [...found.get(name) ?? [], { seq: record.seq, hash: record.record_hash }])
    }
    if (page.length === 0) return found
    from = page.at(-1)!.seq + 1
  }
}

/** Runs `rounds` rounds on one store and asserts after each: acknowledged means there exactly once, one chain, documents equal the fold. */
export const killRounds = async (at: StoreAt, dir: string, rounds: number, seed: number): Promise<{ readonly acknowledged: number; readonly records: number }> => {
  const all: Array<Acknowledged> = []
  let state = seed
  let records = 0
  for (let round = 0; round < rounds; round++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const acts = 1 + (state >>> 8) % 400
    all.push(...await killAfter(at, dir, round, acts))
    await using governor = await openGovernor({ storage: storageAt(at), keys: dataFolder({ dir, origin: "flyball.example/crash" }) })
    const where = `round ${round}, killed after ${acts} acts, seed ${seed}`
    const verification = await governor.chain.verify()
    assert.deepEqual(verification.findings, [], where)
    assert.equal(verification.ok, true, where)
    assert.deepEqual((await governor.check()).differences, [], where)
    const inChain = await recordsByRef(governor)
    for (const [name, found] of inChain) assert.equal(found.length, 1, `${where}: ${name} is in the chain ${found.length} times`)
    for (const { act, hash, ref, seq } of all) {
      if (act === "ready") continue
      const found = inChain.get(`${act} ${ref}`)
      assert.ok(found !== undefined, `${where}: ${act} ${ref} was acknowledged and is not in the chain`)
      if (hash !== "-") assert.deepEqual(found[0], { seq, hash }, where)
    }
    assert.ok((await governor.agents.find(AGENT)) !== null || all.length === 0, where)
    records = verification.checked
  }
  return { acknowledged: all.length, records }
}
