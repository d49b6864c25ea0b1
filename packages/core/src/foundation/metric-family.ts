/** Metrics as they are read: plain values, nothing of Effect. */

/** Labels of one series, in the order in which they are written. */
export interface MetricLabels {
  readonly [name: string]: string
}

/** One count, or one reading. */
export interface MetricValue {
  readonly labels: MetricLabels
  readonly value: number
}

/** The observations of one series. */
export interface MetricDistribution {
  readonly labels: MetricLabels
  /** Observations at or below `le`, for each bound in ascending order. `count` also covers those above the last one. */
  readonly buckets: ReadonlyArray<{ readonly le: number; readonly count: number }>
  readonly sum: number
  readonly count: number
}

/** One metric with all its series. Names and units follow the conventions of Prometheus: seconds, bytes, `_total`. */
export type MetricFamily = { readonly name: string; readonly help: string } & (
  | { readonly type: "counter" | "gauge"; readonly samples: ReadonlyArray<MetricValue> }
  | { readonly type: "histogram"; readonly samples: ReadonlyArray<MetricDistribution> }
)
