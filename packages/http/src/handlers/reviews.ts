/** Reviews. */
import { detailItem, InvalidInput } from "@flyball/contract"
import { access, type reviews, unitsFor } from "@flyball/contract/http"
import { Agents, type ReviewPlace, Reviews, type ReviewStep } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf, ServerFacts } from "../request/call.ts"
import { type StreamAdmission, streamAdmission, whileAdmitted } from "../request/admission.ts"
import { type AdmittedCaller, emailOf, scopeOf, writerOf } from "../request/caller.ts"
import { eventStream, ping, serverSentEvent } from "../answer/server-sent-events.ts"
import { untilDrained } from "../request/until-drained.ts"

/** Handlers of the group `reviews`. */
export const reviewsHandlers: HandlersOf<typeof reviews> = {
  list: ({ caller, query }) =>
    Reviews.use((reviews) => reviews.list(query, scopeOf(caller), ownOf(caller))).pipe(Effect.map(json)),
  stream: Effect.fnUntraced(function* (call) {
    const { query, request, server } = call
    const reviews = yield* Reviews
    const first = yield* reviews.placeBehind(yield* lastEventId(request.headers["last-event-id"]))
    const admission = yield* streamAdmission(call)
    const step = (place: ReviewPlace): Promise<ReviewStep | null> => {
      const caller = admission.caller()
      return Effect.runPromise(
        untilDrained(reviews.changes(place, admission.waitMs(), query, scopeOf(caller), ownOf(caller)), server)
      )
    }
    return eventStream(events(first, step, admission, server))
  }),
  get: Effect.fnUntraced(function* (call) {
    const { review_id: id } = call.params
    const reviews = yield* Reviews
    const { wait_ms: waitMs = 0 } = call.query
    const { caller } =
      waitMs === 0
        ? call
        : yield* whileAdmitted(call, waitMs, (still, stretchMs) =>
            Effect.map(reviews.wait(id, stretchMs, scopeOf(still), ownOf(still)), (review) =>
              isLive(review.status) ? null : review
            )
          )
    const [scope, own] = [scopeOf(caller), ownOf(caller)]
    const { agent_id: agentId } = yield* reviews.get(id, scope, own)
    const reviewer = (yield* isReviewerOf(caller, agentId)) ? yield* writerOf(caller) : null
    return json(yield* reviews.detail(id, reviewer, scope, own))
  }),
  claim: Effect.fnUntraced(function* ({ body, caller, params }) {
    const person = yield* personOf(caller)
    return json(yield* (yield* Reviews).claim(params.review_id, body, person, scopeOf(caller)))
  }),
  resolve: Effect.fnUntraced(function* ({ body, caller, params }) {
    const person = yield* personOf(caller)
    return json(yield* (yield* Reviews).resolve(params.review_id, body, person, scopeOf(caller)))
  }),
  withdraw: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Reviews).withdraw(params.review_id, body, yield* writerOf(caller), scopeOf(caller)))
  })
}

/**
 * Reviews that wait for people, then each change. Where none comes in five seconds, a comment says how far the chain
 * was read. Ends when the server drains, and when the caller is no longer admitted.
 */
async function* events(
  first: ReviewPlace,
  step: (place: ReviewPlace) => Promise<ReviewStep | null>,
  admission: StreamAdmission,
  server: ServerFacts
): AsyncGenerator<Uint8Array> {
  // At once, so that the answer begins; without an id, since nothing was sent yet.
  yield ping()
  for (let place = first; !server.draining();) {
    const next = await step(place)
    if (next === null || !(await admission.holds())) return
    place = next.place
    for (const { review, seq } of next.changes) yield serverSentEvent(seq, "review", review)
    if (next.changes.length === 0) yield ping(place.live.length === 0 ? Math.max(0, place.readTo) : null)
  }
}

/** The seq behind which a client continues; null where it begins. */
const lastEventId = (
  header: string | ReadonlyArray<string> | undefined
): Effect.Effect<number | null, InvalidInput> => {
  if (header === undefined || header === "") return Effect.succeed(null)
  const seq = typeof header === "string" && /^(0|[1-9][0-9]{0,15})$/.test(header) ? Number(header) : NaN
  return Number.isSafeInteger(seq)
    ? Effect.succeed(seq)
    : Effect.fail(
        new InvalidInput({
          detail: [
            detailItem(["header", "last-event-id"], "int_parsing", "Expected the id of an event of this stream", header)
          ]
        })
      )
}

const isLive = (status: string): boolean => status === "open" || status === "claimed"

/** An ingest key sees what it requested. */
const ownOf = (caller: AdmittedCaller): string | null => (caller.kind === "key" ? caller.writer.id : null)

const personOf = (caller: AdmittedCaller) =>
  Effect.map(writerOf(caller), (writer) => ({
    writer,
    grants: caller.kind === "user" ? caller.grants : [],
    email: emailOf(caller)
  }))

/** Whether the caller answers reviews where this agent is. Others are shown no arguments, and leave no record. */
const isReviewerOf = Effect.fnUntraced(function* (caller: AdmittedCaller, agentId: string) {
  if (caller.kind !== "user" || caller.readOnly === true) return false
  const orgUnits = unitsFor(access.review, caller)
  if (orgUnits === "*") return true
  return yield* Agents.use((agents) => agents.get(agentId, { orgUnits })).pipe(
    Effect.as(true),
    Effect.catchTag("AgentNotFound", () => Effect.succeed(false))
  )
})
