import { Result } from "effect"
import { assert, describe, it } from "vitest"
import { decode } from "./foundation/decode.ts"
import { DecisionBatchIn, DecisionIn, decodeWitness, decodeWitnessInSlices } from "./decisions.ts"

const minimal = { client_ref: "r", action: "pay" }
const whole = {
  client_ref: "r",
  action: "pay",
  kind: "tool_call",
  tool_server: "bank",
  run_id: "run-1",
  step: 3,
  observed_at: "2026-01-01T01:00:00+01:00",
  status: "ok",
  evaluation_id: "e",
  approval_id: "a",
  model: "m/1",
  usage: { input_tokens: 1, output_tokens: null, cost_micro_usd: 2 },
  latency_ms: 5,
  mode: "enforced",
  decided_by: "server",
  writer_seq: 9,
  args: { a: [1] },
  result: null,
  labels: "x"
}
const cases: ReadonlyArray<unknown> = [
  minimal,
  whole,
  {},
  null,
  [],
  "x",
  { ...minimal, zzz: 1 },
  { ...minimal, usage: { zzz: 1 } },
  { ...minimal, observed_at: "soon" },
  { ...minimal, observed_at: null },
  { ...minimal, kind: "x" },
  { ...minimal, kind: null },
  { ...minimal, status: null },
  { ...minimal, step: -1 },
  { ...whole, client_ref: "" },
  JSON.parse('{"client_ref":"r","action":"a","__proto__":1}')
]

describe("decodeWitness", () => {
  it("decodes a batch fifty decisions at a time", () => {
    const slices = (decision: object): number => {
      const work = decodeWitnessInSlices({ decisions: Array.from({ length: 1_000 }, () => decision) })
      let count = 1
      while (work.next().done !== true) count++
      return count
    }
    assert.strictEqual(slices({}), 20)
    assert.strictEqual(slices({ client_ref: "r", action: "a" }), 20)
  })

  const one = decode(DecisionIn)
  const many = decode(DecisionBatchIn)

  it("decodes one decision as its shape does", () => {
    for (const value of cases) {
      const expected = Result.map(one(value, "body"), (decision) => [decision])
      assert.deepEqual(decodeWitness(value), expected, JSON.stringify(value))
    }
  })

  it("decodes a batch as its shape does", () => {
    for (const value of [
      { decisions: cases },
      { decisions: [minimal, whole] },
      { decisions: [minimal, { ...minimal, zzz: 1 }] },
      { decisions: [{ ...minimal, usage: { zzz: 1 } }] },
      { decisions: [] },
      { decisions: 1 },
      { decisions: [minimal], zzz: 1 }
    ]) {
      assert.deepEqual(
        decodeWitness(value),
        Result.map(many(value, "body"), ({ decisions }) => decisions),
        JSON.stringify(value).slice(0, 100)
      )
    }
  })

  it("fills in kind and status, and makes times UTC", () => {
    assert.deepEqual(Result.getOrThrow(decodeWitness(minimal)), [{ ...minimal, kind: "other", status: "unknown" }])
    assert.strictEqual(Result.getOrThrow(decodeWitness(whole))[0]!.observed_at, "2026-01-01T00:00:00.000Z")
  })

  it("keeps null and absent apart where they are content", () => {
    assert.isTrue("result" in Result.getOrThrow(decodeWitness(whole))[0]!)
    assert.isFalse("result" in Result.getOrThrow(decodeWitness(minimal))[0]!)
  })
})
