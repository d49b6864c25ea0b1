/** The dispatch of a plan as an act of an agent: evaluated over facts of the server, reviewed, witnessed, recorded. */
import {
  type AgentNotFound,
  type DecisionIn,
  DispatchDenied,
  DispatchInReview,
  type Evaluation,
  type Review,
  type RouteDispatch,
  RoutePlanState
} from "@flyball/contract"
import {
  beside,
  Capture,
  commitAnswered,
  commitWithRetry,
  Evaluations,
  Reviews,
  ROUTE_PLANS,
  unitScope,
  type Writer
} from "@flyball/core"
import { type ChangeSet, type CommitReceipt, type ReadFault, Storage } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
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
    const { resolution, status } = yield* readReview(review, scope)
    if (status === "open" || status === "claimed") return yield* new DispatchInReview({ reviewId: review })
    if (resolution !== "approve") return yield* denied(`the review ${review} ended as ${resolution ?? status}`)
  }
  const evaluation = yield* beside(evaluate(stored, { agentId, ref, review }, writer))
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

const readReview = (id: string, scope: ReturnType<typeof unitScope>) =>
  Reviews.use((reviews) => reviews.get(id, scope)).pipe(
    Effect.catchTag("ReviewNotFound", () =>
      Effect.succeed({ status: "expired", resolution: null } as Pick<Review, "status" | "resolution">)
    )
  )

interface Try {
  readonly agentId: string
  readonly ref: string
}

/** Evaluates the dispatch under the agent's envelope, over the facts of the plan. */
const evaluate = Effect.fnUntraced(function* (
  stored: StoredPlan,
  { agentId, ref, review }: Try & { readonly review: string | null },
  writer: Writer
): Effect.fn.Return<Evaluation, AgentNotFound | DispatchDenied | ReadFault, Evaluations> {
  const evaluations = yield* Evaluations
  const scope = unitScope(stored.body.orgUnit)
  const facts = factsOf(stored)
  const { answer } = yield* evaluations.inForce(agentId, scope)
  const declared = new Set(answer.layers.flatMap((layer) => layer.caller_signals))
  const signals = Object.fromEntries(Object.entries({ ...facts, tool: ACTION }).filter(([name]) => declared.has(name)))
  const intent = { agent_id: agentId, action: ACTION, args: facts, signals }
  const of = review === null ? { client_ref: ref } : { client_ref: `${ref}:approved`, approval_id: review }
  const refused = (rule: string) => Effect.fail(new DispatchDenied({ rule }))
  return yield* evaluations.evaluate({ ...intent, ...of }, writer, scope).pipe(
    Effect.catchTags({
      ClientRefReused: () => refused("the dispatch was evaluated with other content"),
      InvalidInput: ({ detail }) => refused(detail[0]?.msg ?? "the dispatch cannot be evaluated")
    })
  )
})

/** What is witnessed of the agent that dispatches. */
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
