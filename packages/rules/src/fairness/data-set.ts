/**
 * Reads the data set of an analysis, codes it for the part of a record, and counts it. Service and verifier run it.
 * Spec: api.md "Document 2", POST /fairness/analyze; decision 0077.
 */
import { fromUtf8, type Slices, utf8 } from "@flyball/evidence"
import { partMembers } from "../records/part-json.ts"
import type { Json, PartContent } from "../records/record.ts"
import { MAX_GROUPS } from "./group-rates.ts"
import { type LabelValue, MAX_GROUP_LENGTH } from "./screen-decisions.ts"

/** Parts of one: the unit of scores, and of what a score differs from its label. */
export const PPM = 1_000_000

/** Most rows of a data set. */
export const MAX_ROWS = 500_000

/** A data set as a caller sends it: `rows`, or the same as `columns`. */
export interface DataSetInput {
  readonly rows?: ReadonlyArray<unknown> | null
  readonly columns?: { readonly [name: string]: unknown } | null
  readonly label?: string | null
  readonly prediction?: string | null
  readonly score?: string | null
  readonly protected: ReadonlyArray<string>
  /** The value of label and prediction that is good for a person; left out: 1 and true. */
  readonly positive?: LabelValue | null
  /** Scores from here on count as positive. */
  readonly threshold?: number | null
}

/** A coded data set: a number for each row. */
export interface DataSet {
  readonly rows: number
  /** 0 and 1; 2 for a row without a label. */
  readonly label: Uint8Array | null
  readonly prediction: Uint8Array
  /** Unit: {@link PPM}. */
  readonly score: Uint32Array | null
  /** Of each protected column: 0 for no value, else the place of the value plus 1. */
  readonly protected: ReadonlyArray<Uint8Array>
}

/** A data set with the values of its protected columns, in the order of their JSON. */
export interface CodedDataSet {
  readonly set: DataSet
  readonly values: ReadonlyArray<ReadonlyArray<LabelValue>>
}

/** A fault of a data set, and its place. */
export interface DataSetProblem {
  readonly path: ReadonlyArray<string>
  readonly msg: string
  readonly input?: unknown
}

/** Rows of one slice. */
const PER_SLICE = 4_000

/** Reads one column in slices: `take` gets each value, and answers what is wrong with it. */
export type ReadColumn = (
  name: string,
  member: ReadonlyArray<string>,
  take: (value: unknown, row: number) => string | null
) => Slices<DataSetProblem | null>

/** The number of rows of a data set, and what reads its columns; or what is wrong with it. */
export const columnsOf = (
  input: Pick<DataSetInput, "rows" | "columns">
): { readonly rows: number; readonly read: ReadColumn } | DataSetProblem => {
  const { columns = null, rows = null } = input
  if ((rows === null) === (columns === null)) return { path: [], msg: "Expected exactly one of rows and columns" }
  const first = columns === null ? rows! : Object.values(columns)[0]
  if (!Array.isArray(first) || first.length === 0 || first.length > MAX_ROWS)
    return { path: [columns === null ? "rows" : "columns"], msg: `Expected 1 to ${MAX_ROWS} rows` }
  const at = (name: string, row: number) =>
    columns === null ? ["rows", String(row), name] : ["columns", name, String(row)]
  return {
    rows: first.length,
    read: function* (name, member, take) {
      const column = columns === null ? null : Object.hasOwn(columns, name) ? columns[name] : undefined
      if (column === undefined) return { path: member, msg: "No column has this name", input: name }
      if (column !== null && (!Array.isArray(column) || column.length !== first.length))
        return { path: ["columns", name], msg: `Expected a list of ${first.length} values, as the first column has` }
      for (let row = 0; row < first.length; row++) {
        const of = rows?.[row]
        if (column === null && (typeof of !== "object" || of === null || !Object.hasOwn(of, name)))
          return row === 0 && typeof of === "object" && of !== null
            ? { path: member, msg: "The first row has no column of this name", input: name }
            : { path: at(name, row), msg: "Field required" }
        const value = column === null ? (of as { readonly [name: string]: unknown })[name] : column[row]
        const msg = take(value, row)
        if (msg !== null) return { path: at(name, row), msg, input: value }
        if (row % PER_SLICE === PER_SLICE - 1) yield
      }
      return null
    }
  }
}

/**
 * Codes a data set.
 *
 * - Answers a problem: neither predictions nor scores, a column that is not there, a value of another type (NaN too), a
 *   score outside 0 to 1, a protected column of more than 20 values.
 */
export function* codeDataSet(input: DataSetInput): Generator<void, CodedDataSet | DataSetProblem, void> {
  const columns = columnsOf(input)
  if ("msg" in columns) return columns
  const { read, rows } = columns
  const { label = null, positive = null, prediction = null, score = null, threshold = null } = input
  if (prediction === null && score === null)
    return { path: ["prediction"], msg: "Expected the name of a column of predictions, or of scores" }
  const repeated = input.protected.findIndex((name, at) => input.protected.indexOf(name) < at)
  if (repeated >= 0) return { path: ["protected", String(repeated)], msg: "The column is named twice" }

  const scores = score === null ? null : new Uint32Array(rows)
  const predictions = new Uint8Array(rows)
  const least = Math.round((threshold ?? 0.5) * PPM)
  if (scores !== null) {
    const problem = yield* read(score!, ["score"], (value, row) => {
      if (typeof value !== "number" || !(value >= 0 && value <= 1)) return "Expected a number from 0 to 1"
      scores[row] = Math.round(value * PPM)
      predictions[row] = scores[row]! >= least ? 1 : 0
      return null
    })
    if (problem !== null) return problem
  }
  if (prediction !== null) {
    const problem = yield* read(prediction, ["prediction"], (value, row) => {
      const isPositive = signOf(value, positive)
      predictions[row] = isPositive === true ? 1 : 0
      return isPositive === null ? expected(positive) : null
    })
    if (problem !== null) return problem
  }
  const labels = label === null ? null : new Uint8Array(rows)
  if (labels !== null) {
    const problem = yield* read(label!, ["label"], (value, row) => {
      const isPositive = value === null ? null : signOf(value, positive)
      labels[row] = isPositive === null ? 2 : isPositive ? 1 : 0
      return value !== null && isPositive === null ? expected(positive) : null
    })
    if (problem !== null) return problem
  }
  const values: Array<ReadonlyArray<LabelValue>> = []
  const codes: Array<Uint8Array> = []
  for (const [at, name] of input.protected.entries()) {
    const places = new Map<LabelValue, number>()
    const column = new Uint8Array(rows)
    const problem = yield* read(name, ["protected", String(at)], (value, row) => {
      if (value === null) return null
      if (!isLabelValue(value)) return `Expected a text of up to ${MAX_GROUP_LENGTH} characters, a number or a boolean`
      const place = places.get(value) ?? places.size + 1
      if (place > MAX_GROUPS) return `The column has more than ${MAX_GROUPS} values: put them into fewer groups`
      places.set(value, place)
      column[row] = place
      return null
    })
    if (problem !== null) return problem
    const sorted = [...places.keys()].toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    const codeOf = new Uint8Array(MAX_GROUPS + 1)
    for (const [place, value] of sorted.entries()) codeOf[places.get(value)!] = place + 1
    codes.push(column.map((place) => codeOf[place]!))
    values.push(sorted)
    yield
  }
  return { set: { rows, label: labels, prediction: predictions, score: scores, protected: codes }, values }
}

/** True for a value that a store and the canonical form keep exactly. */
const isLabelValue = (value: unknown): value is LabelValue =>
  typeof value === "string"
    ? value.length <= MAX_GROUP_LENGTH && value.isWellFormed() && !value.includes("\0")
    : typeof value === "boolean" || Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))

/** True for the positive value; null where nothing says which one that is. */
const signOf = (value: unknown, positive: LabelValue | null): boolean | null => {
  if (positive !== null) return isLabelValue(value) ? value === positive : null
  return value === 1 || value === true ? true : value === 0 || value === false ? false : null
}

const expected = (positive: LabelValue | null): string =>
  positive === null ? "Expected 0 or 1, or state dataset.positive" : "Expected a text, a number or a boolean"

const LABELS = "01-"
const GROUPS = "-0123456789abcdefghij"
const SCORE_DIGITS = 7

/**
 * The bytes of the part `dataset`: a text for each column, in the canonical form, which needs no escapes here. Their
 * digest names the data set.
 */
export function* dataSetBytes({ label, prediction, protected: columns, rows, score }: DataSet): Slices<Uint8Array> {
  const texts: Array<string> = []
  for (const column of columns) {
    texts.push(`"${lettersOf(column, GROUPS)}"`)
    yield
  }
  const truth = label === null ? "" : `"label":"${lettersOf(label, LABELS)}",`
  const digits = score === null ? "" : `,"score":"${digitsOf(score)}"`
  yield
  const predicted = lettersOf(prediction, LABELS)
  return utf8(`{${truth}"prediction":"${predicted}","protected":[${texts.join(",")}],"rows":${rows}${digits}}`)
}

const lettersOf = (codes: Uint8Array, letters: string): string =>
  fromUtf8(codes.map((code) => letters.charCodeAt(code)))!

const digitsOf = (scores: Uint32Array): string => {
  const bytes = new Uint8Array(scores.length * SCORE_DIGITS)
  for (let row = 0; row < scores.length; row++) {
    let rest = scores[row]!
    for (let at = (row + 1) * SCORE_DIGITS - 1; at >= row * SCORE_DIGITS; at--) {
      bytes[at] = 48 + (rest % 10)
      rest = (rest / 10) | 0
    }
  }
  return fromUtf8(bytes)!
}

/** Reads the part `dataset`; null where it holds no data set as a service codes it. */
export const readDataSet = (part: PartContent | undefined): DataSet | null => {
  const read = partMembers(part)
  if (read.state !== "known") return null
  const { label, prediction, protected: columns, rows, score } = read.members
  if (typeof rows !== "number" || !Array.isArray(columns)) return null
  const codesOf = (text: Json | undefined, letters: string): Uint8Array | null => {
    if (typeof text !== "string" || text.length !== rows) return null
    const codes = utf8(text).map((byte) => letters.indexOf(String.fromCharCode(byte)))
    return codes.length === rows && codes.every((code) => code < letters.length) ? codes : null
  }
  const set = {
    rows,
    label: label === undefined ? null : codesOf(label, LABELS),
    prediction: codesOf(prediction, LABELS.slice(0, 2)),
    protected: columns.map((column: Json) => codesOf(column, GROUPS)),
    score: score === undefined ? null : scoresOf(score, rows)
  }
  const isRead =
    set.prediction !== null &&
    set.protected.every((column) => column !== null) &&
    (label === undefined || set.label !== null) &&
    (score === undefined || set.score !== null)
  return isRead ? (set as DataSet) : null
}

const scoresOf = (text: Json, rows: number): Uint32Array | null => {
  if (typeof text !== "string" || text.length !== rows * SCORE_DIGITS || !/^\d*$/.test(text)) return null
  const scores = Uint32Array.from({ length: rows }, (_, row) =>
    Number(text.slice(row * SCORE_DIGITS, (row + 1) * SCORE_DIGITS))
  )
  return scores.every((score) => score <= PPM) ? scores : null
}

/** Counts of one group. The last members where rows have labels, and those of scores where they have these too. */
export interface GroupCounts {
  readonly n: number
  readonly selected: number
  readonly tp?: number
  readonly fp?: number
  readonly fn?: number
  readonly tn?: number
  /** Sum of label less score over the rows with a label. Unit: {@link PPM}. */
  readonly gap_ppm?: number
  /** Sum of its square, rounded row by row. */
  readonly square_ppm?: number
}

/** Counts of one protected column. */
export interface AttributeCounts {
  readonly groups: ReadonlyArray<GroupCounts>
  /** Rows without a value. They are counted, and compared with nobody. */
  readonly unknown: number
}

/** Counts a data set by the groups of each protected column; `groups`: how many values each column has. */
export function* countDataSet(
  { label, prediction, protected: columns, rows, score }: DataSet,
  groups: ReadonlyArray<number>
): Generator<void, ReadonlyArray<AttributeCounts>, void> {
  const counted: Array<AttributeCounts> = []
  for (const [at, codes] of columns.entries()) {
    const sums = Array.from({ length: groups[at]! + 1 }, () => [0, 0, 0, 0, 0, 0, 0, 0] as [number, ...Array<number>])
    for (let row = 0; row < rows; row++) {
      const sum = sums[codes[row]!]
      if (sum === undefined) continue
      const predicted = prediction[row]!
      sum[0]++
      sum[1]! += predicted
      const truth = label === null ? 2 : label[row]!
      if (truth !== 2) {
        sum[2 + 2 * truth + predicted]!++
        if (score !== null) {
          const gap = truth * PPM - score[row]!
          sum[6]! += gap
          sum[7]! += Math.round((gap * gap) / PPM)
        }
      }
      if (row % 50_000 === 49_999) yield
    }
    counted.push({
      groups: sums.slice(1).map(([n, selected, tn, fp, fn, tp, gap, square]) => ({
        ...(label === null ? {} : { fn: fn!, fp: fp! }),
        ...(label === null || score === null ? {} : { gap_ppm: gap! }),
        n,
        selected: selected!,
        ...(label === null || score === null ? {} : { square_ppm: square! }),
        ...(label === null ? {} : { tn: tn!, tp: tp! })
      })),
      unknown: sums[0]![0]
    })
    yield
  }
  return counted
}
