/** The dispatch of a plan as an act of an agent: evaluated over facts of the server, reviewed, witnessed, recorded. */
import {
  type AgentNotFound,
  type DecisionIn,
  DispatchDenied,
  DispatchInReview,
  type RouteDispatch,
  RoutePlanState
} from "@flyball/contract"
import {
  beside,
  Capture,
  commitAnswered,
  commitWithRetry,
  type Evaluations,
  type Reviews,
  ROUTE_PLANS,
  unitScope,
  type Writer
} from "@flyball/core"
import { type ChangeSet, type CommitReceipt, type ReadFault, Storage } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { evaluateAct, reviewOf } from "../calling-agent.ts"
import { putCourses } from "../tracking/courses.ts"
import { coursesOf, putPlan, type RoutePlanDocument, storedPlan, type StoredPlan, stopsOf } from "./document.ts"

/** The action that an envelope names. */
const ACTION = "fleet.dispatch"

/** Facts that rules read as arguments. No caller states them. */
const factsOf = ({ body: { plan }, id }: StoredPlan) => ({
  plan_id: id,
  stops: stopsOf(plan!),
  distance_m: plan!.metres,
  driving_s: plan!.driving,
  vehicles: plan!.routes.length,
  unassigned: plan!.unassigned.length
})

/** Dispatches a plan. Once dispatched, the same agent gets the same answer. */
export const dispatchPlan = Effect.fnUntraced(function* (
  stored: StoredPlan,
  agentId: string,
  writer: Writer
): Effect.fn.Return<
  RouteDispatch,
  AgentNotFound | DispatchDenied | DispatchInReview | RoutePlanState | ReadFault,
  Capture | Evaluations | Reviews | Storage
> {
  const storage = yield* Storage
  const { body, id } = stored
  if (body.dispatch !== null && body.dispatch.agentId === agentId) return dispatchOut(stored)
  if (body.plan === null || body.dispatch !== null)
    return yield* new RoutePlanState({ currentStatus: body.dispatch === null ? body.status : "dispatched" })
  const scope = unitScope(body.orgUnit)
  const ref = `${id}:${body.refused}`
  const changed = (change: (before: RoutePlanDocument) => RoutePlanDocument) =>
    beside(
      commitWithRetry(
        storage,
        Effect.gen(function* () {
          const document = yield* storage.get(ROUTE_PLANS, id)
          if (document === null) return
          const now = storedPlan(document)
          yield* storage.commit({ puts: [putPlan({ ...now, body: change(now.body) })] })
        }),
        { collection: ROUTE_PLANS, id }
      )
    )
  const denied = (rule: string) =>
    changed((before) => ({ ...before, refused: body.refused + 1, review: null })).pipe(
      Effect.andThen(Effect.fail(new DispatchDenied({ rule })))
    )

  const review = body.review?.agentId === agentId ? body.review.id : null
  if (review !== null) {
    const ended = yield* reviewOf(review, scope)
    if (ended === "open") return yield* new DispatchInReview({ reviewId: review })
    if (ended !== "approve") return yield* denied(`the review ${review} ended as ${ended ?? "expired"}`)
  }
  const refused = (rule: string) => Effect.fail(new DispatchDenied({ rule }))
  const act = { agentId, action: ACTION, args: factsOf(stored), approvalId: review }
  const evaluation = yield* beside(
    evaluateAct({ ...act, ref: review === null ? ref : `${ref}:approved` }, writer, scope).pipe(
      Effect.catchTags({
        ClientRefReused: () => refused("the dispatch was evaluated with other content"),
        InvalidInput: ({ detail }) => refused(detail[0]?.msg ?? "the dispatch cannot be evaluated")
      })
    )
  )
  if (evaluation.outcome === "require_review" && evaluation.review_id !== null) {
    const reviewId = evaluation.review_id
    yield* changed((before) => ({ ...before, review: { id: reviewId, agentId } }))
    return yield* new DispatchInReview({ reviewId })
  }
  if (evaluation.outcome !== "allow" && evaluation.outcome !== "allow_with_notice")
    return yield* denied(evaluation.matched_rule)

  let answer: RouteDispatch | null = null
  /** Commits the dispatch with the act that was witnessed: a plan that another agent dispatched has no second act. */
  const dispatched = Effect.fnUntraced(function* (witnessed: ChangeSet) {
    const now = storedPlan((yield* storage.get(ROUTE_PLANS, id))!)
    if (now.body.dispatch !== null) return yield* Effect.die(new DispatchedBefore(now))
    const { ms: atMs } = yield* storage.asOf
    const dispatch = { agentId, evaluationId: evaluation.id, atMs }
    const after = { ...now, body: { ...now.body, dispatch, review: null } }
    const record = {
      agent_id: agentId,
      evaluation_id: evaluation.id,
      plan_digest: body.planDigest!,
      plan_id: id,
      writer: writer.id
    }
    const acts = witnessed.records ?? []
    const courses = coursesOf(now.body, atMs)
    const change = {
      ...witnessed,
      puts: [...(witnessed.puts ?? []), putPlan(after), ...(courses === null ? [] : [putCourses(id, courses)])],
      records: [...acts, { kind: "route_plan.dispatched", agentId, body: record, parts: [] }]
    }
    let receipt: CommitReceipt | null = null
    const commit = Effect.map(storage.commit(change), (committed) => (receipt = committed))
    answer = yield* commitAnswered(commit, dispatchOut(after))
    // Capture answers the decisions alone.
    return { ...receipt!, records: receipt!.records.slice(0, acts.length) }
  })
  const alone = (refusal: unknown) =>
    Effect.logError("The dispatch of a plan was not witnessed.", refusal).pipe(
      Effect.andThen(commitWithRetry(storage, dispatched({})))
    )
  yield* Capture.use((capture) =>
    capture.witness(agentId, [actOf(id, ref, evaluation.id)], writer, scope, dispatched)
  ).pipe(
    Effect.catchTags({
      AgentNotFound: alone,
      CaptureNotMediated: alone,
      ClientRefReused: alone,
      DecisionTooLarge: alone,
      InvalidInput: alone
    }),
    Effect.catchDefect((defect) => {
      if (!(defect instanceof DispatchedBefore)) return Effect.die(defect)
      if (defect.stored.body.dispatch!.agentId !== agentId)
        return Effect.fail(new RoutePlanState({ currentStatus: "dispatched" }))
      return Effect.sync(() => (answer = dispatchOut(defect.stored)))
    })
  )
  return answer!
})

/** The plan was dispatched before. */
class DispatchedBefore extends Error {
  readonly stored: StoredPlan
  constructor(stored: StoredPlan) {
    super("dispatched before")
    this.stored = stored
  }
}

const dispatchOut = ({ body, id }: StoredPlan): RouteDispatch => ({
  plan_id: id,
  agent_id: body.dispatch!.agentId,
  evaluation_id: body.dispatch!.evaluationId,
  plan_digest: `sha256:${body.planDigest!}`,
  dispatched_at: formatInstant(body.dispatch!.atMs)
})

/** The decision of the agent that dispatches. */
const actOf = (id: string, ref: string, evaluation: string): DecisionIn => ({
  client_ref: ref,
  kind: "tool_call",
  action: ACTION,
  evaluation_id: evaluation,
  run_id: id,
  status: "ok",
  mode: "enforced",
  decided_by: "server"
})
