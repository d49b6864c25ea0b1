/** The largest difference of shares between groups, and how often chance alone makes one as large. */
import type { Generator32 } from "./generator.ts"
import { hypergeometric, type LogFactorials } from "./hypergeometric.ts"
import type { Share } from "./intervals.ts"

/** The largest difference of any stratum: that of the groups at `high` and `low`. */
export interface Gap {
  readonly value: number
  readonly stratum: number
  readonly high: number
  readonly low: number
}

/**
 * The largest difference between the shares of two groups, within one stratum. A group without trials has no share.
 * Null where no stratum has two groups with one.
 */
export const largestGap = (strata: ReadonlyArray<ReadonlyArray<Share>>): Gap | null => {
  let found: Gap | null = null
  for (const [stratum, groups] of strata.entries()) {
    let [high, low, most, least, shares] = [-1, -1, -1, 2, 0]
    for (let at = 0; at < groups.length; at++) {
      const { passed, trials } = groups[at]!
      if (trials === 0) continue
      const share = passed / trials
      shares++
      if (share > most) [most, high] = [share, at]
      if (share < least) [least, low] = [share, at]
    }
    if (shares < 2) continue
    if (found === null || most - least > found.value) found = { value: most - least, stratum, high, low }
  }
  return found
}

/** Steps per unit of a difference: what differs by less is a tie, however it was rounded. */
export const GAP_STEPS = 1e9

/** Tables of one slice: a millisecond or less. */
const PER_SLICE = 400

/**
 * Counts the random tables whose {@link largestGap} is at least that of these. A table deals the passes of each stratum
 * anew to its groups: what a shuffle of the groups among the trials does, at a cost that does not grow with these.
 *
 * - Shape: `logs` up to the trials of a stratum.
 * - Formula: `p = (1 + count) / (permutations + 1)`: valid for every number of trials and groups, ties included.
 * - Source: Phipson and Smyth, 2010.
 */
export function* gapsAsLarge(
  strata: ReadonlyArray<ReadonlyArray<Share>>,
  permutations: number,
  random: Generator32,
  logs: LogFactorials
): Generator<void, number, void> {
  const seen = Math.round(GAP_STEPS * (largestGap(strata)?.value ?? 0))
  const margins = strata.map((groups) => ({
    all: groups.reduce((sum, { trials }) => sum + trials, 0),
    marked: groups.reduce((sum, { passed }) => sum + passed, 0)
  }))
  const drawn = strata.map((groups) => groups.map(({ trials }) => ({ passed: 0, trials })))
  let count = 0
  for (let at = 0; at < permutations; at++) {
    for (const [s, groups] of drawn.entries()) {
      let { all, marked } = margins[s]!
      for (const group of groups) {
        group.passed = hypergeometric(random, { marked, all, drawn: group.trials }, logs)
        all -= group.trials
        marked -= group.passed
      }
    }
    if (Math.round(GAP_STEPS * largestGap(drawn)!.value) >= seen) count++
    if (at % PER_SLICE === PER_SLICE - 1) yield
  }
  return count
}

/** A column of groups: of each row its group, and how many there are. */
export interface GroupColumn {
  /** 0 for a row of no group, else the place of its group plus 1. */
  readonly codes: Uint8Array
  readonly sizes: ReadonlyArray<number>
}

/** Sums of one table that rows are counted into: some KiB, so that it stays in the cache. */
const MAX_CELLS = 4_096

/**
 * Counts for each column the shuffles of `values` among the rows under which the largest difference between the means
 * of its groups is at least what it is. All columns share the shuffles. Rows of no group take part in them.
 *
 * - Shape: `values` whole numbers from 0 to 2^31; it is shuffled in place.
 */
export function* meanGapsAsLarge(
  values: Uint32Array,
  columns: ReadonlyArray<GroupColumn>,
  permutations: number,
  random: Generator32
): Generator<void, ReadonlyArray<number>, void> {
  const tables = tablesOf(columns, values.length)
  const counts = columns.map(() => 0)
  let seen: ReadonlyArray<number> = []
  let work = 0
  for (let at = 0; at <= permutations; at++) {
    if (at > 0) random.shuffle(values)
    const gaps = columns.map(() => 0)
    for (const table of tables) table.gaps(values, gaps)
    if (at === 0) seen = gaps
    else for (let column = 0; column < gaps.length; column++) if (gaps[column]! >= seen[column]!) counts[column]!++
    work += values.length
    if (work < 20_000) continue
    work = 0
    yield
  }
  return counts
}

interface Table {
  /** Writes the largest difference of means, in steps, of each of its columns. */
  readonly gaps: (values: Uint32Array, into: Array<number>) => void
}

/** Counts several columns by one look-up a row, as long as their groups together have few cells. */
const tablesOf = (columns: ReadonlyArray<GroupColumn>, rows: number): ReadonlyArray<Table> => {
  const tables: Array<Table> = []
  let [members, cells]: [Array<{ at: number; stride: number }>, number] = [[], 1]
  const close = (): void => {
    if (members.length > 0) tables.push(tableOf(columns, members, cells, rows))
    members = []
    cells = 1
  }
  for (const [at, { sizes }] of columns.entries()) {
    if (cells * (sizes.length + 1) > MAX_CELLS) close()
    members.push({ at, stride: cells })
    cells *= sizes.length + 1
  }
  close()
  return tables
}

const tableOf = (
  columns: ReadonlyArray<GroupColumn>,
  members: ReadonlyArray<{ readonly at: number; readonly stride: number }>,
  cells: number,
  rows: number
): Table => {
  const cellOf = new Uint16Array(rows)
  for (const { at, stride } of members) {
    const { codes } = columns[at]!
    for (let row = 0; row < rows; row++) cellOf[row]! += codes[row]! * stride
  }
  const sums = new Float64Array(cells)
  return {
    gaps: (values, into) => {
      sums.fill(0)
      for (let row = 0; row < rows; row++) sums[cellOf[row]!]! += values[row]!
      for (const { at, stride } of members) {
        const { sizes } = columns[at]!
        const totals = sizes.map(() => 0)
        for (let cell = 0; cell < cells; cell++) {
          const code = Math.floor(cell / stride) % (sizes.length + 1)
          if (code > 0) totals[code - 1]! += sums[cell]!
        }
        const means = totals.flatMap((total, group) => (sizes[group]! > 0 ? [total / sizes[group]!] : []))
        into[at] = means.length < 2 ? 0 : Math.round((Math.max(...means) - Math.min(...means)) * 1_000)
      }
    }
  }
}
