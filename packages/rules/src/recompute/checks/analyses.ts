/**
 * Recomputes fairness analyses: verdicts and p-values from the counts, and the counts from the data set where it is
 * shown. Spec: decision 0077.
 */
import { type AnalysisCompletedBody, type AnalysisFailedBody, type Crypto, inOneGo, toHex } from "@flyball/evidence"
import { analyse, differenceOf, hasMetric, PERMUTATIONS } from "../../fairness/analysis.ts"
import { type AttributeCounts, countDataSet, type DataSet, readDataSet } from "../../fairness/data-set.ts"
import { partMembers } from "../../records/part-json.ts"
import type { Json, ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

const wrong = (reason: string): Problem => problem("analysis_mismatch", reason)

/** Steps of random tables and shuffles in one recomputation: two minutes' work at most. */
const MAX_WORK = 40_000_000_000

/** The analyses of a chain. It keeps how much work they were. */
export class AnalysisJudge {
  readonly #sha256: Crypto["sha256"]
  #left: number

  constructor(sha256: Crypto["sha256"], maxWork: number = MAX_WORK) {
    this.#sha256 = sha256
    this.#left = maxWork
  }

  /** Judges a record that matches the catalogue. */
  take(record: ReplayRecord): Problem | null {
    const { dataset_digest: digest, rows } = record.body as unknown as AnalysisFailedBody
    const part = record.parts.get("dataset")
    const set = part?.state === "present" ? readDataSet(part) : null
    if (part?.state === "present") {
      if (set === null || set.rows !== rows) return wrong("The part holds no data set of so many rows.")
      if (toHex(this.#sha256(part.bytes)) !== digest) return wrong("The digest is another than that of the data set.")
    }
    if (record.kind === "analysis.failed") return judgeFailed(record, set)
    this.#left -= workOf(record.body as unknown as AnalysisCompletedBody, set)
    return this.#left >= 0
      ? judgeCompleted(record, set, this.#sha256)
      : { ...problem("withheld", "Replay spent its work on earlier analyses."), because: "budget" }
  }
}

/** Steps that an analysis takes: a random count of a group is found within some standard deviations. */
const workOf = ({ attributes, permutations, rows }: AnalysisCompletedBody, set: DataSet | null): number =>
  permutations *
  (10 * Math.sqrt(rows) * attributes.reduce((sum, { groups }) => sum + groups.length, 0) +
    (set === null || set.score === null ? 0 : rows * (2 + attributes.length / 2)))

const judgeCompleted = (record: ReplayRecord, set: DataSet | null, sha256: Crypto["sha256"]): Problem | null => {
  const body = record.body as unknown as AnalysisCompletedBody
  const stated = body.attributes.map(({ groups, unknown }): AttributeCounts => ({ groups, unknown }))
  if (body.permutations !== PERMUTATIONS) return wrong(`An analysis makes ${PERMUTATIONS} random tables.`)
  const miscounted = stated.findIndex(({ groups, unknown }) => {
    const isWithin = groups.every(
      ({ fn = 0, fp = 0, n, selected, tn = 0, tp = 0 }) =>
        selected <= n && tp + fp <= selected && fn + tn <= n - selected
    )
    return !isWithin || groups.reduce((sum, { n }) => sum + n, unknown) !== body.rows
  })
  if (miscounted >= 0) return wrong(`The groups of column ${miscounted} are not the rows of the data set.`)
  const names = valuesOf(record)
  if (
    names !== null &&
    !isSameJson(
      names,
      stated.map(({ groups }) => groups.length)
    )
  )
    return wrong("The part names other groups than the body counts.")
  if (set !== null) {
    if (set.protected.length !== stated.length) return wrong("The data set has another number of columns.")
    const counted = inOneGo(
      countDataSet(
        set,
        stated.map(({ groups }) => groups.length)
      )
    )
    const at = counted.findIndex((one, column) => !isSameJson(one as never, stated[column] as never))
    if (at >= 0) return wrong(`The data set has other counts in column ${at}.`)
  }
  const input = { attributes: stated, set, digest: body.dataset_digest, tolerancePpm: body.tolerance_ppm }
  const { attributes, bias_detected: isDetected } = inOneGo(
    analyse({ ...input, permutations: body.permutations }, sha256)
  )
  for (const [at, attribute] of attributes.entries())
    for (const name of ["demographic_parity", "equalized_odds", "calibration", "four_fifths"] as const) {
      // How rare a difference of scores is follows from the data set alone.
      if (set === null && name === "calibration" && isOfScores(stated[at]!)) continue
      const [expected, found] = [attribute[name], body.attributes[at]![name]]
      if (!isSameJson(expected as never, found as never))
        return wrong(
          `${name} of column ${at} is ${JSON.stringify(expected)}; the record says ${JSON.stringify(found)}.`
        )
    }
  if (set !== null || !stated.some(isOfScores))
    return isDetected === body.bias_detected ? withheldWithout(set) : wrong(`bias_detected is ${isDetected}.`)
  return withheldWithout(set)
}

const isOfScores = (attribute: AttributeCounts): boolean => {
  const difference = differenceOf("calibration", attribute)
  return typeof difference !== "string" && difference.rate === "calibration"
}

const withheldWithout = (set: DataSet | null): Problem | null =>
  set === null
    ? problem("withheld", "The data set is not shown: verdicts follow from counts that nobody counted again.")
    : null

const judgeFailed = (record: ReplayRecord, set: DataSet | null): Problem | null => {
  const { code, writer } = record.body as unknown as AnalysisFailedBody
  if ((code === "interrupted") !== (writer === ANALYSIS_WRITER))
    return problem("writer_mismatch", `${writer} does not end an analysis as ${code}.`)
  if (code === "interrupted") return null
  const values = valuesOf(record)
  if (set === null || values === null) return problem("withheld", "The data set is not shown.")
  return values.length === set.protected.length && !hasMetric(inOneGo(countDataSet(set, values)))
    ? null
    : wrong("The data set has a metric.")
}

/** The rule that ends analyses whose process ended. */
export const ANALYSIS_WRITER = "policy:analysis"

/** How many values each column has, by the part; null where it does not say. */
const valuesOf = ({ parts }: ReplayRecord): ReadonlyArray<number> | null => {
  const read = partMembers(parts.get("analysis"))
  const values = read.state === "known" ? read.members["values"] : null
  if (!Array.isArray(values) || !values.every((one: Json) => Array.isArray(one))) return null
  return values.map((one: Json) => (one as ReadonlyArray<Json>).length)
}

/** Members of bodies and of what is made here are in the order of their names. */
const isSameJson = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other)
