/** The vectors in `fixtures/envelopes/`, which other implementations run too. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { compile } from "./compile/compile.ts"
import { decide, type KillState, prepare } from "./decide/decide.ts"
import { envelopeDigest } from "./language/digest.ts"
import { explain } from "./decide/explain.ts"
import { WindowBook } from "./meters/window-book.ts"
import { obligationJson } from "./language/obligations.ts"
import { readEnvelope } from "./language/read-envelope.ts"
import { withTierFloor } from "./language/tier-floor.ts"
import { renderTrace } from "./decide/trace.ts"
import { readWaiver, waive } from "./decide/waive.ts"

const fixture = <A>(name: string): ReadonlyArray<A> =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/envelopes/${name}`, import.meta.url), "utf8")) as ReadonlyArray<A>

interface EvaluationCase {
  readonly name: string
  readonly given: {
    readonly agent_id: string
    readonly org_unit: string
    readonly run_id: string | null
    readonly kill: KillState
    readonly agent_active: boolean
    readonly signals: unknown
    readonly args?: unknown
    readonly server: { readonly [name: string]: unknown }
    readonly latches: ReadonlyArray<string>
    readonly approved: boolean
    readonly windows: { readonly [meter: string]: { readonly [key: string]: readonly [number, number] } }
  }
  readonly expected: {
    readonly nearest?: string
    readonly trace?: ReadonlyArray<object>
    readonly stopped: object | null
    readonly failed_on: ReadonlyArray<number>
  }
}
interface EvaluationSet {
  readonly name: string
  readonly tier_floor: boolean
  readonly layers: ReadonlyArray<unknown>
  readonly waivers?: ReadonlyArray<{ readonly layer: number; readonly rule_id: string; readonly unless: unknown }>
  readonly digests: ReadonlyArray<string>
  readonly axes: ReadonlyArray<string>
  readonly rules: ReadonlyArray<string>
  readonly cases: ReadonlyArray<EvaluationCase>
}

for (const set of [
  "evaluate.json",
  "counts.json",
  "waivers.json",
  "traces.json",
  "absent-tool.json",
  "texts.json"
].flatMap((name) => fixture<EvaluationSet>(name))) {
  describe(`the vectors of ${set.name}`, () => {
    const layers = set.layers.map((json, layer) => {
      const { envelope } = readEnvelope(json)
      return waive(
        envelope!,
        (set.waivers ?? []).flatMap((one) =>
          one.layer === layer ? readWaiver(envelope!, one.rule_id, one.unless).waiver! : []
        )
      )
    })
    const combination = compile(set.tier_floor ? withTierFloor(layers) : layers).combination!
    const ready = prepare(combination)

    it("have the digests, axes and rules that are written there", () => {
      assert.deepEqual(
        set.layers.map((json) => envelopeDigest(json)),
        set.digests
      )
      assert.deepEqual(
        combination.compiled.axes.map((axis) => axis.name),
        set.axes
      )
      assert.deepEqual(
        combination.compiled.rules.map((rule) => rule.id),
        set.rules
      )
    })

    for (const { expected, given, name } of set.cases) {
      it(name, () => {
        const decision = decide(
          ready,
          { signals: given.signals, runId: given.run_id, ...(given.args === undefined ? {} : { args: given.args }) },
          {
            kill: given.kill,
            agent: { id: given.agent_id, orgUnit: given.org_unit, isActive: given.agent_active },
            server: given.server,
            latches: new Set(given.latches),
            approved: given.approved,
            windows: (meter, key) => {
              const [value, count] = given.windows[meter.id]?.[key] ?? [0, 0]
              return { value, count }
            }
          }
        )
        const {
          approved,
          failedOn,
          matchedRule,
          meters,
          noticeMs,
          obligations,
          outcome,
          retryAfterMs,
          stopped,
          suggestion
        } = decision
        const reported = {
          outcome,
          matched_rule: matchedRule,
          stopped,
          failed_on: failedOn,
          meters,
          obligations: obligations.map(obligationJson),
          notice_ms: noticeMs,
          retry_after_ms: retryAfterMs,
          suggestion,
          approved
        }
        const { nearest, trace: entries, ...rest } = expected
        assert.deepEqual(reported as unknown, rest)
        if (nearest !== undefined) {
          const explanation = explain(combination, ready.table, ready.point)
          assert.equal(explanation.found === null ? explanation.reason : explanation.found.sentence, nearest)
        }
        const trace = renderTrace(combination, decision)
        if (entries !== undefined) assert.deepEqual<unknown>(trace, entries)
        assert.equal(
          trace.filter((entry) => entry.failed_on !== undefined).length,
          expected.failed_on.filter((failed) => failed !== -1).length
        )
        assert.equal(trace[trace.length - 1]!.step === expected.stopped?.["step" as never], expected.stopped !== null)
      })
    }
  })
}

describe("the vectors of broken envelopes", () => {
  for (const { envelope, findings, name } of fixture<{
    readonly name: string
    readonly envelope: unknown
    readonly findings: ReadonlyArray<{ readonly code: string; readonly path: string }>
  }>("broken.json")) {
    it(name, () => {
      const read = readEnvelope(envelope)
      const all = read.envelope === null ? read.findings : [...read.findings, ...compile([read.envelope]).findings]
      assert.deepEqual(
        all.map(({ code, path }) => ({ code, path })),
        [...findings] as never
      )
      for (const finding of all) assert.match(finding.message, /^.{20,400}[.}]$/)
    })
  }
})

describe("the vectors of layers that fit together or do not", () => {
  for (const { findings, layers, name } of ["layers.json", "ordered-values.json"].flatMap((file) =>
    fixture<{
      readonly name: string
      readonly layers: ReadonlyArray<unknown>
      readonly findings: ReadonlyArray<{ readonly code: string; readonly path: string }>
    }>(file)
  )) {
    it(name, () => {
      const said = compile(layers.map((json) => readEnvelope(json).envelope!)).findings
      assert.deepEqual(
        said.map(({ code, path }) => ({ code, path })),
        [...findings] as never
      )
      for (const finding of said) assert.match(finding.message, /^.{20,400}[.}]$/)
    })
  }
})

interface MeterStep {
  readonly at_ms: number
  readonly reserve?: { readonly id: string; readonly amount: number }
  readonly settle?: { readonly id: string; readonly actual: number }
  readonly void?: { readonly id: string }
  readonly value?: number
  readonly count?: number
}

describe("the vectors of meters", () => {
  for (const { name, steps, window_ms } of ["meters.json", "great-sums.json"].flatMap((file) =>
    fixture<{ readonly name: string; readonly window_ms: number; readonly steps: ReadonlyArray<MeterStep> }>(file)
  )) {
    it(name, () => {
      const book = new WindowBook()
      const ids = [...new Set(steps.flatMap(({ reserve }) => (reserve === undefined ? [] : [reserve.id])))]
      for (const { at_ms, count, reserve, settle, value, void: gone } of steps) {
        if (reserve !== undefined)
          book.reserve(ids.indexOf(reserve.id), at_ms, [{ meter: "m", window: "w", amount: reserve.amount }])
        if (settle !== undefined) book.settle(ids.indexOf(settle.id), "m", settle.actual, true)
        if (gone !== undefined) book.void(ids.indexOf(gone.id))
        if (value !== undefined) assert.deepEqual(book.state("w", window_ms, at_ms), { value, count: count! })
      }
    })
  }
})
