/** Permutation tests of two groups of runs, many components at once. */
import type { Generator32 } from "./generator.ts"

/** A number of every run: `values` of the runs that `runs` lists, ascending, and 0 of all others. */
export interface Component {
  readonly runs: Uint32Array
  readonly values: Float64Array
}

/** Input of {@link maxT}. */
export interface RunTest {
  /** Decisions of each run, 1 and more, in the order in which the runs were made. */
  readonly sizes: Uint32Array
  /** Decisions before the cut, between 1 and all but one. */
  readonly cut: number
  /** Families of components: the test has a p-value for each family. */
  readonly families: ReadonlyArray<ReadonlyArray<Component>>
  /** Permutations, the order as it was not counted. */
  readonly permutations: number
  /** Sees which runs lie behind the cut (1) in each order: `at` 0 is the order as it was. The array is reused. */
  readonly each?: (isBehind: Uint8Array, at: number) => void
}

/** Result of a family. */
export interface FamilyTest {
  /** The component that differs most, and its statistic; null where no component varies. */
  readonly top: { readonly component: number; readonly t: number } | null
  /** Null where no component varies. */
  readonly p: number | null
  /** With the family error over all families held. */
  readonly adjusted: number | null
}

/** Result of {@link maxT}. */
export interface MaxT {
  readonly families: ReadonlyArray<FamilyTest>
  /** The runs behind the cut (1), in the order as it was. */
  readonly isBehind: Uint8Array
}

/** Steps per unit of a statistic: what differs by less is a tie, however its sums were rounded. */
const STEPS = 1e9
/** Additions of one slice: under a millisecond, with what `each` does. */
const PER_SLICE = 40_000

/**
 * Tests whether runs before and behind a cut are alike, by the largest difference of any component.
 *
 * The runs are laid end to end; a run belongs to the side of its middle. Each permutation lays them in another order
 * and cuts again after as many decisions. If runs are exchangeable, the p-values are valid for every number of runs,
 * ties included. The work runs in slices.
 *
 * - Formula: `t = |mean - mean| / (s √(1/n + 1/m))` of a component, `s` over all runs; `T = max t` of a family;
 *   `p = (1 + #{T* >= T}) / (permutations + 1)`. Over families the step-down of smallest p-values on the
 *   same permutations.
 * - Source: Westfall and Young, Resampling-Based Multiple Testing, 1993, algorithm 2.8; Phipson and Smyth, 2010, for
 *   the added 1.
 * - Shape: two runs and more.
 */
export function* maxT(test: RunTest, random: Generator32): Generator<void, MaxT, void> {
  const { cut, each, families, permutations, sizes } = test
  const varying = families.map((family) => family.map((one, at) => prepare(one, at, sizes.length)).filter(isVarying))
  const work = varying.reduce((all, family) => all + family.reduce((sum, { runs }) => sum + runs.length + 8, 0), 0)
  const order = Uint32Array.from(sizes, (_, run) => run)
  const isBehind = new Uint8Array(sizes.length)
  const largest = families.map(() => new Float64Array(permutations + 1))
  const tops: Array<number> = families.map(() => -1)
  let observed = isBehind
  let sinceYield = 0
  for (let at = 0; at <= permutations; at++) {
    if (at > 0) random.shuffle(order)
    const behind = lay(order, sizes, cut, isBehind)
    if (at === 0) observed = isBehind.slice()
    each?.(isBehind, at)
    const scale = Math.sqrt(1 / behind + 1 / (sizes.length - behind))
    varying.forEach((family, f) => {
      let most = -1
      for (const { deviation, place, runs, total, values } of family) {
        let sum = 0
        for (let i = 0; i < runs.length; i++) if (isBehind[runs[i]!] === 1) sum += values[i]!
        const difference = sum / behind - (total - sum) / (sizes.length - behind)
        const t = Math.round((STEPS * Math.abs(difference)) / (deviation * scale))
        if (t <= most) continue
        most = t
        if (at === 0) tops[f] = place
      }
      largest[f]![at] = most
    })
    sinceYield += work + sizes.length
    if (sinceYield < PER_SLICE) continue
    sinceYield = 0
    yield
  }
  const tested = families.map((_, f) => f).filter((f) => varying[f]!.length > 0)
  const ranks: Array<Uint32Array> = []
  for (const f of tested) {
    ranks.push(ranksOf(largest[f]!))
    yield
  }
  const adjusted = stepDown(ranks)
  return {
    isBehind: observed,
    families: families.map((_, f) => {
      const at = tested.indexOf(f)
      if (at < 0) return { top: null, p: null, adjusted: null }
      return {
        top: { component: tops[f]!, t: largest[f]![0]! / STEPS },
        p: ranks[at]![0]! / (permutations + 1),
        adjusted: adjusted[at]! / (permutations + 1)
      }
    })
  }
}

interface Prepared extends Component {
  readonly place: number
  readonly total: number
  /** 0 where every run has the same value. */
  readonly deviation: number
}

const isVarying = ({ deviation }: Prepared): boolean => deviation > 0

const prepare = ({ runs, values }: Component, place: number, n: number): Prepared => {
  const isSparse = runs.length < n
  let [total, low, high] = [0, isSparse ? 0 : Infinity, isSparse ? 0 : -Infinity]
  for (const value of values) {
    total += value
    if (value < low) low = value
    if (value > high) high = value
  }
  const mean = total / n
  let spread = (n - runs.length) * mean * mean
  for (const value of values) spread += (value - mean) ** 2
  // What is equal everywhere has no spread, whatever rounding makes of it.
  return { runs, values, place, total, deviation: low < high ? Math.sqrt(spread / (n - 1)) : 0 }
}

/** Lays the runs end to end, marks those whose middle lies behind the cut, and counts them. */
const lay = (order: Uint32Array, sizes: Uint32Array, cut: number, isBehind: Uint8Array): number => {
  let [start, behind] = [0, 0]
  for (const run of order) {
    const size = sizes[run]!
    const is = 2 * start + size > 2 * cut ? 1 : 0
    isBehind[run] = is
    behind += is
    start += size
  }
  return behind
}

/** Of each value: how many of all are as large or larger. */
const ranksOf = (values: Float64Array): Uint32Array => {
  const ascending = values.toSorted()
  return Uint32Array.from(values, (value) => {
    let low = 0
    for (let high = ascending.length; low < high;) {
      const middle = (low + high) >>> 1
      if (ascending[middle]! < value) low = middle + 1
      else high = middle
    }
    return ascending.length - low
  })
}

/** Step-down adjusted p-values, as counts: `ranks` of each family over the order as it was and all permutations. */
const stepDown = (ranks: ReadonlyArray<Uint32Array>): ReadonlyArray<number> => {
  const byRank = ranks.map((_, at) => at).toSorted((a, b) => ranks[a]![0]! - ranks[b]![0]! || a - b)
  const smallest = ranks[0]?.map(() => 0xffffffff) ?? new Uint32Array()
  const adjusted: Array<number> = ranks.map(() => 0)
  for (const family of byRank.toReversed()) {
    const own = ranks[family]!
    let count = 0
    for (let at = 0; at < own.length; at++) {
      if (own[at]! < smallest[at]!) smallest[at] = own[at]!
      if (smallest[at]! <= own[0]!) count++
    }
    adjusted[family] = count
  }
  let floor = 0
  for (const family of byRank) floor = adjusted[family] = Math.max(floor, adjusted[family]!)
  return adjusted
}

/**
 * The smallest p-value that a two-sided test of so many runs can have: about two of all ways to choose the groups.
 *
 * - Formula: `2 / C(n + m, n)`, at most 1, and not below `1 / (permutations + 1)`.
 */
export const smallestP = (n: number, m: number, permutations: number): number => {
  let ways = 1
  for (let k = 1; k <= Math.min(n, m) && ways < 1e12; k++) ways = (ways * (n + m - k + 1)) / k
  return Math.min(1, Math.max(2 / ways, 1 / (permutations + 1)))
}
