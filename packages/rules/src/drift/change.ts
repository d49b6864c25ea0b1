/**
 * Tests for a change in an agent's behaviour: its last window of decisions against the window before it.
 *
 * The service answers with it, and the verifier gives the same answer from a pack: it depends on records only, on
 * bodies and never on parts. Spec: document 1 section 4, GET /behavior/agents/{agent_id}/change; decision 0073.
 */
import { type Crypto, type Slices, toHex, utf8 } from "@flyball/evidence"
import { generator, jensenShannon, maxT, smallestP, stabilityIndex, Z95 } from "@flyball/statistics"
import { type DriftDecision, type DriftRun, runsOf } from "./decision.ts"
import {
  type CategoricalDimension,
  componentsOf,
  type Dimension,
  type DimensionName,
  dimensions,
  keyOf,
  median,
  type Prepared,
  prepare,
  shareComponents,
  type Value
} from "./dimensions.ts"

/** Version of the method. It is part of the seed. */
const METHOD = "run-maxT-wy/1"
/** The chance of a false finding, over all dimensions together. */
const ALPHA = 0.05
/** Decisions up to which more permutations are drawn. */
const FEW = 400
/** Permutations from which the null distribution of distances is taken. */
const DISTANCE_PERMUTATIONS = 200
/** A difference of shares from which a change is material; of medians, relative to the earlier one. */
const MATERIAL_SHARE = 0.1
const MATERIAL_RATIO = 0.2
/** Records that one dimension names, and values that the answer lists as new or gone. */
const MAX_SEQS = 5
const MAX_LISTED = 50
/** Records that an answer names as possible causes. */
export const MAX_ANNOTATIONS = 50
/** Quantile of the standard normal distribution at 0.8: the power of `mde`. */
const Z80 = 0.8416212335729143

/** Kinds of records of an agent that may explain a change of its behaviour. */
export const annotationKinds: ReadonlyArray<string> = [
  "agent.activated",
  "agent.provenance_added",
  "agent.suspended",
  "agent.updated",
  "envelope.published",
  "envelope.withdrawn"
]

/** A record between the begin of the earlier window and the answer that may explain a change. */
export interface Annotation {
  readonly seq: number
  readonly kind: string
}

/** A question about one agent. */
export interface ChangeQuestion {
  readonly agentId: string
  /** Decisions that are read: 10 to 2,000. Those before both windows only say which values are not new. */
  readonly lookback: number
  /** Decisions of each window: 5 to 1,000, at most half of `lookback`. */
  readonly window: number
  /** The newest `lookback` decisions, oldest first; fewer where the agent has no more. */
  readonly decisions: ReadonlyArray<DriftDecision>
  /** Settlements and annotations up to this record count. */
  readonly asOfSeq: number
  readonly annotations: ReadonlyArray<Annotation>
}

/** The effect of a dimension. Spec: decision 0073. */
export interface Effect {
  /** Of the runs' means: that a run has the value, its share in a run; or of a number. */
  readonly metric: "run_presence" | "run_share" | "run_median" | "distance_from_median" | "missing_share"
  /** The value: one name, the two of a sequence, none for the pool of rare ones; null for a number. */
  readonly component: Value | null
  readonly baseline: number | null
  readonly current: number | null
  readonly difference: number | null
  readonly ci95: readonly [number, number] | null
  /** Decisions of the current window with this value; of a number, those with the largest. */
  readonly seqs: ReadonlyArray<number>
}

/** Answers the question, in slices. */
export function* changeOf(question: ChangeQuestion, sha256: Crypto["sha256"]): Slices<ChangeAnswer> {
  const { agentId, annotations, asOfSeq, decisions, lookback, window } = question
  const permutations = lookback <= FEW ? 1_999 : 999
  const newest = decisions.at(-1) ?? null
  const seed =
    newest === null ? null : sha256(utf8(["drift/v1", newest.hash, agentId, lookback, window, METHOD].join("\n")))
  const base = {
    agent_id: agentId,
    as_of_seq: asOfSeq,
    params: { lookback, window, alpha: ALPHA, permutations, method: METHOD },
    verification: {
      seed: seed === null ? null : toHex(seed),
      newest_seq: newest?.seq ?? null,
      newest_record_hash: newest === null ? null : `sha256:${newest.hash}`
    }
  }
  const lacking = Math.max(0, 2 * window - decisions.length)
  const pool = lacking > 0 ? [] : decisions.slice(-2 * window)
  const runs = runsOf(pool)
  const isByRun = pool.some(({ run }) => run !== null)
  if (seed === null || runs.length < 2)
    return {
      ...base,
      status: "insufficient_data",
      verdict: null,
      missing: { decisions: lacking, runs: lacking > 0 ? null : 2 - runs.length },
      unit: null,
      min_attainable_p: null,
      baseline: null,
      current: null,
      dimensions: [],
      novel: [],
      vanished: [],
      annotations: []
    }
  const [before, now] = [pool.slice(0, window), pool.slice(window)]
  const prepared: Array<Prepared> = []
  for (const one of dimensions) {
    prepared.push(prepare(one, runs))
    yield
  }
  const nulls = new DistanceNulls(prepared, runs.length)
  const tested = yield* maxT(
    {
      sizes: Uint32Array.from(runs, (run) => run.decisions.length),
      cut: window,
      families: prepared.map(componentsOf),
      permutations,
      each: (isBehind, at) => {
        if (at <= DISTANCE_PERMUTATIONS) nulls.take(isBehind)
      }
    },
    generator(seed)
  )
  const sides = new Sides(tested.isBehind)
  const floor = smallestP(sides.behind, sides.before, permutations)
  const isUnderpowered = floor > ALPHA
  const found = prepared.map((one, at): DimensionChange => {
    const { adjusted, p, top } = tested.families[at]!
    const { dimension } = one
    const common = { name: dimension.name, kind: dimension.kind }
    if (one.is === "empty" || top === null || p === null || adjusted === null)
      return { ...common, ...nothing, status: one.is === "empty" ? "no_values" : "constant", distances: nulls.of(at) }
    const { effect, mde } = effectOf(one, top.component, sides, runs, now)
    const isChanged = !isUnderpowered && adjusted <= ALPHA
    return {
      ...common,
      status: "ok",
      p: rounded(p),
      p_adjusted: rounded(adjusted),
      changed: isUnderpowered ? null : isChanged,
      material: isUnderpowered ? null : isChanged && isMaterial(effect),
      effect,
      mde,
      distances: nulls.of(at)
    }
  })
  const listed = dimensions.filter((one): one is CategoricalDimension => one.kind === "categorical" && one.isListed)
  const earlier = decisions.slice(0, -window)
  return {
    ...base,
    status: isUnderpowered ? "underpowered" : "ok",
    verdict: isUnderpowered ? null : found.some(({ changed }) => changed === true) ? "changed" : "no_change_detected",
    missing: isUnderpowered ? { decisions: 0, runs: lackingRuns(sides) } : null,
    unit: isByRun ? "run" : "decision_assumed",
    min_attainable_p: rounded(floor),
    baseline: windowOf(before, sides.before),
    current: windowOf(now, sides.behind),
    dimensions: found,
    novel: listed.flatMap((one) => onlyIn(one, now, earlier)).slice(0, MAX_LISTED),
    vanished: listed.flatMap((one) => onlyIn(one, before, now)).slice(0, MAX_LISTED),
    annotations: withModels(annotations, pool)
  }
}

const nothing = { p: null, p_adjusted: null, changed: null, material: null, effect: null, mde: null } as const

/** Result of a dimension. Spec: decision 0073. */
export interface DimensionChange {
  readonly name: DimensionName
  readonly kind: "categorical" | "numeric"
  /** `constant`: every run is alike. `no_values`: no decision says it. */
  readonly status: "ok" | "constant" | "no_values"
  readonly p: number | null
  readonly p_adjusted: number | null
  readonly changed: boolean | null
  readonly material: boolean | null
  readonly effect: Effect | null
  /** The smallest difference that is found with a chance of 80 %. */
  readonly mde: number | null
  readonly distances: Distances | null
}

/** Distances of the windows' runs, each beside what it is where nothing changed. */
export interface Distances {
  readonly js: number
  readonly js_null_mean: number
  readonly js_null_q95: number
  readonly psi: number
  readonly psi_null_mean: number
  readonly psi_null_q95: number
}

/** One of two windows. */
export interface ChangeWindow {
  readonly from_seq: number
  readonly to_seq: number
  readonly decisions: number
  readonly runs: number
}

/** A value that only one side has. */
export interface ListedValue {
  readonly dimension: string
  readonly value: string | null
  readonly first_seq: number
  readonly record_hash: string
}

/** The answer. Numbers that are no counts have six significant digits. Spec: decision 0073. */
export interface ChangeAnswer {
  readonly agent_id: string
  readonly as_of_seq: number
  readonly status: "ok" | "insufficient_data" | "underpowered"
  readonly verdict: "changed" | "no_change_detected" | null
  /** How much is missing; null where nothing is. */
  readonly missing: { readonly decisions: number; readonly runs: number | null } | null
  readonly params: {
    readonly lookback: number
    readonly window: number
    readonly alpha: number
    readonly permutations: number
    readonly method: string
  }
  /**
   * The unit that is exchanged. `decision_assumed`: no decision names its run, so decisions are taken to be
   * independent.
   */
  readonly unit: "run" | "decision_assumed" | null
  readonly min_attainable_p: number | null
  readonly baseline: ChangeWindow | null
  readonly current: ChangeWindow | null
  readonly dimensions: ReadonlyArray<DimensionChange>
  readonly novel: ReadonlyArray<ListedValue>
  readonly vanished: ReadonlyArray<ListedValue>
  readonly annotations: ReadonlyArray<Annotation>
  readonly verification: {
    readonly seed: string | null
    readonly newest_seq: number | null
    readonly newest_record_hash: string | null
  }
}

/** Significant digits of the answer's numbers. Exact in every engine. */
const DIGITS = 6
const rounded = (value: number): number => Number(value.toPrecision(DIGITS))

/** Which runs lie in which window. */
class Sides {
  readonly isBehind: Uint8Array
  readonly behind: number
  readonly before: number

  constructor(isBehind: Uint8Array) {
    this.isBehind = isBehind
    this.behind = isBehind.reduce((all, one) => all + one, 0)
    this.before = isBehind.length - this.behind
  }

  /** The numbers of the runs of each side, those without one left out. */
  split(numbers: Float64Array): readonly [before: Float64Array, behind: Float64Array] {
    const of = (side: number) => numbers.filter((one, run) => this.isBehind[run] === side && !Number.isNaN(one))
    return [of(0), of(1)]
  }
}

/** Distances of the two sides, in the order as it was and in the first permutations. */
class DistanceNulls {
  readonly #prepared: ReadonlyArray<Prepared>
  readonly #counts: ReadonlyArray<readonly [Float64Array, Float64Array]>
  readonly #found: ReadonlyArray<{ readonly js: Array<number>; readonly psi: Array<number> }>

  constructor(prepared: ReadonlyArray<Prepared>, runs: number) {
    this.#prepared = prepared
    const cells = (one: Prepared): number => (one.is === "counted" && runs > 1 ? one.counted.values.length : 0)
    this.#counts = prepared.map((one) => [new Float64Array(cells(one)), new Float64Array(cells(one))])
    this.#found = prepared.map(() => ({ js: [], psi: [] }))
  }

  take(isBehind: Uint8Array): void {
    this.#prepared.forEach((one, at) => {
      if (one.is !== "counted") return
      const [before, behind] = this.#counts[at]!
      one.counted.runs.forEach(({ counts, runs }, value) => {
        before[value] = behind[value] = 0
        for (let i = 0; i < runs.length; i++) (isBehind[runs[i]!] === 1 ? behind : before)[value]! += counts[i]!
      })
      if (before.every((count) => count === 0) || behind.every((count) => count === 0)) return
      this.#found[at]!.js.push(jensenShannon(before, behind))
      this.#found[at]!.psi.push(stabilityIndex(before, behind))
    })
  }

  of(at: number): Distances | null {
    const { js, psi } = this.#found[at]!
    if (js.length < 2) return null
    const mean = ([, ...drawn]: ReadonlyArray<number>) => drawn.reduce((all, one) => all + one, 0) / drawn.length
    const q95 = ([, ...drawn]: ReadonlyArray<number>) =>
      drawn.toSorted((a, b) => a - b)[Math.ceil(0.95 * drawn.length) - 1]!
    return {
      js: rounded(js[0]!),
      js_null_mean: rounded(mean(js)),
      js_null_q95: rounded(q95(js)),
      psi: rounded(psi[0]!),
      psi_null_mean: rounded(mean(psi)),
      psi_null_q95: rounded(q95(psi))
    }
  }
}

const mean = (numbers: Float64Array): number => numbers.reduce((all, one) => all + one, 0) / numbers.length
const variance = (numbers: Float64Array): number => {
  const middle = mean(numbers)
  return numbers.reduce((all, one) => all + (one - middle) ** 2, 0) / (numbers.length - 1)
}

/** The effect of the component that differs most, and the smallest difference of it that would be found. */
const effectOf = (
  one: Exclude<Prepared, { readonly is: "empty" }>,
  component: number,
  sides: Sides,
  runs: ReadonlyArray<DriftRun>,
  now: ReadonlyArray<DriftDecision>
): { readonly effect: Effect; readonly mde: number | null } => {
  if (one.is === "measured") {
    const { distances, medians, missing } = one.measured
    if (component === 2) return ofShares("missing_share", null, missing, sides, [])
    const [before, behind] = sides.split(component === 0 ? medians : distances)
    const [baseline, current] = [median(before), median(behind)]
    return {
      effect: {
        metric: component === 0 ? "run_median" : "distance_from_median",
        component: null,
        baseline: Number.isNaN(baseline) ? null : rounded(baseline),
        current: Number.isNaN(current) ? null : rounded(current),
        difference: Number.isNaN(current - baseline) ? null : rounded(current - baseline),
        ci95: null,
        seqs: largest(one.dimension, now)
      },
      mde: null
    }
  }
  const value = one.counted.values[component >>> 1]!
  const { runs: having, values } = shareComponents(one.counted)[component]!
  const shares = new Float64Array(runs.length)
  having.forEach((run, at) => (shares[run] = values[at]!))
  const common = new Set(one.counted.values.map(keyOf))
  const seqs = decisionsWith(one.dimension as CategoricalDimension, runs, now[0]!.seq, (key) =>
    value.length === 0 ? !common.has(key) : key === keyOf(value)
  )
  return ofShares(component % 2 === 0 ? "run_presence" : "run_share", value, shares, sides, seqs)
}

const ofShares = (
  metric: Effect["metric"],
  component: Value | null,
  shares: Float64Array,
  sides: Sides,
  seqs: ReadonlyArray<number>
) => {
  const [before, behind] = sides.split(shares)
  const difference = mean(behind) - mean(before)
  const isShort = before.length < 2 || behind.length < 2
  const half = isShort ? NaN : Z95 * Math.sqrt(variance(before) / before.length + variance(behind) / behind.length)
  return {
    effect: {
      metric,
      component,
      baseline: rounded(mean(before)),
      current: rounded(mean(behind)),
      difference: rounded(difference),
      ci95: isShort
        ? null
        : ([rounded(Math.max(-1, difference - half)), rounded(Math.min(1, difference + half))] as const),
      seqs
    },
    mde: rounded((Z95 + Z80) * Math.sqrt(variance(shares) * (1 / before.length + 1 / behind.length)))
  }
}

const isMaterial = ({ baseline, current, difference, metric }: Effect): boolean => {
  if (difference === null) return true
  if (metric === "run_median" || metric === "distance_from_median")
    return Math.abs(difference) >= MATERIAL_RATIO * Math.max(Math.abs(baseline ?? 0), Math.abs(current ?? 0))
  return Math.abs(difference) >= MATERIAL_SHARE
}

/** Decisions from a record on with a value, the first of them. */
const decisionsWith = (
  { valueOf }: CategoricalDimension,
  runs: ReadonlyArray<DriftRun>,
  from: number,
  isOne: (key: string) => boolean
): ReadonlyArray<number> =>
  runs
    .flatMap(({ decisions }) =>
      decisions.filter((decision, at) => {
        const value = decision.seq < from ? null : valueOf(decision, decisions[at - 1] ?? null)
        return value !== null && isOne(keyOf(value))
      })
    )
    .map(({ seq }) => seq)
    .toSorted((a, b) => a - b)
    .slice(0, MAX_SEQS)

/** Decisions with the largest numbers of a dimension; none where it is of the run. */
const largest = (dimension: Dimension, now: ReadonlyArray<DriftDecision>): ReadonlyArray<number> => {
  if (dimension.kind === "categorical" || dimension.name === "run_length") return []
  const numbers = dimension.numbersOf({ decisions: now })
  return now
    .flatMap(({ seq }, at) => (numbers[at] === null ? [] : [{ seq, number: numbers[at]! }]))
    .toSorted((a, b) => b.number - a.number || a.seq - b.seq)
    .slice(0, MAX_SEQS)
    .map(({ seq }) => seq)
}

/** Values of some decisions that none of the others has, with the first decision that has it. */
const onlyIn = (
  { name, valueOf }: CategoricalDimension,
  some: ReadonlyArray<DriftDecision>,
  others: ReadonlyArray<DriftDecision>
): ReadonlyArray<ListedValue> => {
  const seen = new Set(others.map((one) => valueOf(one, null)![0]!))
  return some.flatMap((one) => {
    const value = valueOf(one, null)![0]!
    if (seen.has(value)) return []
    seen.add(value)
    return [{ dimension: name, value, first_seq: one.seq, record_hash: `sha256:${one.hash}` }]
  })
}

const windowOf = (decisions: ReadonlyArray<DriftDecision>, runs: number): ChangeWindow => ({
  from_seq: decisions[0]!.seq,
  to_seq: decisions.at(-1)!.seq,
  decisions: decisions.length,
  runs
})

/** How many runs more make a test possible: four on each side. */
const lackingRuns = ({ before, behind }: Sides): number => Math.max(0, 4 - before) + Math.max(0, 4 - behind)

/** The records given, and each decision whose model is another than that of the decision before it. */
const withModels = (given: ReadonlyArray<Annotation>, pool: ReadonlyArray<DriftDecision>): ReadonlyArray<Annotation> =>
  [
    ...given,
    ...pool.flatMap(({ model, seq }, at) =>
      at > 0 && pool[at - 1]!.model !== model ? [{ seq, kind: "model_changed" }] : []
    )
  ]
    .toSorted((a, b) => a.seq - b.seq)
    .slice(0, MAX_ANNOTATIONS)
