/** Reviews. */
import { access, type reviews, unitsFor } from "@flyball/contract/http"
import { Agents, Reviews } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer.ts"
import type { HandlersOf } from "../call.ts"
import { type AdmittedCaller, emailOf, scopeOf, writerOf } from "../caller.ts"
import { untilDrained } from "../until-drained.ts"

/** Handlers of the group `reviews`. */
export const reviewsHandlers: HandlersOf<typeof reviews> = {
  list: ({ caller, query }) =>
    Reviews.use((reviews) => reviews.list(query, scopeOf(caller), ownOf(caller))).pipe(Effect.map(json)),
  get: Effect.fnUntraced(function* ({ caller, params: { review_id: id }, query, server }) {
    const reviews = yield* Reviews
    const [scope, own] = [scopeOf(caller), ownOf(caller)]
    const { wait_ms: waitMs = 0 } = query
    if (waitMs > 0) yield* untilDrained(reviews.wait(id, waitMs, scope, own), server)
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
