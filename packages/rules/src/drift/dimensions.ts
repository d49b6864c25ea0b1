/** Dimensions of behaviour: what is counted and measured of a run. */
import type { DriftAlarmedBody } from "@flyball/evidence"
import type { Component } from "@flyball/statistics"
import type { DriftDecision, DriftRun } from "./decision.ts"

/** Names of dimensions. */
export type DimensionName = DriftAlarmedBody["dimension"]

/** A value of a categorical dimension: one name, or the two of a step from one action to the next. */
export type Value = ReadonlyArray<string | null>

/** A dimension whose values are words. */
export interface CategoricalDimension {
  readonly name: DimensionName
  readonly kind: "categorical"
  /** True when its values are few enough to be listed as new or gone. */
  readonly isListed: boolean
  /** The value of each decision; of a step, from the decision before it in its run. */
  readonly valueOf: (decision: DriftDecision, before: DriftDecision | null) => Value | null
}

/** A dimension whose values are numbers: of each decision, or of the run as a whole. */
export interface NumericDimension {
  readonly name: DimensionName
  readonly kind: "numeric"
  readonly numbersOf: (run: DriftRun) => ReadonlyArray<number | null>
}

/** A dimension of behaviour. */
export type Dimension = CategoricalDimension | NumericDimension

const each =
  (numberOf: (decision: DriftDecision) => number | null) =>
  ({ decisions }: DriftRun): ReadonlyArray<number | null> =>
    decisions.map(numberOf)

/** The dimensions, in the order of the answer. */
export const dimensions: ReadonlyArray<Dimension> = [
  { name: "action", kind: "categorical", isListed: true, valueOf: ({ action }) => [action] },
  { name: "tool_server", kind: "categorical", isListed: true, valueOf: ({ toolServer }) => [toolServer] },
  { name: "kind", kind: "categorical", isListed: true, valueOf: ({ kind }) => [kind] },
  { name: "outcome", kind: "categorical", isListed: true, valueOf: ({ outcome }) => [outcome] },
  {
    name: "sequence",
    kind: "categorical",
    isListed: false,
    valueOf: ({ action }, before) => (before === null ? null : [before.action, action])
  },
  { name: "latency_ms", kind: "numeric", numbersOf: each(({ latencyMs }) => latencyMs) },
  { name: "cost_micro_usd", kind: "numeric", numbersOf: each(({ costMicroUsd }) => costMicroUsd) },
  { name: "tokens", kind: "numeric", numbersOf: each(({ tokens }) => tokens) },
  { name: "run_length", kind: "numeric", numbersOf: ({ decisions }) => [decisions.length] }
]

/** A value as a key: values are equal where their keys are. */
export const keyOf = (value: Value): string => JSON.stringify(value)

/** How often each run has each value. */
export interface Counted {
  /** Values that two runs or more have; last, where there is one, the pool of all others: an empty list. */
  readonly values: ReadonlyArray<Value>
  /** Of each value: the runs that have it, ascending, and how often. */
  readonly runs: ReadonlyArray<{ readonly runs: Uint32Array; readonly counts: Float64Array }>
  /** Values of each run, all together. */
  readonly totals: Float64Array
}

/** Counts a categorical dimension. */
export const countValues = ({ valueOf }: CategoricalDimension, runs: ReadonlyArray<DriftRun>): Counted => {
  const found = new Map<string, { readonly value: Value; readonly counts: Map<number, number> }>()
  const totals = new Float64Array(runs.length)
  runs.forEach(({ decisions }, run) => {
    decisions.forEach((decision, at) => {
      const value = valueOf(decision, decisions[at - 1] ?? null)
      if (value === null) return
      totals[run]! += 1
      const one = found.get(keyOf(value)) ?? { value, counts: new Map<number, number>() }
      one.counts.set(run, (one.counts.get(run) ?? 0) + 1)
      found.set(keyOf(value), one)
    })
  })
  const common = [...found.values()].filter(({ counts }) => counts.size > 1)
  const pool = new Map<number, number>()
  for (const { counts } of found.values())
    if (counts.size === 1) for (const [run, count] of counts) pool.set(run, (pool.get(run) ?? 0) + count)
  const all = pool.size === 0 ? common : [...common, { value: [], counts: pool }]
  return {
    values: all.map(({ value }) => value),
    runs: all.map(({ counts }) => {
      const ascending = [...counts].toSorted(([a], [b]) => a - b)
      return {
        runs: Uint32Array.from(ascending, ([run]) => run),
        counts: Float64Array.from(ascending, ([, count]) => count)
      }
    }),
    totals
  }
}

/**
 * Components of a categorical dimension: of each value, whether a run has it (first), and its share of the run
 * (second).
 */
export const shareComponents = ({ runs, totals }: Counted): ReadonlyArray<Component> =>
  runs.flatMap((one) => [
    { runs: one.runs, values: new Float64Array(one.runs.length).fill(1) },
    { runs: one.runs, values: one.counts.map((count, at) => count / totals[one.runs[at]!]!) }
  ])

/** A numeric dimension of runs. */
export interface Measured {
  /** The median of each run's numbers; NaN where it has none. */
  readonly medians: Float64Array
  /** How far each run's median is from that of all runs; NaN where it has none. */
  readonly distances: Float64Array
  /** Share of each run's decisions without a number. */
  readonly missing: Float64Array
}

/** Measures a numeric dimension; null where no run has a number. */
export const measure = ({ numbersOf }: NumericDimension, runs: ReadonlyArray<DriftRun>): Measured | null => {
  const numbers = runs.map(numbersOf)
  const known = numbers.map((all) => all.filter((one): one is number => one !== null))
  if (known.every((all) => all.length === 0)) return null
  const medians = Float64Array.from(known, median)
  const middle = median(medians.filter((one) => !Number.isNaN(one)))
  return {
    medians,
    distances: medians.map((one) => Math.abs(one - middle)),
    missing: Float64Array.from(numbers, (all, at) => (all.length - known[at]!.length) / all.length)
  }
}

/**
 * Components of a numeric dimension: the rank of the median, of its distance from the middle, and the share of missing
 * numbers. Ranks, so that one large number does not hide what all others do.
 */
export const rankComponents = ({ distances, medians, missing }: Measured): ReadonlyArray<Component> =>
  [midRanks(medians), midRanks(distances), missing].map((values) => ({
    runs: Uint32Array.from(values, (_, run) => run),
    values
  }))

/** Ranks around their middle, the mean of the ranks for ties; 0 where there is no number. */
const midRanks = (numbers: Float64Array): Float64Array => {
  const ascending = numbers.filter((one) => !Number.isNaN(one)).toSorted()
  const below = new Map<number, number>()
  const upTo = new Map<number, number>()
  ascending.forEach((one, at) => {
    if (!below.has(one)) below.set(one, at)
    upTo.set(one, at + 1)
  })
  return numbers.map((one) => (Number.isNaN(one) ? 0 : (below.get(one)! + upTo.get(one)! - ascending.length) / 2))
}

/** The median; NaN of nothing. */
export const median = (numbers: ReadonlyArray<number> | Float64Array): number => {
  const ascending = Float64Array.from(numbers).toSorted()
  const half = ascending.length >>> 1
  return ascending.length === 0
    ? NaN
    : ascending.length % 2 === 1
      ? ascending[half]!
      : (ascending[half - 1]! + ascending[half]!) / 2
}

/** A dimension with what its runs have of it. */
export type Prepared =
  | { readonly is: "counted"; readonly dimension: Dimension; readonly counted: Counted }
  | { readonly is: "measured"; readonly dimension: Dimension; readonly measured: Measured }
  | { readonly is: "empty"; readonly dimension: Dimension }

/** Counts or measures a dimension. */
export const prepare = (dimension: Dimension, runs: ReadonlyArray<DriftRun>): Prepared => {
  if (dimension.kind === "categorical") {
    const counted = countValues(dimension, runs)
    return counted.values.length === 0 ? { is: "empty", dimension } : { is: "counted", dimension, counted }
  }
  const measured = measure(dimension, runs)
  return measured === null ? { is: "empty", dimension } : { is: "measured", dimension, measured }
}

/** The components of a dimension; none where no decision says it. */
export const componentsOf = (one: Prepared): ReadonlyArray<Component> =>
  one.is === "counted" ? shareComponents(one.counted) : one.is === "measured" ? rankComponents(one.measured) : []
