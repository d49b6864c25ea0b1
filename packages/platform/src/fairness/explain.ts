/**
 * Divides the difference between two groups' selection rates among the columns of a data set. Pure, in slices.
 *
 * What columns together explain: the difference that is left if, where all their values are equal, both groups were
 * selected at one rate. Each column's contribution is its Shapley value. Spec: api.md "Document 2"; decision 0077.
 */
import type { Explanation, ExplanationCreate } from "@flyball/contract"
import { type Crypto, type Slices, utf8 } from "@flyball/evidence"
import {
  type CodedDataSet,
  codeDataSet,
  columnsOf,
  compareGroups,
  countDataSet,
  type DataSetInput,
  type DataSetProblem
} from "@flyball/rules"
import { generator, MAX_EXACT_PLAYERS, shapley } from "@flyball/statistics"

/** Bins of a column of numbers with more values than this. */
const BINS = 10
/** Values of a column of texts that count by themselves: the most frequent ones. */
const MAX_WORDS = 50
/** Random orders, each with its reverse, where a request does not say. */
const SAMPLES = 50
/** Most rows times protected columns, and most rows times coalitions of columns: every coalition reads them all. */
const MAX_READ = 100_000
const MAX_COUNTED = 512 * MAX_READ

/** Explains the differences of each protected column. Answers what is wrong with the data set, as an analysis does. */
export function* explain(
  { dataset, model_id: modelId, samples }: ExplanationCreate,
  sha256: Crypto["sha256"]
): Slices<Explanation | DataSetProblem> {
  const coded = yield* codeDataSet(dataset as DataSetInput)
  if ("msg" in coded) return coded
  const { set, values } = coded
  if (set.rows * values.length > MAX_READ)
    return { path: [], msg: `Expected at most ${MAX_READ} rows times protected columns: send a sample of the rows` }
  const columns = columnsOf(dataset as DataSetInput) as Exclude<ReturnType<typeof columnsOf>, DataSetProblem>
  const { features } = dataset
  const codes: Array<Codes> = []
  for (const [at, name] of features.entries()) {
    if (features.indexOf(name) < at) return { path: ["features", String(at)], msg: "The column is named twice" }
    const raw: Array<unknown> = []
    const problem = yield* columns.read(name, ["features", String(at)], (value) => {
      if (value !== null && !["string", "boolean"].includes(typeof value) && !Number.isFinite(value))
        return "Expected a text, a number or a boolean"
      raw.push(value)
      return null
    })
    if (problem !== null) return problem
    codes.push(codesOf(raw))
    yield
  }
  const isExact = features.length <= MAX_EXACT_PLAYERS
  const orders = samples ?? SAMPLES
  // Each group but the base has orders of its own, and an order meets a coalition for each of its columns.
  const coalitions = values.reduce(
    (all, { length }) =>
      all + Math.min(2 ** features.length, isExact ? Infinity : 2 * orders * features.length * Math.max(1, length - 1)),
    0
  )
  if (set.rows * coalitions > MAX_COUNTED)
    return {
      path: [],
      msg:
        `Expected at most ${Math.floor(MAX_COUNTED / coalitions)} rows for so many features, samples and groups: ` +
        "send a sample of the rows, or ask for less"
    }
  const counts = yield* countDataSet(
    set,
    values.map(({ length }) => length)
  )
  const attributes: Array<Explanation["attributes"][number]> = []
  for (const [at, { groups }] of counts.entries()) {
    const shares = groups.map(({ n, selected }) => ({ passed: selected, trials: n }))
    const { base } = compareGroups(shares)
    const explained: Array<Explanation["attributes"][number]["groups"][number]> = []
    const sizes = shares.map(({ trials }) => trials)
    const worths = base === null ? null : worthsOf(coded, at, codes, sizes, base)
    for (const [group, { passed, trials }] of shares.entries()) {
      if (base === null || worths === null || group === base) continue
      const gap = shares[base]!.passed / shares[base]!.trials - passed / trials
      const random = () => generator(sha256(utf8(`explain/1 ${at} ${group}`)))
      const found = yield* shapley(features.length, (coalition) => worths(coalition, group), orders, random)
      const sum = worths(2 ** features.length - 1, group)
      explained.push({
        value: values[at]![group]!,
        gap,
        explained: sum,
        unexplained: gap - sum,
        contributions: found.map((one, place) => ({ column: features[place]!, ...one }))
      })
    }
    attributes.push({
      name: dataset.protected[at]!,
      base: base === null ? null : values[at]![base]!,
      groups: explained
    })
  }
  return { model_id: modelId, method: isExact ? "exact" : "sampled", orders: isExact ? null : 2 * orders, attributes }
}

interface Codes {
  readonly of: Uint8Array
  readonly size: number
}

/** Codes a column: numbers with many values in bins of about as many rows, else the values, the rarest as one. */
const codesOf = (raw: ReadonlyArray<unknown>): Codes => {
  const counts = new Map<unknown, number>()
  for (const value of raw) counts.set(value, (counts.get(value) ?? 0) + 1)
  const distinct = [...counts.keys()]
  const isNumeric = distinct.every((value) => typeof value === "number" || value === null)
  const places = new Map<unknown, number>()
  if (isNumeric && distinct.length > BINS) {
    let before = 0
    for (const value of (distinct.filter((one) => one !== null) as Array<number>).toSorted((a, b) => a - b)) {
      places.set(value, Math.min(BINS, 1 + Math.floor((before * BINS) / raw.length)))
      before += counts.get(value)!
    }
    places.set(null, 0)
    return { of: Uint8Array.from(raw, (value) => places.get(value)!), size: BINS + 1 }
  }
  const byCount = distinct.toSorted((a, b) => counts.get(b)! - counts.get(a)! || (String(a) < String(b) ? -1 : 1))
  for (const [place, value] of byCount.entries()) places.set(value, Math.min(place, MAX_WORDS))
  return { of: Uint8Array.from(raw, (value) => places.get(value)!), size: MAX_WORDS + 1 }
}

/** Makes what tells how much of a group's difference to the base a coalition of columns explains. */
const worthsOf = (
  { set }: CodedDataSet,
  at: number,
  codes: ReadonlyArray<Codes>,
  sizes: ReadonlyArray<number>,
  base: number
): ((coalition: number, group: number) => number) => {
  const known = new Map<number, ReadonlyArray<number>>()
  const worths = (coalition: number): ReadonlyArray<number> => {
    const { cells, counts, width } = tableOf(
      set,
      at,
      codes.filter((_, place) => (coalition & (1 << place)) !== 0),
      sizes.length
    )
    return sizes.map((size, group) => {
      let sum = 0
      for (let cell = 0; cell < cells; cell++) {
        const from = cell * width
        const [n, m] = [counts[from + 2 * base]!, counts[from + 2 * group]!]
        if (n + m === 0) continue
        const rate = (counts[from + 2 * base + 1]! + counts[from + 2 * group + 1]!) / (n + m)
        sum += (n / sizes[base]! - m / size) * rate
      }
      return sum
    })
  }
  return (coalition, group) => {
    const found = known.get(coalition) ?? worths(coalition)
    known.set(coalition, found)
    return found[group]!
  }
}

/** Counts rows and positive predictions by the values of some columns together, and by group. */
const tableOf = (set: CodedDataSet["set"], at: number, members: ReadonlyArray<Codes>, groups: number) => {
  const width = 2 * groups
  let cellOf = new Map<number, number>()
  const rowCells = new Float64Array(set.rows)
  /** Numbers the cells without gaps, so that more columns fit into a whole number. */
  const renumber = (): void => {
    cellOf = new Map()
    for (let row = 0; row < set.rows; row++) {
      const cell = cellOf.get(rowCells[row]!) ?? cellOf.size
      cellOf.set(rowCells[row]!, cell)
      rowCells[row] = cell
    }
  }
  let product = 1
  for (const { of, size } of members) {
    if (product * size > Number.MAX_SAFE_INTEGER) {
      renumber()
      product = cellOf.size
    }
    product *= size
    for (let row = 0; row < set.rows; row++) rowCells[row] = rowCells[row]! * size + of[row]!
  }
  renumber()
  const counts = new Float64Array(cellOf.size * width)
  for (let row = 0; row < set.rows; row++) {
    const code = set.protected[at]![row]!
    if (code === 0) continue
    const to = rowCells[row]! * width + 2 * (code - 1)
    counts[to]!++
    counts[to + 1]! += set.prediction[row]!
  }
  return { counts, cells: cellOf.size, width }
}
