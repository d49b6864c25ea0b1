/** Plans the end of an analysis: its document, its record, and the event. Pure. Spec: document 2 section 6. */
import { PART_LIMIT_BYTES } from "@flyball/contract"
import { platformEvent } from "@flyball/core"
import type { ChangeSet, JsonObject } from "@flyball/core/storage"
import { canonicalBytes } from "@flyball/evidence"
import { type Analysed, ANALYSIS_WRITER, type CodedDataSet, type DataSetInput, PERMUTATIONS, PPM } from "@flyball/rules"
import {
  type AnalysisFailure,
  failureText,
  pageUrlOf,
  putAnalysis,
  scoreOf,
  type StoredAnalysis,
  summaryOf
} from "./document.ts"

/** A data set that is analysed: as it was sent, coded, and as the bytes that name it. */
export interface Question extends CodedDataSet {
  readonly of: Omit<DataSetInput, "rows" | "columns">
  readonly bytes: Uint8Array
}

/** The end of an analysis. */
export interface End {
  readonly analysis: StoredAnalysis
  readonly change: ChangeSet
}

/** Decides what an analysis leaves that found something; null: no metric exists. */
export const planEnd = (
  { body: before, id, version }: StoredAnalysis,
  { bytes, of, values }: Question,
  analysed: Analysed | null,
  nowMs: number
): End => {
  const failure = analysed === null ? "no_metric" : null
  const columns = { names: of.protected, values }
  const summary = analysed === null ? null : summaryOf(analysed)
  const body = { ...before, columns, analysed, summary, failure, completedAtMs: nowMs, dueMs: null } as const
  const analysis: StoredAnalysis = {
    id,
    version,
    body: { ...body, status: analysed === null ? "failed" : "completed" }
  }
  const { digest, modelId, orgUnit, rows, tolerancePpm, writer } = before
  const said = {
    ...(of.label == null ? {} : { label: of.label }),
    model_id: modelId,
    ...(of.positive == null ? {} : { positive: of.positive }),
    ...(of.prediction == null ? {} : { prediction: of.prediction }),
    protected: of.protected,
    ...(of.score == null ? {} : { score: of.score }),
    ...(of.threshold == null ? {} : { threshold_ppm: Math.round(of.threshold * PPM) }),
    values
  }
  const parts = [
    { name: "analysis", bytes: canonicalBytes(said) },
    ...(bytes.length > PART_LIMIT_BYTES ? [] : [{ name: "dataset", bytes }])
  ]
  if (analysed === null || summary === null) return failed(analysis, "no_metric", { parts, writer })
  const recorded = {
    analysis_id: id,
    ...analysed,
    dataset_digest: digest,
    permutations: PERMUTATIONS,
    rows,
    tolerance_ppm: tolerancePpm,
    writer
  }
  return {
    analysis,
    change: {
      puts: [putAnalysis(analysis)],
      records: [{ kind: "analysis.completed", agentId: null, body: recorded as unknown as JsonObject, parts }],
      events: [
        platformEvent("analysis.completed", orgUnit, {
          id,
          model_id: modelId,
          overall_score: scoreOf(summary),
          bias_detected: analysed.bias_detected,
          metrics_summary: Object.fromEntries(Object.entries(summary).filter(([, value]) => value !== null)) as {
            readonly [metric: string]: number
          },
          report_url: pageUrlOf(id)
        })
      ]
    }
  }
}

/** Decides what an analysis leaves whose process ended. */
export const planInterrupted = ({ body, id, version }: StoredAnalysis, nowMs: number): End => {
  const ended = { ...body, status: "failed", failure: "interrupted", completedAtMs: nowMs, dueMs: null } as const
  return failed({ id, version, body: ended }, "interrupted", { parts: [], writer: ANALYSIS_WRITER })
}

const failed = (
  analysis: StoredAnalysis,
  code: AnalysisFailure,
  of: { readonly parts: NonNullable<ChangeSet["records"]>[number]["parts"]; readonly writer: string }
): End => {
  const { body, id } = analysis
  const { digest, modelId, orgUnit, rows } = body
  const recorded = { analysis_id: id, code, dataset_digest: digest, rows, writer: of.writer }
  return {
    analysis,
    change: {
      puts: [putAnalysis(analysis)],
      records: [{ kind: "analysis.failed", agentId: null, body: recorded, parts: of.parts }],
      events: [
        platformEvent("analysis.failed", orgUnit, {
          id,
          model_id: modelId,
          error: { code, message: failureText[code] }
        })
      ]
    }
  }
}
