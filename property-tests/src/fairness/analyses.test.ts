/** Fairness analyses over a governor in memory: published figures, answers, erasure, and what replay finds of lies. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { Analysis, AnalysisCreate } from "@flyball/contract"
import {
  Erasure,
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  layerOf,
  memoryStorage,
  systemHost
} from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { canonicalize, fromUtf8, portableCrypto } from "@flyball/evidence"
import type { ReplayRecord } from "@flyball/rules"
import { generator, shareDifference } from "@flyball/statistics"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { recorded } from "../../../packages/core/src/testing/recorded.ts"
import { findingsWith } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { zOfPairs } from "../../../packages/rules/src/fairness/group-rates.ts"
import { AnalysisJudge } from "../../../packages/rules/src/recompute/checks/analyses.ts"
import { isFound, liesAbout, type Timed } from "../replay/lies.ts"
import { namedLies } from "../replay/named-lies.ts"
import { platform } from "../../../packages/platform/src/index.ts"
import { FairnessAnalyses } from "../../../packages/platform/src/fairness/service.ts"

const ann = { id: `usr_${"0".repeat(25)}1` }
const layer = governorLayer({ origin: "flyball.example/test", capabilities: [platform()] }).pipe(
  Layer.provideMerge(layerOf(memoryStorage())),
  Layer.provide(keysLayerOf(ephemeralKeys()))
  // The cast: services of capabilities are not in the type of the layer.
) as Layer.Layer<GovernorServices | Storage | FairnessAnalyses, unknown>

const published = JSON.parse(
  readFileSync(new URL("../../../fixtures/statistics/fairness/expected.json", import.meta.url), "utf8")
)
const csv = (name: string): ReadonlyArray<{ readonly [column: string]: string }> => {
  const text = readFileSync(new URL(`../../../fixtures/statistics/fairness/${name}`, import.meta.url), "utf8")
  const [header = "", ...lines] = text.trim().split(/\r?\n/)
  const names = header.split(",")
  return lines.map((line) => Object.fromEntries(line.split(",").map((value, at) => [names[at]!, value])))
}

type DataSet = AnalysisCreate["dataset"]
const analyze = (dataset: object, more: Partial<AnalysisCreate> = {}) =>
  FairnessAnalyses.use((analyses) =>
    analyses.analyze("ops", { model_id: "m1", dataset: dataset as DataSet, ...more }, ann)
  )
const refused = (dataset: object) =>
  Effect.map(Effect.flip(analyze(dataset)), (found) =>
    found._tag === "InvalidInput" ? found.detail[0]!.loc.join(".") : found._tag
  )
const metric = (analysis: Analysis, name: string, at = 0) =>
  analysis.report!.attributes[at]!.metrics.find((one) => one.name === name)!
const groups = (analysis: Analysis, at = 0) => analysis.report!.attributes[at]!.groups
const findings = (change: (record: ReplayRecord) => ReplayRecord = (record) => record) =>
  Effect.map(findingsWith(change), (found) => found.map(({ verdict }) => verdict))
const says =
  (kind: string, more: object) =>
  (record: ReplayRecord): ReplayRecord =>
    record.kind === kind ? { ...record, body: { ...record.body, ...more } as never } : record

/** Rows with these counts of a confusion matrix. */
const rowsOf = (group: string, { fn, fp, tn, tp }: { tp: number; fp: number; fn: number; tn: number }) =>
  [
    [1, 1, tp],
    [0, 1, fp],
    [1, 0, fn],
    [0, 0, tn]
  ].flatMap(([y, yhat, n]) => Array.from({ length: n! }, () => ({ race: group, y, yhat })))
/** A row of the example of New York's Local Law 144. */
interface LocalLaw {
  readonly category: string
  readonly applicants: number
  readonly selected: number
  readonly selection_rate: string
  readonly impact_ratio: number
}
const binary = { label: "y", prediction: "yhat", protected: ["race"] }
const { African_American: black, Caucasian: white } = published.compas.propublica
const compas = { ...binary, rows: [...rowsOf("African-American", black), ...rowsOf("Caucasian", white)] }
const unfair = Array.from({ length: 120 }, (_, at) => ({
  sex: at % 2 === 0 ? "f" : "m",
  y: at % 3 === 0 ? 1 : 0,
  s: Math.round(1_000 * ((at % 10) / 10 + (at % 2) / 20)) / 1_000
}))
const scored = { rows: unfair, label: "y", score: "s", protected: ["sex"] }

describe("an analysis equals what was published", () => {
  it.effect("of COMPAS, from the counts of ProPublica and Aequitas", () =>
    Effect.gen(function* () {
      const found = yield* analyze(compas)
      assert.deepInclude(found, { status: "completed", bias_detected: true, model_id: "m1" })
      for (const [at, of] of [black, white].entries()) {
        const group = groups(found)[at]!
        assert.deepInclude(group.counts, { tp: of.tp, fp: of.fp, fn: of.fn, tn: of.tn })
        assert.closeTo(100 * group.fpr.value!, of.fpr_pct, 0.005)
        assert.closeTo(100 - 100 * group.tpr.value!, of.fnr_pct, 0.005)
        for (const rate of ["ppv", "npv"] as const) assert.closeTo(group[rate].value!, of[rate], 0.005)
      }
      const rates = published.compas.aequitas
      assert.closeTo(groups(found)[0]!.selection_rate.value!, rates["African-American"].rounded.pprev, 0.005)
      // The denominator of FPR is actual negatives, where a published interval took another: 0.448 [0.426, 0.472].
      assert.deepStrictEqual(
        groups(found)[0]!.fpr.ci95!.map((bound) => Math.round(1_000 * bound)),
        [426, 472]
      )
      const odds = metric(found, "equalized_odds")
      assert.deepInclude(odds, { rate: "fpr", high: 0, low: 1, verdict: "demonstrated", p: 0.001, incomplete: false })
      assert.closeTo(odds.value!, 805 / 1795 - 349 / 1488, 1e-12)
      assert.isTrue(odds.ci95![0]! < odds.value! && odds.value! < odds.ci95![1]!)
      assert.closeTo(found.overall_score!, 1 - metric(found, "demographic_parity").value!, 1e-12)
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("of Ricci, German credit, EEOC, Local Law 144 and Fairlearn", () =>
    Effect.gen(function* () {
      const exam = csv("ricci_captain.csv").map((row) => ({ ...row, pass: Number(row["Combine"]) >= 70 }))
      const ricci = yield* analyze({ rows: exam, prediction: "pass", protected: ["Race"] })
      for (const { selection_rate: rate, value } of groups(ricci))
        assert.deepStrictEqual([rate.positive, rate.n], published.ricci.counts[String(value)])
      assert.deepInclude(ricci.report!.attributes[0]!.four_fifths, { violated: true, verdict: "insufficient_evidence" })
      assert.deepInclude(metric(ricci, "equalized_odds"), { value: null, undefined_reason: "no_label" })
      assert.deepInclude(ricci, { bias_detected: false })

      const german = yield* analyze({
        rows: csv("german_credit.csv").map((row) => ({
          credit: row["credit"],
          sex: ["A92", "A95"].includes(row["personal_status"]!) ? "female" : "male"
        })),
        prediction: "credit",
        positive: "1",
        protected: ["sex"]
      })
      const { mean_difference_good_male_minus_female: difference } = published.german
      assert.closeTo(metric(german, "demographic_parity").value!, difference, 1e-12)

      const { american_indian: _, ...rates } = published.eeoc.selection_rates
      const eeoc = yield* analyze({
        rows: Object.entries(rates as { [group: string]: number }).flatMap(([race, rate]) =>
          Array.from({ length: 100 }, (_, at) => ({ race, hired: at < Math.round(100 * rate) }))
        ),
        prediction: "hired",
        protected: ["race"]
      })
      assert.deepInclude(eeoc.report!.attributes[0]!.four_fifths, { violated: false })

      const ll144 = published.ll144_selection.rows as ReadonlyArray<LocalLaw>
      const law = yield* analyze({
        rows: ll144.flatMap(({ applicants, category, selected }) =>
          Array.from({ length: applicants }, (_, at) => ({ category, hired: at < selected }))
        ),
        prediction: "hired",
        protected: ["category"]
      })
      const highest = Math.max(...groups(law).map((one) => one.selection_rate.value!))
      for (const { category, impact_ratio: ratio, selection_rate: share } of ll144) {
        const rate = groups(law).find(({ value }) => value === category)!.selection_rate.value!
        assert.strictEqual(`${Math.round(100 * rate)}%`, share)
        assert.closeTo(rate / highest, ratio, 0.005)
      }
      assert.closeTo(law.report!.attributes[0]!.four_fifths.ratio!, 0.84, 0.005)

      const { group, y_pred: predicted, y_true: truth, ...fairlearn } = published.fairlearn
      const columns = { truth, predicted, group }
      const found = yield* analyze({ columns, label: "truth", prediction: "predicted", protected: ["group"] })
      assert.closeTo(metric(found, "demographic_parity").value!, fairlearn.demographic_parity_difference, 1e-12)
      assert.closeTo(found.report!.attributes[0]!.four_fifths.ratio!, fairlearn.demographic_parity_ratio, 1e-12)
      assert.strictEqual(metric(found, "equalized_odds").value, fairlearn.equalized_odds_difference)
      for (const { fpr, n, selection_rate: rate, tpr, value } of groups(found)) {
        const of = fairlearn.by_group[String(value)]
        assert.strictEqual(n, of.count)
        for (const [mine, its] of [
          [tpr, of.tpr],
          [fpr, of.fpr],
          [rate, of.sel]
        ])
          assert.closeTo(mine.value, its, 1e-6)
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

describe("an analysis", () => {
  it.effect("states the interval of the very difference that it reports, whatever the groups", () =>
    Effect.gen(function* () {
      const random = generator(Uint8Array.from({ length: 16 }, (_, at) => at + 1))
      for (let round = 0; round < 12; round++) {
        const rows = Array.from({ length: 20 + random.below(200) }, () => {
          const race = random.below(2 + (round % 4))
          return { race, y: random.below(3 + race) === 0 ? 1 : 0, yhat: random.below(2 + race) === 0 ? 1 : 0 }
        })
        const found = yield* analyze({ ...binary, rows })
        for (const { ci95, high, low, name, rate, value } of found.report!.attributes[0]!.metrics) {
          if (value === null) continue
          const [one, other] = [high!, low!].map((at) => groups(found)[at]![rate as "tpr"])
          const pairs =
            ((name === "demographic_parity" ? 1 : 2) * groups(found).length * (groups(found).length - 1)) / 2
          const of = (share: typeof one) => ({ passed: share!.positive!, trials: share!.n })
          const expected = shareDifference(of(one), of(other), zOfPairs(pairs))
          assert.deepStrictEqual([value, ci95], [one!.value! - other!.value!, [expected.low, expected.high]])
          assert.isTrue(ci95![0]! <= value && value <= ci95![1]! && ci95![0]! < ci95![1]!)
        }
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("of a large data set runs, is seen while it does, and gives the same figures again", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 200 }, () => unfair).flat()
      const running = yield* analyze({ ...scored, rows })
      assert.deepInclude(running, { status: "running", overall_score: null, completed_at: null })
      const get = FairnessAnalyses.use((analyses) => analyses.get("ops", running.id))
      yield* FairnessAnalyses.use(({ work }) => work)
      const done = yield* get
      assert.deepInclude(done, { status: "completed" })
      assert.strictEqual(metric(done, "calibration").rate, "calibration")
      assert.strictEqual(
        (yield* Effect.flip(FairnessAnalyses.use((all) => all.get("hr", done.id))))._tag,
        "AnalysisNotFound"
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("of a large data set is refused where 32 of them wait", () =>
    Effect.gen(function* () {
      const pass = Array.from({ length: 20_001 }, (_, row) => row % 2)
      const large = { columns: { pass, race: pass }, prediction: "pass", protected: ["race"] }
      for (let at = 0; at < 32; at++) assert.deepInclude(yield* analyze(large), { status: "running" })
      const full = yield* Effect.flip(analyze(large))
      assert.deepInclude(full, { _tag: "RateLimitExceeded", reason: "analyses-waiting" })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("whose process ended fails as interrupted, and says so to subscribers", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const { id } = yield* analyze(compas)
      const { body, version } = (yield* storage.get("analyses", id))!
      const dueMs = 1
      yield* storage.commit({
        puts: [
          {
            collection: "analyses",
            id,
            expectedVersion: version,
            body: { ...body, status: "running", dueMs },
            keys: { due: "0".repeat(16) }
          }
        ]
      })
      yield* TestClock.adjust("1 minutes")
      yield* FairnessAnalyses.use(({ endOverdue }) => endOverdue)
      const ended = yield* FairnessAnalyses.use((analyses) => analyses.get("ops", id))
      assert.deepInclude(ended, { status: "failed" })
      assert.strictEqual(ended.error?.code, "interrupted")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("refuses what it cannot read and names the place; what has no metric fails with its reason", () =>
    Effect.gen(function* () {
      const before = (yield* (yield* Storage).head)!.seq
      const first = unfair[0]!
      for (const [dataset, place] of [
        [{ ...scored, label: "gone" }, "label"],
        [{ ...scored, protected: ["sex", "gone"] }, "protected.1"],
        [{ ...scored, rows: [...unfair, { y: 1, s: 0.5 }] }, "rows.120.sex"],
        [{ ...scored, rows: [first, { ...first, s: Number.NaN }] }, "rows.1.s"],
        [{ ...scored, rows: [first, { ...first, s: 1.5 }] }, "rows.1.s"],
        [{ ...scored, rows: [first, { ...first, y: "yes" }] }, "rows.1.y"],
        [{ ...scored, rows: [first, null] }, "rows.1.s"],
        [{ ...scored, rows: [first, { ...first, sex: "\0" }] }, "rows.1.sex"],
        [{ ...scored, rows: [first, { ...first, sex: 2 ** 60 }] }, "rows.1.sex"],
        [{ ...scored, rows: [] }, "rows"],
        [{ ...scored, columns: { y: [1] } }, ""],
        [{ columns: { a: [1], b: [1, 0] }, prediction: "a", protected: ["b"] }, "columns.b"],
        [{ ...scored, score: undefined }, "prediction"],
        [{ ...scored, rows: unfair.map((row, at) => ({ ...row, sex: at })) }, "rows.20.sex"]
      ] as const)
        assert.strictEqual(yield* refused(dataset), ["body.dataset", place].filter((one) => one !== "").join("."))
      assert.strictEqual((yield* (yield* Storage).head)!.seq, before)

      const alone = yield* analyze({ ...scored, rows: unfair.filter(({ sex }) => sex === "f") })
      assert.deepInclude(alone, { status: "failed", overall_score: null, report_url: null })
      assert.strictEqual(alone.error?.code, "no_metric")
      const equal = yield* analyze({ ...binary, rows: compas.rows.map((row) => ({ ...row, y: 1 })) })
      assert.deepInclude(metric(equal, "equalized_odds"), {
        value: null,
        ci95: null,
        undefined_reason: "no_negative_labels"
      })
      assert.deepInclude(groups(equal)[0]!.fpr, { value: null, n: 0 })
      assert.isNumber(equal.overall_score)
      const some = yield* analyze({ ...binary, rows: [...compas.rows, { race: null, y: null, yhat: 1 }] })
      assert.strictEqual(some.report!.attributes[0]!.unknown, 1)
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("that lies is found by replay, and one without its data set by its counts", () =>
    Effect.gen(function* () {
      yield* analyze(scored)
      yield* analyze({ ...scored, rows: unfair.filter(({ sex }) => sex === "f") })
      assert.deepStrictEqual(yield* findings(), [])
      const parts = (yield* recorded).flatMap(({ parts }) => [parts.get("dataset")])
      for (const part of parts)
        if (part?.state === "present") {
          const text = fromUtf8(part.bytes)!
          assert.strictEqual(canonicalize(JSON.parse(text)), text)
        }
      const storage = yield* Storage
      const times = new Map((yield* storage.records({ limit: 1_000 })).map(({ atMs, seq }) => [seq, atMs]))
      const history = (yield* recorded).map((record): Timed => ({ record, atMs: times.get(record.seq)! }))
      const accepted = new Set<string>()
      const kinds = ["analysis.completed", "analysis.failed"]
      for (const at of history.keys())
        if (kinds.includes(history[at]!.record.kind))
          for (const { records, what } of liesAbout(history, at))
            if (!isFound(records, "flyball.example/test")) accepted.add(`${history[at]!.record.kind}: ${what}`)
      assert.deepStrictEqual([...accepted].sort(), [...namedLies(kinds)].sort())
      const spent = new AnalysisJudge(portableCrypto.sha256, 1)
      const judged = history.map(({ record }) => (record.kind === "analysis.completed" ? spent.take(record) : null))
      assert.deepInclude(
        judged.find((one) => one !== null),
        { verdict: "withheld", because: "budget" }
      )
      const hidden = (record: ReplayRecord): ReplayRecord => ({
        ...record,
        parts: new Map(
          [...record.parts].map(([name, part]) => [name, name === "dataset" ? { state: "withheld" } : part])
        )
      })
      assert.deepStrictEqual(yield* findings(hidden), ["withheld", "withheld"])
      const lie = says("analysis.completed", { rows: 121 })
      assert.deepStrictEqual(yield* findings((record) => hidden(lie(record))), ["analysis_mismatch", "withheld"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("forgets names that are erased, and keeps its figures", () =>
    Effect.gen(function* () {
      const { id } = yield* analyze(scored)
      const record = (yield* recorded).find(({ kind }) => kind === "analysis.completed")!
      for (const name of ["analysis", "dataset"])
        yield* Erasure.use((erasure) => erasure.erase({ seq: record.seq, name, reason: "subject_request" }, systemHost))
      const found = yield* FairnessAnalyses.use((analyses) => analyses.get("ops", id))
      assert.deepInclude(found, { model_id: id, status: "completed" })
      assert.deepInclude(found.report!.attributes[0], { name: null })
      assert.deepInclude(groups(found)[0], { value: null, n: 60 })
      assert.deepStrictEqual(yield* findings(), ["withheld"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

describe("an explanation", () => {
  it.effect("divides a difference among columns, and leaves what they do not explain", () =>
    Effect.gen(function* () {
      // Women have less experience, which decides; the shoe size differs, and decides nothing.
      const rows = Array.from({ length: 400 }, (_, at) => {
        const sex = at % 2 === 0 ? "f" : "m"
        const years = sex === "m" ? (at >> 1) % 4 : (at >> 1) % 4 === 3 ? 3 : 0
        return { sex, years, lucky: (at >> 3) % 2, hired: years >= 2 ? 1 : 0 }
      })
      const dataset = { rows, prediction: "hired", protected: ["sex"], features: ["years", "lucky"] }
      const explained = (of: object, samples?: number) =>
        FairnessAnalyses.use((analyses) =>
          analyses.explain({ model_id: "m1", dataset: of as never, ...(samples === undefined ? {} : { samples }) })
        )
      const found = yield* explained(dataset)
      assert.deepInclude(found, { method: "exact", orders: null })
      const [
        {
          base,
          groups: [women]
        }
      ] = found.attributes as [(typeof found.attributes)[0]]
      assert.strictEqual(base, "m")
      assert.closeTo(women!.gap, 0.25, 1e-12)
      assert.closeTo(women!.unexplained, 0, 1e-12)
      const [years, lucky] = women!.contributions
      assert.closeTo(years!.value, 0.25, 1e-9)
      assert.closeTo(lucky!.value, 0, 1e-9)
      const names = Array.from({ length: 9 }, (_, at) => `f${at}`)
      const wide = rows.map((row, at) => ({
        ...row,
        ...Object.fromEntries(names.map((name, f) => [name, (at * (f + 3)) % 7]))
      }))
      const sampled = yield* explained({ ...dataset, rows: wide, features: ["years", ...names.slice(0, 8)] }, 20)
      assert.deepInclude(sampled, { method: "sampled", orders: 40 })
      const [of] = sampled.attributes[0]!.groups
      assert.closeTo(
        of!.contributions.reduce((sum, { value }) => sum + value, 0),
        of!.explained,
        1e-9
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

describe("a report", () => {
  it.effect("is one page of every figure that shows no text of others as markup", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 16 }, (_, at) => `<b>${at}`.padEnd(199, "<"))
      const rows = Array.from({ length: 400 }, (_, at) => ({
        y: at % 2,
        yhat: at % 3 === 0 ? 1 : 0,
        ...Object.fromEntries(names.map((name, f) => [name, `<script>${(at * (f + 1)) % 20}`.padEnd(200, "&")]))
      }))
      const { id } = yield* analyze({ ...binary, rows, protected: names }, { model_id: "m@x/1" })
      const pageOf = (analysis: string) => FairnessAnalyses.use((analyses) => analyses.page("ops", analysis))
      const wide = yield* pageOf(id)
      assert.isBelow(new TextEncoder().encode(wide).length, 200_000)
      assert.notMatch(wide, /<script|<td><b>\d/)
      const small = yield* analyze(compas)
      const page = yield* pageOf(small.id)
      for (const figure of ["0.448", "805/1795", "[0.426, 0.472]", "2174/3696", "demonstrated", "<svg"])
        assert.include(page, figure)
      assert.strictEqual(yield* pageOf(small.id), page)
      assert.notMatch(page, /<script|href=|src=|url\(/)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
