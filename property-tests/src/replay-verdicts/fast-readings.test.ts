/**
 * The short ways that evaluating again takes are the long ones: whatever they take for right the catalogue and the
 * decoder do, and they do take what nearly all records are.
 */
import { canonicalBytes, checkBody, encodeId, fromUtf8, type JsonObject } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import fc from "fast-check"
import { expect, it } from "vitest"
import { envelopeJson } from "../../../benchmarks/envelopes-set.ts"
import { EvaluationIds } from "../../../packages/rules/src/evaluations/evaluation-ids.ts"
import { evaluationId } from "../../../packages/rules/src/evaluations/evaluation-id.ts"
import { isEvaluationId, isPlainEvaluation } from "../../../packages/rules/src/evaluations/plain-evaluation.ts"
import { SignalPoints } from "../../../packages/rules/src/evaluations/signal-points.ts"
import { signalsOf } from "../../../packages/rules/src/evaluations/signals-part.ts"
import { compile } from "../../../packages/envelope/src/compile/compile.ts"
import { decode, decoderOf, decodeRest } from "../../../packages/envelope/src/decide/decode.ts"
import { readEnvelope } from "../../../packages/envelope/src/language/read-envelope.ts"

const seed = 20_261_122
const id = (prefix: string, n: number): string => encodeId(prefix, new Uint8Array(16).fill(n))
const made = {
  agent_id: id("agt_", 1),
  agent_status: "active",
  as_of_ms: 5,
  as_of_seq: 4,
  client_ref: "c-1",
  decided_by: "server",
  evaluation_id: id("evl_", 2),
  latches: ["seen"],
  layers: [{ digest: "0a".repeat(32), envelope_id: id("env_", 3), version: 1 }],
  matched_rule: "@budget:spent",
  meters: [
    { after: 3, amount: 1, id: "spent", value: 2, window: id("mtr_", 4) },
    { after: 3, id: "acts", value: 2, window: id("mtr_", 5) }
  ],
  mode: "enforced",
  outcome: "deny",
  run_id: "r-1",
  stopped_on: "amount",
  tier: "L2",
  trace: [-1, -2, 255, 0],
  writer: id("key_", 6)
}
const seldom = <A>(one: fc.Arbitrary<A>): fc.Arbitrary<A | null> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: one })
const isPlain = (body: JsonObject): boolean =>
  isPlainEvaluation(body, (agent) => agent === made.agent_id) && isEvaluationId(body["evaluation_id"])

it("a body that is taken at once is as the catalogue says", () => {
  expect(isPlain(made)).toBe(true)
  const invalid = fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1.5,
      256,
      -3,
      2 ** 53,
      1_000_001,
      "",
      "x",
      "ü",
      "a b",
      "L5",
      "key_",
      id("usr_", 9),
      "0A".repeat(32),
      "x".repeat(300),
      [],
      {},
      [[]],
      [{}]
    ),
    fc.string(),
    fc.integer()
  )
  /** Every place in a value, by its keys. */
  const placesIn = (value: unknown): ReadonlyArray<ReadonlyArray<string>> =>
    typeof value !== "object" || value === null
      ? [[]]
      : [[], ...Object.entries(value).flatMap(([key, one]) => placesIn(one).map((rest) => [key, ...rest]))]
  const places = placesIn(made).filter((place) => place.length > 0)
  const changed = (
    value: unknown,
    [key, ...rest]: ReadonlyArray<string>,
    how: "drop" | "add" | "put",
    other: unknown
  ): unknown => {
    const copy: any = Array.isArray(value) ? [...value] : { ...(value as object) }
    if (rest.length > 0) copy[key!] = changed(copy[key!], rest, how, other)
    else if (how === "drop" && !Array.isArray(copy)) delete copy[key!]
    else if (how === "add" && !Array.isArray(copy)) copy[`${key}x`] = other
    else copy[key!] = other
    return copy
  }
  let taken = 0
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(fc.constantFrom(...places), fc.constantFrom("drop" as const, "add" as const, "put" as const), invalid),
        { minLength: 1, maxLength: 2 }
      ),
      (changes) => {
        let body: unknown = made
        try {
          for (const [place, how, other] of changes) body = changed(body, place, how, other)
          body = JSON.parse(fromUtf8(canonicalBytes(body, 64))!)
        } catch {
          return
        }
        if (!isPlain(body as JsonObject)) return
        taken++
        expect(checkBody("evaluation.made", body)).toBe(null)
      }
    ),
    { numRuns: 20_000, seed }
  )
  expect(taken).toBeGreaterThan(500)
})

it("signals that are read at once are points as the decoder has them", () => {
  const text = {
    ...envelopeJson,
    signals: {
      ...envelopeJson.signals,
      note: { type: "enum", values: ["a", "ü", '"q', "b"], source: "caller", optional: true },
      place: { ...envelopeJson.signals.place, on_missing: "prod" }
    }
  }
  const combination = compile([readEnvelope(text).envelope!]).combination!
  const decoder = decoderOf(combination)
  const reader = new SignalPoints(decoder)
  const size = combination.compiled.axes.length
  const good = {
    amount: fc.constantFrom<unknown>(0, 1, 999, 100_000_000),
    confidence_bp: fc.nat(10_000),
    data_class: fc.constantFrom("public", "restricted"),
    place: fc.constantFrom("dev", "prod"),
    reversible: fc.boolean(),
    tainted: fc.boolean(),
    tool: fc.constantFrom("refund", "search"),
    note: fc.constantFrom("a", "ü", '"q', "b")
  }
  const bad = fc.constantFrom<unknown>(-1, 100_000_001, 1.5, 1e21, "nowhere", "", "true", null, [], {}, true)
  const mixed = Object.fromEntries(
    Object.entries(good).map(([name, one]) => [
      name,
      fc.oneof({ weight: 20, arbitrary: one as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: bad })
    ])
  )
  const signals = fc.tuple(
    fc.record(mixed, { requiredKeys: ["amount", "confidence_bp", "data_class", "reversible", "tainted", "tool"] }),
    seldom(fc.constantFrom("tier", "zz", "Tool", "amounts")),
    seldom(fc.tuple(fc.nat(), fc.nat(255)))
  )
  let taken = 0
  let left = 0
  fc.assert(
    fc.property(signals, ([sent, extra, hit]) => {
      const bytes = canonicalBytes(extra === null ? sent : { ...sent, [extra]: 1 }).slice()
      if (hit !== null) bytes[hit[0] % bytes.length] = hit[1]
      const [long, short] = [new Float64Array(size).fill(-9), new Float64Array(size).fill(-9)]
      const problem = decode(decoder, signalsOf(bytes), { tier: 2 }, null, long)
      const isRead = reader.read(bytes, short) && decodeRest(decoder, { tier: 2 }, null, short)
      if (isRead) {
        taken++
        expect(problem).toBe(null)
        expect([...short]).toEqual([...long])
      } else if (problem === null) left++
    }),
    { numRuns: 10_000, seed }
  )
  expect(taken).toBeGreaterThan(2_000)
  // Those with a member that JSON escapes, or that is not ASCII.
  expect(left).toBeGreaterThan(100)
})

it("ids are found to be those that derive without being written", () => {
  const tag = Uint8Array.of(1, 2, 3, 4)
  const ids = new EvaluationIds(tag, nodeCrypto)
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(..."ab0-:"), minLength: 1, maxLength: 128 }),
      fc.nat(29),
      fc.constantFrom(..."0z8e_"),
      (ref, place, letter) => {
        const right = evaluationId(tag, made.agent_id, ref, nodeCrypto.sha256)
        const says = (said: string): boolean => ids.isOf(made.agent_id, ref, said)
        const other = `${right.slice(0, place)}${letter}${right.slice(place + 1)}`
        expect(says(other)).toBe(other === right)
        expect(says(right)).toBe(true)
        expect(says(other)).toBe(other === right)
        expect(says(`${right}0`)).toBe(false)
        expect(says(right)).toBe(true)
        expect(ids.isOf(made.agent_id, `${ref}x`, right)).toBe(false)
        expect(ids.of(made.agent_id, ref)).toBe(right)
      }
    ),
    { numRuns: 500, seed }
  )
})
