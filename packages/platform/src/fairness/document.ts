/** Analyses as state, and as they are shown: every figure but a p-value follows from the counts. */
import type {
  AnalysedAttribute,
  AnalysedMetric,
  Analysis,
  AnalysisReport,
  AnalysisStatus,
  GroupRate,
  analysisFailures
} from "@flyball/contract"
import { ANALYSES, analysisKeys, type ListEntry } from "@flyball/core"
import type { Document, DocumentPut, JsonObject } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import {
  type Analysed,
  compareGroups,
  differenceOf,
  estimateInterval,
  estimateOf,
  type LabelValue,
  metricNames,
  PERMUTATIONS,
  pOf,
  PPM,
  type RateName,
  zOfGroups
} from "@flyball/rules"
import { isBelowFourFifths, type Share, shareRatio } from "@flyball/statistics"

/** The worst value of each metric over the protected columns; null where none has one. */
export type MetricsSummary = NonNullable<Analysis["metrics_summary"]>

/** Protected columns and their values. */
export type Columns = {
  readonly names: ReadonlyArray<string>
  readonly values: ReadonlyArray<ReadonlyArray<LabelValue>>
}

/** Why an analysis failed. */
export type AnalysisFailure = (typeof analysisFailures)[number]

/** An analysis. */
export type AnalysisDocument = {
  readonly modelId: string
  readonly orgUnit: string
  readonly owner: string
  readonly writer: string
  readonly status: AnalysisStatus
  readonly rows: number
  readonly digest: string
  readonly tolerancePpm: number
  /** Null while it runs, and once they were erased. */
  readonly columns: Columns | null
  /** Null unless it is completed. */
  readonly analysed: Analysed | null
  /** The worst value of each metric: lists show it. */
  readonly summary: MetricsSummary | null
  readonly failure: AnalysisFailure | null
  readonly createdAtMs: number
  readonly completedAtMs: number | null
  /** When it is given up, while it runs. */
  readonly dueMs: number | null
}

/** An analysis with its id and version. */
export interface StoredAnalysis {
  readonly id: string
  readonly version: number
  readonly body: AnalysisDocument
}

/** Reads the analysis of a document. */
export const storedAnalysis = ({ body, id, version }: Document): StoredAnalysis => ({
  id,
  version,
  body: body as unknown as AnalysisDocument
})

/** The place of an analysis in lists, and its filter. */
export const listedAnalysis = (document: Document): ListEntry => {
  const { createdAtMs, modelId, owner } = storedAnalysis(document).body
  return { id: document.id, owner, createdAtMs, filters: { model_id: modelId } }
}

/** Puts an analysis over the version that was read. */
export const putAnalysis = ({ body: analysis, id, version }: StoredAnalysis): DocumentPut => {
  const body = analysis as unknown as JsonObject
  return { collection: ANALYSES, id, expectedVersion: version, body, keys: analysisKeys(id, body) }
}

/** The id of an analysis's report: the same but for the prefix. */
export const reportIdOf = (analysisId: string): string => `rpt${analysisId.slice(3)}`
/** The id of a report's analysis. */
export const analysisIdOf = (reportId: string): string => `anl${reportId.slice(3)}`
/** Where the page of a report is. */
export const pageUrlOf = (analysisId: string): string => `/v1/fairness/reports/${reportIdOf(analysisId)}/page`

/** Sentences of failures. */
export const failureText: { readonly [F in AnalysisFailure]: string } = {
  no_metric: "No protected column has two groups that can be compared.",
  interrupted: "The process that ran the analysis ended. Send the data set again."
}

/** The worst value of each metric over the protected columns; null where none has one. */
export const summaryOf = ({ attributes }: Analysed): MetricsSummary => {
  const [demographic_parity, equalized_odds, calibration] = metricNames.map((name) => {
    const values = attributes.flatMap((attribute) => {
      const difference = differenceOf(name, attribute)
      return typeof difference === "string" ? [] : [difference.value]
    })
    return values.length === 0 ? null : Math.max(...values)
  }) as [number | null, number | null, number | null]
  return { demographic_parity, equalized_odds, calibration }
}

/** The overall score: 1 less the worst metric, not below 0. */
export const scoreOf = (summary: MetricsSummary): number =>
  Math.max(0, 1 - Math.max(...Object.values(summary).flatMap((value) => value ?? [])))

/** Shows an analysis, with its figures where `full`. */
export const analysisOut = ({ body, id }: StoredAnalysis, full = true): Analysis => {
  const { analysed, completedAtMs, createdAtMs, failure, modelId, status, summary } = body
  return {
    id,
    model_id: modelId,
    status,
    overall_score: summary === null ? null : scoreOf(summary),
    bias_detected: analysed?.bias_detected ?? null,
    metrics_summary: summary,
    report_url: analysed === null ? null : pageUrlOf(id),
    created_at: formatInstant(createdAtMs),
    completed_at: completedAtMs === null ? null : formatInstant(completedAtMs),
    ...(failure === null ? {} : { error: { code: failure, message: failureText[failure] } }),
    ...(full && analysed !== null ? { report: reportOut(body, analysed) } : {})
  }
}

/** Shows the figures of an analysis. */
export const reportOut = (
  { columns, digest, rows, tolerancePpm }: AnalysisDocument,
  { attributes }: Analysed
): AnalysisReport => {
  const adjusted = holm(
    attributes.flatMap((attribute) =>
      metricNames.flatMap((name) => {
        const count = attribute[name].as_extreme
        return count === undefined ? [] : [pOf(count, PERMUTATIONS)]
      })
    )
  )
  return {
    method_version: "1",
    rows,
    dataset_digest: `sha256:${digest}`,
    tolerance: tolerancePpm / PPM,
    permutations: PERMUTATIONS,
    attributes: attributes.map((attribute, at) => ({
      name: columns?.names[at] ?? null,
      unknown: attribute.unknown,
      groups: attribute.groups.map((group, place) => groupOut(group, columns?.values[at]?.[place] ?? null)),
      metrics: metricNames.map((name) => metricOut(name, attribute, adjusted)),
      four_fifths: fourFifthsOut(attribute)
    }))
  }
}

type Attribute = Analysed["attributes"][number]

const groupOut = (
  group: Attribute["groups"][number],
  value: LabelValue | null
): AnalysedAttribute["groups"][number] => {
  const rate = (name: RateName): GroupRate => {
    const estimate = estimateOf(name, group)
    if (estimate === null) return { value: null, ci95: null, n: 0, positive: name === "calibration" ? null : 0 }
    const { high, low } = estimateInterval(estimate)
    return { value: estimate.value, ci95: [low, high], n: estimate.n, positive: estimate.share?.passed ?? null }
  }
  const { fn, fp, n, tn, tp } = group
  return {
    value,
    n,
    counts: tp === undefined ? null : { tp, fp: fp!, fn: fn!, tn: tn! },
    selection_rate: rate("selection_rate"),
    tpr: rate("tpr"),
    fpr: rate("fpr"),
    ppv: rate("ppv"),
    npv: rate("npv"),
    calibration: rate("calibration")
  }
}

const metricOut = (
  name: AnalysedMetric["name"],
  attribute: Attribute,
  adjusted: ReadonlyMap<number, number>
): AnalysedMetric => {
  const difference = differenceOf(name, attribute)
  const { as_extreme: count, verdict } = attribute[name]
  if (typeof difference === "string" || count === undefined)
    return { ...noMetric, name, undefined_reason: typeof difference === "string" ? difference : null }
  const { high, interval, isIncomplete, low, rate, value } = difference
  const p = pOf(count, PERMUTATIONS)
  return {
    name,
    value,
    ci95: [interval.low, interval.high],
    p,
    p_adjusted: adjusted.get(p)!,
    rate,
    high,
    low,
    incomplete: isIncomplete,
    verdict: verdict!,
    undefined_reason: null
  }
}

const noMetric = {
  value: null,
  ci95: null,
  p: null,
  p_adjusted: null,
  rate: null,
  high: null,
  low: null,
  incomplete: false,
  verdict: null
} as const

/** P-values with the error of all tests together held, by the method of Holm: valid under any dependence. */
const holm = (ps: ReadonlyArray<number>): ReadonlyMap<number, number> => {
  const adjusted = new Map<number, number>()
  let floor = 0
  for (const [at, p] of ps.toSorted((a, b) => a - b).entries()) {
    floor = Math.max(floor, Math.min(1, Math.round((ps.length - at) * p * PPM) / PPM))
    if (!adjusted.has(p)) adjusted.set(p, floor)
  }
  return adjusted
}

const fourFifthsOut = ({ four_fifths: { undefined_reason: reason, verdict }, groups }: Attribute) => {
  const shares = groups.map(({ n, selected }): Share => ({ passed: selected, trials: n }))
  const { base } = compareGroups(shares)
  if (base === null) {
    const nothing = { ratio: null, ci95: null, base: null, group: null, violated: null }
    return { ...nothing, verdict: null, undefined_reason: reason ?? null }
  }
  const rate = (at: number): number => shares[at]!.passed / shares[at]!.trials
  const others = shares.map((_, at) => at).filter((at) => at !== base)
  const group = others.reduce((lowest, at) => (rate(at) < rate(lowest) ? at : lowest))
  const interval = shareRatio(shares[group]!, shares[base]!, zOfGroups(groups.length))!
  return {
    ratio: rate(group) / rate(base),
    ci95: interval.high === null ? null : [interval.low, interval.high],
    base,
    group,
    violated: others.some((at) => isBelowFourFifths(shares[at]!, shares[base]!)),
    verdict: verdict ?? null,
    undefined_reason: null
  }
}
