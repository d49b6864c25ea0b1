/** A change of behaviour over each store: the verifier gives the same answer from a pack, and the same alarm. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Behavior, Capture, driftAlarms, Kill, ResponsePolicies } from "@flyball/core"
import { memoryStorage } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run } from "../../../apps/verify/src/run.ts"
import { activeAgent, ann, exported, host, inBoundedWorld, publish, refunds } from "../replay-verdicts/bounded-world.ts"
import { tauAgents } from "./tau-runs.ts"

const database = givenDatabase({ afterAll, beforeAll })
const folder = mkdtempSync(join(tmpdir(), "flyball-drift-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const retail = tauAgents[0]!.runs
const allReplaced = (runs: typeof retail): typeof retail =>
  runs.map((one) =>
    one.map((decision) => (decision.kind === "tool_call" ? { ...decision, action: "new_tool" } : decision))
  )

const life = Effect.gen(function* () {
  const [behavior, capture] = [yield* Behavior, yield* Capture]
  const agentId = yield* activeAgent("retail")
  yield* ResponsePolicies.use((policies) =>
    policies.set([{ scope: "default", trigger: "drift", response: "drain", notify: [] }], ann)
  )
  const { round } = yield* driftAlarms()
  yield* round
  const witness = (runs: typeof retail, from: number) =>
    Effect.forEach(runs, (one, at) =>
      capture.witness(
        agentId,
        one.map(({ action, kind }, step) => ({
          client_ref: `${from + at}-${step}`,
          run_id: `run-${from + at}`,
          action,
          kind,
          status: "intended" as const
        })),
        host
      )
    )
  yield* witness(retail.slice(0, 50), 0)
  yield* publish({ agent_id: agentId }, refunds())
  const changed = yield* witness(allReplaced(retail.slice(50, 80)), 50)
  for (const { decision_id: id } of changed.slice(0, 8).flatMap(({ receipts }) => receipts))
    yield* capture.settle(id, { status: "error", latency_ms: 7, usage: { output_tokens: 3 } }, host)
  const alarms = yield* round
  const answer = yield* behavior.change(agentId, { lookback: 800, window: 400 })
  // What comes later changes no answer.
  yield* capture.settle(changed.at(-1)!.receipts[0]!.decision_id, { status: "ok" }, host)
  yield* witness(retail.slice(80, 82), 80)
  const { response } = (yield* Kill.use((kill) => kill.holding({ type: "agent", id: agentId })))[0]!
  return { agentId, alarms, answer, response, ...(yield* exported({ kind: "full" })) }
})

const verified = async (pack: Uint8Array, vkey: string, answer: unknown, ...more: ReadonlyArray<string>) => {
  const [file, given] = [join(folder, "pack.evp"), join(folder, "change.json")]
  writeFileSync(file, pack)
  writeFileSync(given, JSON.stringify(answer))
  let out = ""
  const status = await run([file, "--vkey", vkey, "--answer", given, ...more], {
    out: async (text) => void (out += text),
    err: async (text) => void (out += text),
    nowMs: () => 0,
    isTerminal: false
  })
  return { status, out }
}

describe.each([
  ["memory", () => memoryStorage()],
  ["SQLite", () => sqliteStorage({ file: ":memory:" })],
  ["Postgres", () => postgresStorage({ url: database.url, schema: "drift" })]
] as const)("on %s", (_, open) => {
  it("answer and alarm follow from the pack, and an altered answer does not", async () => {
    const { agentId, alarms, answer, pack, response, vkey } = await inBoundedWorld(life, open())
    expect([alarms, response]).toEqual([1, "drain"])
    expect(answer).toMatchObject({ status: "ok", verdict: "changed" })
    expect(answer.annotations).toContainEqual({ seq: expect.any(Number), kind: "envelope.published" })
    expect(answer.novel).toContainEqual(expect.objectContaining({ dimension: "action", value: "new_tool" }))
    const whole = await verified(pack, vkey, answer, "--replay", "--bodies", "--json")
    expect(JSON.parse(whole.out)).toMatchObject({
      answer: { agent_id: agentId, differs: null },
      replay: { mismatches: [] },
      bodies: { wrong: 0 }
    })
    expect(whole.status).toBe(0)
    const altered = { ...answer, dimensions: answer.dimensions.map((one) => ({ ...one, p: 0.5 })) }
    const other = await verified(pack, vkey, altered)
    expect(other.status).toBe(2)
    expect(other.out.replaceAll(/\s+/g, " ")).toContain("another at /dimensions/0/p")
    const later = await verified(pack, vkey, { ...answer, as_of_seq: 1_000_000 })
    expect(later.status).toBe(2)
    expect((await verified(pack, vkey, { agent_id: agentId })).status).toBe(4)
  })
})
