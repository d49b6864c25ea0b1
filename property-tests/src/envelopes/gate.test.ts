/**
 * The gate of publication: what it lets one person publish alone makes no agent of the org unit freer, whatever the
 * agent's own envelope declares.
 */
import { answer } from "../../../packages/core/src/verdicts/envelopes/examination/answer.ts"
import type { HistoryJson } from "../../../packages/core/src/verdicts/envelopes/examination/history-json.ts"
import { inPlaceLimits } from "../../../packages/core/src/verdicts/envelopes/examination/questions.ts"
import { withTierFloor } from "../../../packages/envelope/src/language/tier-floor.ts"
import type { JsonMap } from "../../../packages/rules/src/records/record.ts"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { type EnvelopeJson, layerInputs, type LayerInputs, layerJson, repaired, ruleJson } from "./arbitrary.ts"
import { askLayers, DENY, readLayer, readyOf, severityOf } from "./asking.ts"
import { runs } from "../runs.ts"

const SEED = 20_261_122

type Json = { readonly [name: string]: unknown }
interface Domains {
  readonly [name: string]: { readonly max?: number; readonly min?: number; readonly values?: ReadonlyArray<string> }
}

/**
 * The same in the envelope's own words, and not outside them: `gt` up to the greatest value, `nin` as the list of all
 * others.
 */
const enumerated = (condition: unknown, signals: Domains): unknown => {
  if (Array.isArray(condition)) return condition.map((one) => enumerated(one, signals))
  if (typeof condition !== "object" || condition === null) return condition
  const { gt, nin, signal, ...rest } = condition as Json
  const { max, values } = signals[String(signal)] ?? {}
  if (typeof gt === "number" && max !== undefined && gt < max) return { signal, between: [gt + 1, max] }
  if (Array.isArray(nin) && values !== undefined && signal === "tool") {
    const others = values.filter((value) => !nin.includes(value))
    return others.length === 0 ? condition : { signal, in: others }
  }
  return signal === undefined
    ? Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, enumerated(one, signals)]))
    : condition
}

/** A rule that an author may write in either way. */
const reported = fc.record({
  outcome: fc.constantFrom("require_review", "deny", "halt"),
  when: fc.oneof(
    fc.constantFrom("amount", "paid", "due", "limit").map((signal) => [{ signal, gt: 0 }]),
    fc.constantFrom("order.read", "order.cancel", "mail.send").map((name) => [{ signal: "tool", nin: [name] }])
  )
})

/** Another version: a rule more or less, or the same in other words. */
const edited = (json: EnvelopeJson, how: string, rule: Json, at: number): EnvelopeJson => {
  const signals = json["signals"] as Domains
  if (how === "more") return repaired({ ...json, rules: [...json.rules, { id: "more", ...rule }] })
  if (how === "less") return { ...json, rules: json.rules.filter((_, i) => i !== at % Math.max(1, json.rules.length)) }
  return { ...json, rules: json.rules.map((one) => ({ ...one, when: enumerated(one["when"], signals) })) }
}

/** An input that has everything, with one value after another at the end of the agent's own domain. */
const edges = (input: LayerInputs, { amount, due, limit, paid, tool }: Domains): ReadonlyArray<LayerInputs> => {
  const there = { ...input, missing: [] }
  return [
    ...[amount?.min, amount?.max].flatMap((value) => (value === undefined ? [] : [{ ...there, amount: value }])),
    ...[due?.max].flatMap((value) => (value === undefined ? [] : [{ ...there, due: value }])),
    ...[limit?.max].flatMap((value) => (value === undefined ? [] : [{ ...there, limit: value }])),
    ...[paid?.max].flatMap((value) => (value === undefined ? [] : [{ ...there, paid: value }])),
    ...(tool?.values ?? []).map((value) => ({ ...there, tool: value }))
  ]
}

const jsonOf = (json: EnvelopeJson): JsonMap => JSON.parse(JSON.stringify(json)) as JsonMap
const texts = (json: EnvelopeJson) => [{ envelopeId: "env_1", envelope: jsonOf(json) }]
const nothing: HistoryJson = { events: [], declared: [], fromSeq: 0, toSeq: 0, fromGenesis: true }

describe("a version that one person may publish alone for an org unit", () => {
  it("loosens no verdict, for agents with and without an envelope of their own", () => {
    const counts = { alone: 0, equal: 0, two: 0 }
    fc.assert(
      fc.property(
        layerJson,
        layerJson,
        fc.constantFrom("more", "less", "words", "words"),
        ruleJson,
        reported,
        fc.nat(),
        fc.array(layerInputs, { minLength: 8, maxLength: 8 }),
        (bare, own, how, rule, more, at, requested) => {
          const unit = repaired({ ...bare, rules: [...bare.rules, { id: "noticed", ...more }] })
          const next = edited(unit, how, rule as Json, at)
          const answered = answer(
            {
              kind: "diff",
              about: {
                json: next,
                surroundings: {
                  outer: [],
                  inner: texts(own),
                  safety: { withoutBreaker: 0, withoutDrill: 0 },
                  blastRadii: [],
                  grantable: "any",
                  toolsSeen: []
                },
                history: nothing,
                before: { layers: texts(unit), own: jsonOf(unit) }
              }
            },
            inPlaceLimits
          )
          if ("unfit" in answered) return
          const { change } = answered.report
          if (change === "loosens" || change === "unknown") return void counts.two++
          counts.alone++
          if (change === "equal") counts.equal++
          for (const inside of [[], [own]]) {
            const [before, after] = [unit, next].map((one) => readyOf(withTierFloor([one, ...inside].map(readLayer))))
            if (after === null) continue
            for (const input of [...requested, ...requested.flatMap((one) => edges(one, own["signals"] as Domains))]) {
              const now = severityOf(askLayers(after!, input))
              const then = before === null ? DENY : severityOf(askLayers(before!, input))
              assert.isAtLeast(now, Math.min(then, DENY), JSON.stringify({ how, input }))
            }
          }
        }
      ),
      { seed: SEED, numRuns: runs(150, 600) }
    )
    for (const count of [counts.alone, counts.equal, counts.two])
      assert.isAbove(count, runs(3, 15), JSON.stringify(counts))
  })
})
