/**
 * Fairness analyses of data sets. A small one is complete in the answer; a larger one runs in slices, between other
 * work of the process. Spec: document 2 sections 2 and 4; api.md "Document 2"; decision 0077.
 */
import {
  type Analysis,
  analysisBounds,
  type AnalysisCreate,
  AnalysisNotCompleted,
  AnalysisNotFound,
  detailItem,
  type Explanation,
  type ExplanationCreate,
  type FairnessReport,
  InvalidInput,
  RateLimitExceeded
} from "@flyball/contract"
import {
  ANALYSES,
  commitAnswered,
  commitWithRetry,
  EvidenceCrypto,
  inSlices,
  newId,
  sortable,
  unitOwner,
  type Writer
} from "@flyball/core"
import { type ReadFault, Storage } from "@flyball/core/storage"
import { formatInstant, toHex } from "@flyball/evidence"
import {
  analyse,
  type Analysed,
  codeDataSet,
  countDataSet,
  dataSetBytes,
  type DataSetProblem,
  hasMetric,
  PERMUTATIONS,
  PPM
} from "@flyball/rules"
import { Context, Effect, Layer, Queue } from "effect"
import {
  type AnalysisDocument,
  analysisOut,
  pageUrlOf,
  putAnalysis,
  reportIdOf,
  reportOut,
  scoreOf,
  storedAnalysis,
  type StoredAnalysis
} from "./document.ts"
import { explain } from "./explain.ts"
import { planEnd, planInterrupted, type Question } from "./plan-end.ts"
import { reportPage } from "./report-page.ts"

/** Operations on fairness analyses of one org unit. Spec: document 2 section 4. */
export interface FairnessAnalysesApi {
  readonly analyze: (
    unit: string,
    input: AnalysisCreate,
    writer: Writer
  ) => Effect.Effect<Analysis, InvalidInput | RateLimitExceeded | ReadFault>
  readonly get: (unit: string, id: string) => Effect.Effect<Analysis, AnalysisNotFound | ReadFault>
  readonly explain: (input: ExplanationCreate) => Effect.Effect<Explanation, InvalidInput>
  readonly report: (
    unit: string,
    analysisId: string
  ) => Effect.Effect<FairnessReport, AnalysisNotCompleted | AnalysisNotFound | ReadFault>
  /** The report as one HTML page. */
  readonly page: (
    unit: string,
    analysisId: string
  ) => Effect.Effect<string, AnalysisNotCompleted | AnalysisNotFound | ReadFault>
  /** Waits for the next large data set, and analyses it. For the job. */
  readonly work: Effect.Effect<void, ReadFault>
  /** Ends analyses whose process ended. For the job. */
  readonly endOverdue: Effect.Effect<void, ReadFault>
}

/** Rows up to which an analysis is complete in the answer: some tenths of a second. */
const SMALL_ROWS = 20_000
/** How long an analysis may wait and run before it counts as interrupted. Unit: milliseconds. */
const PATIENCE_MS = 600_000
/** Data sets that wait in memory, some MiB each. */
const MAX_WAITING = 32
/** Analyses that one round ends. */
const PAGE = 100

interface Task {
  readonly id: string
  readonly body: AnalysisDocument
  readonly question: Question
}

/** Service of fairness analyses. Spec: document 2 section 4; decision 0077. */
export class FairnessAnalyses extends Context.Service<FairnessAnalyses, FairnessAnalysesApi>()(
  "flyball/platform/FairnessAnalyses"
) {
  static readonly layer: Layer.Layer<FairnessAnalyses, never, Storage> = Layer.effect(
    FairnessAnalyses,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { sha256 } = yield* EvidenceCrypto
      const tasks = yield* Queue.unbounded<Task>()

      const analysed = Effect.fnUntraced(function* (
        { digest, tolerancePpm }: AnalysisDocument,
        { set, values }: Question
      ): Effect.fn.Return<Analysed | null> {
        const groups = values.map(({ length }) => length)
        const attributes = yield* inSlices(countDataSet(set, groups))
        if (!hasMetric(attributes)) return null
        return yield* inSlices(analyse({ attributes, set, digest, tolerancePpm, permutations: PERMUTATIONS }, sha256))
      })

      const read = Effect.fnUntraced(function* (
        unit: string,
        id: string
      ): Effect.fn.Return<StoredAnalysis, AnalysisNotFound | ReadFault> {
        const document = yield* storage.get(ANALYSES, id)
        const stored = document === null ? null : storedAnalysis(document)
        return stored === null || stored.body.orgUnit !== unit
          ? yield* new AnalysisNotFound({ analysisId: id })
          : stored
      })

      const analyze: FairnessAnalysesApi["analyze"] = Effect.fnUntraced(function* (unit, input, writer) {
        const { columns: _columns, rows: _rows, ...of } = input.dataset
        const coded = yield* inSlices(codeDataSet(input.dataset as never))
        if ("msg" in coded) return yield* refusedData(coded)
        const bytes = yield* inSlices(dataSetBytes(coded.set))
        const question: Question = { ...coded, of, bytes }
        const id = yield* newId("anl")
        const { ms: createdAtMs } = yield* storage.asOf
        const body: AnalysisDocument = {
          modelId: input.model_id,
          orgUnit: unit,
          owner: unitOwner(unit),
          writer: writer.id,
          status: "running",
          rows: coded.set.rows,
          digest: toHex(sha256(bytes)),
          tolerancePpm: Math.round((input.tolerance ?? analysisBounds.tolerance) * PPM),
          columns: null,
          analysed: null,
          summary: null,
          failure: null,
          createdAtMs,
          completedAtMs: null,
          dueMs: createdAtMs + PATIENCE_MS
        }
        if (coded.set.rows > SMALL_ROWS) {
          if ((yield* Queue.size(tasks)) >= MAX_WAITING)
            return yield* new RateLimitExceeded({ reason: "analyses-waiting", retryAfterS: 5 })
          const started = { id, version: 0, body }
          const change = { puts: [putAnalysis(started)] }
          const shown = analysisOut(started)
          const answer = yield* commitWithRetry(storage, commitAnswered(storage.commit(change), shown))
          yield* Queue.offer(tasks, { id, body, question })
          return answer
        }
        const found = yield* analysed(body, question)
        return yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const { ms: nowMs } = yield* storage.asOf
            const { analysis, change } = planEnd({ id, version: 0, body }, question, found, nowMs)
            return yield* commitAnswered(storage.commit(change), analysisOut(analysis))
          })
        )
      })

      const report: FairnessAnalysesApi["report"] = Effect.fnUntraced(function* (unit, analysisId) {
        const { body } = yield* read(unit, analysisId)
        if (body.analysed === null || body.summary === null)
          return yield* new AnalysisNotCompleted({ currentStatus: body.status })
        return {
          id: reportIdOf(analysisId),
          analysis_id: analysisId,
          model_id: body.modelId,
          created_at: formatInstant(body.completedAtMs!),
          page_url: pageUrlOf(analysisId),
          overall_score: scoreOf(body.summary),
          bias_detected: body.analysed.bias_detected,
          report: reportOut(body, body.analysed)
        }
      })

      /** Commits the end of an analysis, unless somebody ended it before. */
      const ended = (id: string, plan: (stored: StoredAnalysis, nowMs: number) => { readonly change: object }) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const document = yield* storage.get(ANALYSES, id)
            const stored = document === null ? null : storedAnalysis(document)
            if (stored?.body.status !== "running") return
            const { ms: nowMs } = yield* storage.asOf
            yield* storage.commit(plan(stored, nowMs).change)
          }),
          { collection: ANALYSES, id }
        )

      return FairnessAnalyses.of({
        analyze,
        get: (unit, id) => Effect.map(read(unit, id), (stored) => analysisOut(stored)),
        explain: Effect.fnUntraced(function* (input) {
          const found = yield* inSlices(explain(input, sha256))
          return "msg" in found ? yield* refusedData(found) : found
        }),
        report,
        page: (unit, analysisId) => Effect.map(report(unit, analysisId), reportPage),
        work: Effect.gen(function* () {
          const { body, id, question } = yield* Queue.take(tasks)
          const found = yield* analysed(body, question)
          yield* ended(id, (stored, nowMs) => planEnd(stored, question, found, nowMs))
        }),
        endOverdue: Effect.gen(function* () {
          const { ms: nowMs } = yield* storage.asOf
          const due = yield* storage.range(ANALYSES, "due", { before: sortable(nowMs), limit: PAGE })
          for (const { id } of due) yield* ended(id, planInterrupted)
        })
      })
    })
  )
}

const refusedData = ({ input, msg, path }: DataSetProblem): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["body", "dataset", ...path], "value_error", msg, input)] })
