/** Fields that are right and confidence that is honest, held out by layout; how long reading and finding take. */
import { readFileSync } from "node:fs"
import { extractFields } from "@flyball/rules"
import { Effect } from "effect"
import { DocumentReader } from "../packages/platform/src/documents/reading/document-reader.ts"
import { bomb } from "../packages/platform/src/documents/testing/hostile-files.ts"
import { fit, labelledInvoices, type Outcome, outcomesOf } from "./documents/corpus.ts"
import { absolute, type Benchmark, figure, type Line, median } from "./harness.ts"

const PDF = "application/pdf"
const ROUNDS = 60
const [GOAL_FIELDS, GOAL_TOTAL, GOAL_SURE, GOAL_ERROR, GOAL_MS, GOAL_RATE] = [0.93, 0.92, 0.97, 0.05, 60, 30]

/** Confidence of each outcome by a table that was fitted without its layout. */
const heldOut = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<readonly [Outcome, number]> =>
  [...new Set(outcomes.map(({ layout }) => layout))].flatMap((layout) => {
    const table = fit(outcomes.filter((one) => one.layout !== layout))
    const confidenceOf = ({ bins }: Outcome): number =>
      bins?.map((bin) => table[bin]).find((found) => found !== undefined) ?? 0
    return outcomes.filter((one) => one.layout === layout).map((one) => [one, confidenceOf(one) / 1_000] as const)
  })

/** The mean over layouts of the share that was right. */
const share = (outcomes: ReadonlyArray<Outcome>): number => {
  const layouts = Map.groupBy(outcomes, ({ layout }) => layout)
  const shares = [...layouts.values()].map((all) => all.filter(({ right }) => right).length / all.length)
  return shares.reduce((sum, one) => sum + one, 0) / Math.max(1, shares.length)
}

/** Expected calibration error over ten bins, one vote a layout. */
const calibrationError = (stated: ReadonlyArray<readonly [Outcome, number]>): number => {
  const sizes = Map.groupBy(stated, ([{ layout }]) => layout)
  const bins = Map.groupBy(stated, ([, confidence]) => Math.min(9, Math.floor(confidence * 10)))
  let error = 0
  for (const bin of bins.values()) {
    let [weight, gap] = [0, 0]
    for (const [{ layout, right }, confidence] of bin) {
      const vote = 1 / sizes.get(layout)!.length
      weight += vote
      gap += vote * (confidence - (right ? 1 : 0))
    }
    error += weight === 0 ? 0 : Math.abs(gap)
  }
  return error / sizes.size
}

const line = (name: string, value: number, unit: string, goal: number, least: boolean): Line => ({
  ...absolute,
  name,
  value: figure(value),
  unit,
  goal: `${least ? ">=" : "<="} ${goal} ${unit}`,
  met: least ? value >= goal : value <= goal
})

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "documents",
  about:
    "fields of the fixtures and of made layouts, one vote a layout, confidence fitted without the layout that is " +
    "held against it; a warm PDF of two pages and a document after the other in one child",
  run: async (say) => {
    const outcomes = outcomesOf(await labelledInvoices())
    for (const [field, all] of Map.groupBy(outcomes, (one) => one.field)) say(`${field}: ${figure(share(all))}`)
    const real = outcomes.filter(({ layout }) => !layout.startsWith("made"))
    say(`fixtures alone: ${real.filter(({ right }) => right).length} of ${real.length}`)
    const stated = heldOut(outcomes).filter(([{ bins }]) => bins !== null)
    const sure = stated.filter(([, confidence]) => confidence >= 0.9).map(([outcome]) => outcome)
    const read = await timeReading(say)
    return [
      line("fields right", share(outcomes), "of 1", GOAL_FIELDS, true),
      line("totals right", share(outcomes.filter(({ field }) => field === "total")), "of 1", GOAL_TOTAL, true),
      line(`right of ${sure.length} stated at 0.9 or more`, share(sure), "of 1", GOAL_SURE, true),
      line("calibration error", calibrationError(stated), "of 1", GOAL_ERROR, false),
      line("two pages, read and found", read.twoPagesMs, "ms", GOAL_MS, false),
      line("documents on one child", read.rate, "/s", GOAL_RATE, true)
    ]
  }
}

/** Reads in one warm child; says how long a bomb lives. */
const timeReading = (say: (text: string) => void): Promise<{ readonly twoPagesMs: number; readonly rate: number }> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const reader = yield* DocumentReader
      const bytesOf = (name: string): Uint8Array =>
        new Uint8Array(readFileSync(new URL(`../fixtures/invoices/${name}`, import.meta.url)))
      const [twoPages, onePage] = [bytesOf("QualityHosting.pdf"), bytesOf("coolblue1.pdf")]
      const once = (bytes: Uint8Array) =>
        Effect.gen(function* () {
          const startedAt = performance.now()
          extractFields(yield* reader.read({ bytes }, PDF), null)
          return performance.now() - startedAt
        })
      yield* Effect.forEach(Array.from({ length: 10 }), () => once(twoPages))
      const times = yield* Effect.forEach(Array.from({ length: ROUNDS }), () => once(twoPages))
      const startedAt = performance.now()
      yield* Effect.forEach(Array.from({ length: ROUNDS }), () => once(onePage))
      const rate = (ROUNDS * 1_000) / (performance.now() - startedAt)
      const small = bomb(1_500_000_000)
      const bombAt = performance.now()
      const { code } = yield* Effect.flip(reader.read({ bytes: small }, PDF))
      say(`${small.length} bytes that grow to 1.5 GB: ${code} after ${Math.round(performance.now() - bombAt)} ms`)
      return { twoPagesMs: median(times), rate }
    }).pipe(Effect.provide(DocumentReader.layer()))
  )
