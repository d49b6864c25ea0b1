/**
 * Declares the metrics that core counts, over Effect's `Metric`, and reads them as plain values.
 *
 * A module declares a metric beside the code that counts; no other file names it. Counts live in the `MetricRegistry`
 * of the context, so each governor has its own. Label values are listed at the declaration: ids, addresses and names of
 * people are never labels. Spec: house section 1, "a metric from inside core".
 */
import { type Context, Effect, Layer, Metric } from "effect"
import type { MetricDistribution, MetricFamily, MetricLabels, MetricValue } from "./metric-family.ts"

/** A count that only grows. */
export interface Counter {
  /** Adds one. The Effect is made once, so counting allocates nothing. */
  readonly one: Effect.Effect<void>
  /** Adds `count` in the registry of `context`, for code that is not inside an Effect. */
  readonly add: (count: number, context: Context.Context<never>) => void
}

/** A distribution of durations. */
export interface Histogram {
  /** Adds one observation in the registry of `context`. Unit: seconds. */
  readonly observe: (seconds: number, context: Context.Context<never>) => void
}

/** A counter per value of one label. */
export type CounterBy<V extends string> = { readonly [value in V]: Counter }

/** A histogram per value of one label. */
export type HistogramBy<V extends string> = { readonly [value in V]: Histogram }

/** Upper bounds for the duration of a commit or a call. Unit: seconds. */
export const durationBounds: ReadonlyArray<number> = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10
]

/** Every declared series, in the order of declaration. It holds no counts. */
const declared: Array<Metric.Metric<never, unknown>> = []

const declare = <M extends Metric.Metric<never, unknown>>(metric: M): M => {
  declared.push(metric)
  return metric
}

const counterOf = (name: string, help: string, labels: MetricLabels): Counter => {
  const metric = declare(Metric.counter(name, { description: help, attributes: labels, incremental: true }))
  return {
    one: Effect.contextWith((context: Context.Context<never>) => {
      metric.updateUnsafe(1, context)
      return Effect.void
    }),
    add: (count, context) => metric.updateUnsafe(count, context)
  }
}

const histogramOf = (
  name: string,
  help: string,
  labels: MetricLabels,
  boundaries: ReadonlyArray<number>
): Histogram => {
  const metric = declare(Metric.histogram(name, { description: help, attributes: labels, boundaries }))
  return { observe: (seconds, context) => metric.updateUnsafe(seconds, context) }
}

const byLabel = <V extends string, M>(
  label: string,
  values: ReadonlyArray<V>,
  make: (labels: MetricLabels) => M
): { readonly [value in V]: M } =>
  Object.fromEntries(values.map((value) => [value, make({ [label]: value })])) as { [value in V]: M }

/** Declares a counter. `name` ends in `_total`. */
export const counter = (name: string, help: string): Counter => counterOf(name, help, {})

/** Declares a counter with one label and all its values. Each series is read as 0 before its first count. */
export const counterBy = <const V extends string>(
  name: string,
  help: string,
  label: string,
  values: ReadonlyArray<V>
): CounterBy<V> => byLabel(label, values, (labels) => counterOf(name, help, labels))

/** Declares a histogram of durations. `name` ends in `_seconds`. */
export const histogram = (name: string, help: string, bounds: ReadonlyArray<number> = durationBounds): Histogram =>
  histogramOf(name, help, {}, bounds)

/** Declares a histogram of durations with one label and all its values. */
export const histogramBy = <const V extends string>(
  name: string,
  help: string,
  label: string,
  values: ReadonlyArray<V>,
  bounds: ReadonlyArray<number> = durationBounds
): HistogramBy<V> => byLabel(label, values, (labels) => histogramOf(name, help, labels, bounds))

/** Provides a separate metric registry for each governor, so that two in one process do not share counts. */
export const ownMetrics: Layer.Layer<never> = Layer.sync(Metric.MetricRegistry, () => new Map())

/**
 * Reads all metrics of the registry in `context`: those declared here, in the order of declaration and with 0 where
 * nothing was counted, then those that a host added to the registry, each with its series sorted by labels.
 */
export const readMetrics = (context: Context.Context<never>): ReadonlyArray<MetricFamily> => {
  // Reading a series registers it.
  const known = declared.map((metric) => seriesOf(metric, context))
  const ids = new Set(known.map(({ id }) => id))
  const families = new Map<string, { readonly family: MetricFamily; readonly samples: Array<never> }>()
  for (const series of [...known, ...Metric.snapshotUnsafe(context).filter(({ id }) => !ids.has(id))]) {
    const type = types[series.type as keyof typeof types]
    if (type === undefined) continue
    let entry = families.get(series.id)
    if (entry === undefined) {
      const samples: Array<never> = []
      entry = { family: { name: series.id, help: series.description ?? "", type, samples }, samples }
      families.set(series.id, entry)
    }
    entry.samples.push(sampleOf(series) as never)
  }
  // Series of a host are in the order of their first count, which differs from one run to the next.
  for (const { family, samples } of families.values()) if (!ids.has(family.name)) samples.sort(byLabels)
  return [...families.values()].map(({ family }) => family)
}

const byLabels = (a: MetricValue | MetricDistribution, b: MetricValue | MetricDistribution): number => {
  const [one, other] = [Object.values(a.labels).join("\n"), Object.values(b.labels).join("\n")]
  return one < other ? -1 : one > other ? 1 : 0
}

const seriesOf = (metric: Metric.Metric<never, unknown>, context: Context.Context<never>): Metric.Metric.Snapshot => {
  const { attributes, description, id, type } = metric
  return { attributes, description, id, type, state: metric.valueUnsafe(context) } as Metric.Metric.Snapshot
}

/** Reads the metrics of the registry that the calling Effect runs with. */
export const metricsNow: Effect.Effect<ReadonlyArray<MetricFamily>> = Effect.contextWith(
  (context: Context.Context<never>) => Effect.sync(() => readMetrics(context))
)

const types = { Counter: "counter", Gauge: "gauge", Histogram: "histogram" } as const

const sampleOf = (series: Metric.Metric.Snapshot): MetricValue | MetricDistribution => {
  const labels = { ...series.attributes }
  if (series.type === "Histogram") {
    const { buckets, count, sum } = series.state
    return { labels, buckets: buckets.map(([le, below]) => ({ le, count: below })), sum, count }
  }
  return {
    labels,
    value: Number(series.type === "Counter" ? series.state.count : series.type === "Gauge" ? series.state.value : 0)
  }
}
