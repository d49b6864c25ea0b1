/** Fairness analyses as a module. Spec: document 2 section 4; api.md "Document 2"; decision 0077. */
import { AnalysisNotFound } from "@flyball/contract"
import { fairnessAnalyses as rows } from "@flyball/contract/http"
import {
  ANALYSES,
  defineModule,
  Lists,
  type Module,
  oneUnit,
  type OperationsOf,
  rounds,
  type Scope,
  unitOfDocument,
  unitOwner
} from "@flyball/core"
import { utf8 } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { analysisIdOf, analysisOut, listedAnalysis, storedAnalysis } from "./document.ts"
import { FairnessAnalyses } from "./service.ts"

const own = (scope: Scope, { org_unit }: { readonly org_unit?: string }) => oneUnit(scope, org_unit)
const ofAnalysis = (scope: Scope, { org_unit }: { readonly org_unit?: string }, id: string) =>
  unitOfDocument(scope, org_unit, { collection: ANALYSES, id })

/** A report that is not there yet is none. */
const missing = { AnalysisNotCompleted: () => Effect.fail(new AnalysisNotFound({})) } as const

const operations = {
  analyze: Effect.fnUntraced(function* ({ body, query }, { scope, writer }) {
    return yield* (yield* FairnessAnalyses).analyze(yield* own(scope, query), body, yield* writer)
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* own(scope, query))
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.list.id, owner, query }, ANALYSES, listedAnalysis, "model_id")
    )
    return { data: found.map((document) => analysisOut(storedAnalysis(document), false)), ...page }
  }),
  get: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* FairnessAnalyses).get(yield* ofAnalysis(scope, query, params.analysis_id), params.analysis_id)
  }),
  explain: Effect.fnUntraced(function* ({ body, query }, { scope }) {
    yield* own(scope, query)
    return yield* (yield* FairnessAnalyses).explain(body)
  }),
  report: Effect.fnUntraced(function* ({ body, query }, { scope }) {
    return yield* (yield* FairnessAnalyses).report(yield* ofAnalysis(scope, query, body.analysis_id), body.analysis_id)
  }),
  getReport: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    const unit = yield* ofAnalysis(scope, query, analysisIdOf(params.report_id))
    const { report } = yield* FairnessAnalyses
    return yield* report(unit, analysisIdOf(params.report_id)).pipe(Effect.catchTags(missing))
  }),
  page: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    const unit = yield* ofAnalysis(scope, query, analysisIdOf(params.report_id))
    const { page } = yield* FairnessAnalyses
    return utf8(yield* page(unit, analysisIdOf(params.report_id)).pipe(Effect.catchTags(missing)))
  })
} satisfies OperationsOf<typeof rows>

/** How often analyses are searched whose process ended. Unit: milliseconds. */
const ROUND_MS = 60_000

/** Analyses of large data sets, one after another, and the end of those that another process left. */
const jobs: Layer.Layer<never, never, FairnessAnalyses> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { endOverdue, work } = yield* FairnessAnalyses
    const failed = (what: string) =>
      Effect.catchCause((cause) => Effect.logError(`${what} The analysis fails as interrupted.`, cause))
    yield* work.pipe(failed("An analysis could not be recorded."), Effect.forever, Effect.forkScoped)
    yield* rounds(endOverdue, {
      failed: "Interrupted analyses are not ended; each minute tries again.",
      over: "Interrupted analyses are ended again.",
      pause: Effect.sleep(ROUND_MS)
    })
  })
)

/** Fairness analyses, explanations and reports. Spec: document 2 section 4. */
export const fairnessAnalyses: Module<
  "fairness_analyses",
  typeof rows,
  typeof operations,
  typeof FairnessAnalyses.layer,
  typeof jobs
> = defineModule({ name: "fairness_analyses", rows, operations, layer: FairnessAnalyses.layer, jobs: [jobs] })
