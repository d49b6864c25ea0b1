import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { counter, counterBy, histogram, histogramBy, metricsNow } from "./metrics.ts"

const plain = counter("flyball_test_plain_total", "Plain.")
const labelled = counterBy("flyball_test_labelled_total", "By outcome.", "outcome", ["good", "bad"])
const durations = histogram("flyball_test_duration_seconds", "Durations.", [0.1, 1])
const byOutcome = histogramBy("flyball_test_by_outcome_seconds", "By outcome.", "outcome", ["good", "bad"], [1])

const own = Effect.provideService(Metric.MetricRegistry, new Map())
const family = (name: string) => Effect.map(metricsNow, (families) => families.find((one) => one.name === name))

describe("metrics", () => {
  it.effect("are read as 0 before the first count", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* family("flyball_test_labelled_total"), {
        name: "flyball_test_labelled_total",
        help: "By outcome.",
        type: "counter",
        samples: [
          { labels: { outcome: "good" }, value: 0 },
          { labels: { outcome: "bad" }, value: 0 }
        ]
      })
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("count by label, and reading resets nothing", () =>
    Effect.gen(function* () {
      yield* labelled.bad.one
      yield* labelled.bad.one
      plain.add(3, yield* Effect.context<never>())
      yield* metricsNow
      assert.deepStrictEqual(
        (yield* family("flyball_test_labelled_total"))?.samples.map((sample) =>
          "value" in sample ? sample.value : -1
        ),
        [0, 2]
      )
      assert.deepStrictEqual((yield* family("flyball_test_plain_total"))?.samples, [{ labels: {}, value: 3 }])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("of a duration are cumulative, and the count covers what is above the last bound", () =>
    Effect.gen(function* () {
      const context = yield* Effect.context<never>()
      for (const seconds of [0, 0.1, 0.11, 1, 5]) durations.observe(seconds, context)
      const found = yield* family("flyball_test_duration_seconds")
      assert.strictEqual(found?.type, "histogram")
      assert.deepStrictEqual(found?.samples, [
        {
          labels: {},
          buckets: [
            { le: 0.1, count: 2 },
            { le: 1, count: 4 }
          ],
          sum: 6.21,
          count: 5
        }
      ])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("of a duration with a label have a series for each of its values", () =>
    Effect.gen(function* () {
      byOutcome.bad.observe(2, yield* Effect.context<never>())
      assert.deepStrictEqual((yield* family("flyball_test_by_outcome_seconds"))?.samples, [
        { labels: { outcome: "good" }, buckets: [{ le: 1, count: 0 }], sum: 0, count: 0 },
        { labels: { outcome: "bad" }, buckets: [{ le: 1, count: 0 }], sum: 2, count: 1 }
      ])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("of one registry do not count into another", () =>
    Effect.gen(function* () {
      yield* own(plain.one)
      assert.deepStrictEqual((yield* family("flyball_test_plain_total"))?.samples, [{ labels: {}, value: 0 }])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
