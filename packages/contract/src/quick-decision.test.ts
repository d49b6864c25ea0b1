import { Result } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { decode } from "./decode.ts"
import {
  deciders,
  DecisionBatchIn,
  DecisionIn,
  decisionKinds,
  decisionModes,
  decisionStatuses,
  decodeWitness
} from "./decisions.ts"
import { quickDecision, quickDecisions } from "./quick-decision.ts"

const byShape = decode(DecisionIn)
const manyByShape = decode(DecisionBatchIn)

/** The quick way may be silent; what it says is what the shape says. Answers whether it spoke. */
const agrees = (input: unknown): boolean => {
  const quick = quickDecision(input)
  const shape = byShape(input, "body")
  if (quick !== null) assert.deepStrictEqual(quick, Result.getOrThrow(shape))
  return quick !== null
}

const identifiers = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9._:/@+-]{1,8}$/),
  fc.constantFrom(
    "",
    "a b",
    "é",
    "a\n",
    "x".repeat(128),
    "x".repeat(129),
    "x".repeat(200),
    "x".repeat(201),
    "\0",
    "\ud800"
  )
)
const counts = fc.constantFrom<unknown>(0, 1, 7, -0, -1, 1.5, Number.MAX_SAFE_INTEGER, 2 ** 53, Number.NaN, "1", true)
const times = fc.oneof(
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("9999-12-31") }).map((date) => date.toISOString()),
  fc.constantFrom(
    "2026-02-28T00:00:00.000Z",
    "2026-02-29T00:00:00.000Z",
    "2024-02-29T00:00:00.000Z",
    "2026-04-31T00:00:00.000Z",
    "2026-00-10T00:00:00.000Z",
    "2026-13-10T00:00:00.000Z",
    "2026-01-00T00:00:00.000Z",
    "2026-01-01T24:00:00.000Z",
    "2026-01-01T23:60:00.000Z",
    "2026-01-01T23:59:60.000Z",
    "2026-01-01T00:00:00Z",
    "2026-01-01t00:00:00.000z",
    "2026-01-01T01:00:00.5+01:00",
    "2026-01-01T00:00:00.000Z\n",
    "soon",
    ""
  )
)
const words = (list: ReadonlyArray<string>) => fc.constantFrom<unknown>(...list, "else", "", 0, undefined)
const usages = fc.oneof(
  fc.constantFrom<unknown>({}, [], "x", { zzz: 1 }, new Date(0)),
  fc.record(
    { input_tokens: fc.oneof(counts, fc.constant(null)), output_tokens: counts, cost_micro_usd: counts },
    { requiredKeys: [] }
  )
)
const nullable = (values: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 5, arbitrary: values }, fc.constantFrom(null, undefined, 7, {}))
const decisions = fc.record(
  {
    client_ref: nullable(identifiers),
    action: nullable(identifiers),
    tool_server: nullable(identifiers),
    run_id: nullable(identifiers),
    evaluation_id: nullable(identifiers),
    approval_id: nullable(identifiers),
    model: nullable(identifiers),
    step: nullable(counts),
    latency_ms: nullable(counts),
    writer_seq: nullable(counts),
    kind: words(decisionKinds),
    status: words(decisionStatuses),
    mode: nullable(words(decisionModes)),
    decided_by: nullable(words(deciders)),
    observed_at: nullable(times),
    usage: nullable(usages),
    args: fc.anything(),
    result: fc.anything(),
    labels: fc.jsonValue(),
    zzz: fc.anything()
  },
  { requiredKeys: [] }
)
/** Good in all but at most one member, so that each member decides at times. */
const nearlyGood = fc
  .tuple(
    decisions,
    fc.constantFrom(
      "run_id",
      "step",
      "kind",
      "status",
      "mode",
      "decided_by",
      "observed_at",
      "usage",
      "args",
      "client_ref",
      "zzz"
    )
  )
  .map(([decision, name]) => ({
    client_ref: "r",
    action: "a",
    ...(Object.hasOwn(decision, name) ? { [name]: decision[name as keyof typeof decision] } : {})
  }))

describe("the quick way to a decision", () => {
  it("says what the shape says, or nothing", () => {
    let spoke = 0
    const note = (input: unknown): void => {
      if (agrees(input)) spoke++
    }
    fc.assert(fc.property(decisions, note), { numRuns: 2_000 })
    fc.assert(fc.property(nearlyGood, note), { numRuns: 4_000 })
    fc.assert(fc.property(fc.anything(), note), { numRuns: 500 })
    assert.isAbove(spoke, 1_000)
  })

  it("takes every ordinary decision", () => {
    const whole = {
      client_ref: "r",
      action: "pay",
      kind: "tool_call",
      tool_server: "bank",
      run_id: "run-1",
      step: 3,
      observed_at: "2026-01-01T00:00:00.000Z",
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
    for (const name of [...Object.keys(whole), "none"]) {
      const { [name as "kind"]: _, ...rest } = whole
      assert.strictEqual(agrees(rest), name !== "client_ref" && name !== "action", name)
    }
    assert.isTrue(agrees(Object.assign(Object.create(null), whole)))
  })

  it("leaves what is no plain object to the shape, and sees hidden members as the shape does", () => {
    const hidden = Object.defineProperty({ client_ref: "r", action: "a" }, "run_id", {
      value: "run-1",
      enumerable: false
    })
    for (const odd of [
      new (class {
        client_ref = "r"
        action = "a"
      })(),
      Object.create({ client_ref: "r", action: "a" }),
      JSON.parse('{"client_ref":"r","action":"a","__proto__":{}}')
    ])
      assert.isFalse(agrees(odd))
    assert.isTrue(agrees(hidden))
    assert.isNull(
      quickDecision(Object.defineProperty({ client_ref: "r", action: "a" }, "zzz", { value: 1, enumerable: false }))
    )
  })

  it("makes objects of its own, as the shape does", () => {
    const usage = { input_tokens: 1 }
    const made = quickDecision({ client_ref: "r", action: "a", usage })!
    assert.notStrictEqual(made.usage, usage)
  })

  it("takes 1 to 1,000 at once, all or none", () => {
    const good = { client_ref: "r", action: "a" }
    for (const count of [0, 1, 1_000, 1_001]) {
      const input = Array.from({ length: count }, () => good)
      assert.strictEqual(quickDecisions(input) !== null, count === 1 || count === 1_000)
    }
    const hole = [good, good, good]
    delete hole[1]
    for (const input of [[good, {}], hole, { length: 1, 0: good }, "x", null]) assert.isNull(quickDecisions(input))
    for (const input of [[good], [good, {}], [good, { ...good, kind: "message" }], hole]) {
      assert.deepStrictEqual(
        decodeWitness({ decisions: input }),
        Result.map(manyByShape({ decisions: input }, "body"), ({ decisions }) => decisions)
      )
    }
  })
})
