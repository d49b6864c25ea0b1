/**
 * One inclusion proof from a chain of a million records: time to make, time to check, size of a pack of one record.
 * Design section 6.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { fromHex, verifyInclusion } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { decisionsFrom } from "./decisions.ts"
import { absolute, type Benchmark, figure, median, quantile, timed } from "./harness.ts"

const RECORDS = 1_000_000
const BATCH = 1_000
const CALLERS = 4
const PROOFS = 200

const bytesOf = (digest: string): Uint8Array => fromHex(digest.replace(/^sha256:/, ""))!

/** Processor time of the whole process so far: this thread, the store's, the engine's. */
const usedMs = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "proof",
  about: `${PROOFS} inclusion proofs at random places of a SQLite chain of ${RECORDS} records`,
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    try {
      await using governor = await openGovernor({
        storage: sqliteStorage({ file: join(folder, "proof.db") }),
        keys: dataFolder({ dir: join(folder, "keys"), origin: "flyball.example/bench" })
      })
      const { agent } = await governor.agents.register({ name: "bench", org_unit: "bench" })
      say(`filling a chain of ${RECORDS} records …`)
      let next = 0
      await Promise.all(
        Array.from({ length: CALLERS }, async () => {
          while (next < RECORDS) {
            const from = next
            next += BATCH
            await governor.witness(agent.id, decisionsFrom(from, BATCH))
          }
        })
      )
      await governor.checkpointNow()
      const made: Array<number> = []
      const used: Array<number> = []
      const checked: Array<number> = []
      let seed = 20_261_121
      for (let index = 0; index < PROOFS; index++) {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
        const seq = seed % RECORDS
        let proof = await governor.chain.proof(seq)
        const before = usedMs()
        made.push(
          await timed(async () => {
            proof = await governor.chain.proof(seq)
          })
        )
        used.push(usedMs() - before)
        const claim = {
          seq,
          size: proof.tree_size,
          leaf: bytesOf(proof.record_hash),
          proof: proof.proof.map(bytesOf),
          root: bytesOf(proof.root_hash)
        }
        checked.push(
          await timed(() => {
            if (!verifyInclusion(nodeCrypto, claim)) throw new Error(`the proof of record ${seq} does not hold`)
          })
        )
      }
      // What waiting for a processor and for the disk adds is the machine's: these two figures are the program's.
      say(`processor time of a proof: median ${figure(median(used))} ms, p99 ${figure(quantile(used, 0.99))} ms`)
      const pack = Buffer.concat(
        await Array.fromAsync(
          governor.exportPack({ kind: "sparse", from: RECORDS >> 1, to: RECORDS >> 1, disclose: "none" })
        )
      )
      const line = (name: string, value: number, unit: string, goal: string, met: boolean) => ({
        name,
        value: figure(value),
        unit,
        ...absolute,
        goal,
        met
      })
      return [
        line("proof.make.median", median(made), "ms", "< 5 ms", median(made) < 5),
        line("proof.make.p99", quantile(made, 0.99), "ms", "< 5 ms", quantile(made, 0.99) < 5),
        line("proof.check.median", median(checked), "ms", "< 1 ms", median(checked) < 1),
        line("proof.pack_of_one", pack.length, "bytes", "< 8,192 bytes", pack.length < 8_192)
      ]
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
