/** Reviews as a module. Spec: document 1 section 5, item 8; decision 0049. */
import { isId } from "@flyball/contract"
import { access, reviews as rows } from "@flyball/contract/http"
import { Effect, Layer } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationCaller, OperationsOf } from "../../capability/operation.ts"
import type { Scope } from "../../foundation/scope.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Evaluations } from "../evaluations/service.ts"
import { reviewClock } from "./review-clock.ts"
import { Reviews } from "./service.ts"

const operations = {
  list: ({ query }, { own, scope }) => Reviews.use((reviews) => reviews.list(query, scope, own)),
  /** The reviews that wait for people, then each change. */
  stream: Effect.fnUntraced(function* ({ query }, { afterEvent, follow }) {
    const reviews = yield* Reviews
    let place = yield* reviews.placeBehind(afterEvent)
    return follow(({ own, scope }, stretchMs) =>
      Effect.map(reviews.changes(place, stretchMs, query, scope, own), (step) => {
        place = step.place
        return {
          events: step.changes.map(({ review, seq }) => ({ id: seq, data: review })),
          readTo: place.live.length === 0 ? Math.max(0, place.readTo) : null
        }
      })
    )
  }),
  get: Effect.fnUntraced(function* ({ params: { review_id: id }, query: { wait_ms: waitMs = 0 } }, first) {
    const reviews = yield* Reviews
    const { caller } =
      waitMs === 0
        ? { caller: first }
        : yield* first.whileAdmitted(waitMs, ({ own, scope }, stretchMs) =>
            Effect.map(reviews.wait(id, stretchMs, scope, own), (review) => (isLive(review.status) ? null : review))
          )
    const { agent_id: agentId } = yield* reviews.get(id, caller.scope, caller.own)
    const writer = (yield* isReviewer(caller, agentId)) ? yield* caller.writer : null
    const reviewer = writer !== null && isId("user", writer.id) ? writer : null
    return yield* reviews.detail(id, reviewer, caller.scope, caller.own)
  }),
  claim: Effect.fnUntraced(function* ({ body, params }, caller) {
    return yield* (yield* Reviews).claim(params.review_id, body, yield* personOf(caller), caller.scope)
  }),
  resolve: Effect.fnUntraced(function* ({ body, params }, caller) {
    return yield* (yield* Reviews).resolve(params.review_id, body, yield* personOf(caller), caller.scope)
  }),
  withdraw: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Reviews).withdraw(params.review_id, body, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

const isLive = (status: string): boolean => status === "open" || status === "claimed"

const personOf = ({ email, grants, writer }: OperationCaller) =>
  Effect.map(writer, (writer) => ({ writer, grants, email }))

/** Reports whether the caller answers reviews where this agent is. Others see no arguments, and leave no record. */
const isReviewer = Effect.fnUntraced(function* ({ may }: OperationCaller, agentId: string) {
  const scope = may(access.review)
  if (scope.orgUnits === "*" || scope.orgUnits.length === 0) return scope.orgUnits === "*"
  return yield* Agents.use((agents) => agents.get(agentId, scope)).pipe(
    Effect.as(true),
    Effect.catchTag("AgentNotFound", () => Effect.succeed(false))
  )
})

const layer = Reviews.layer.pipe(Layer.provide(Evaluations.layer))

/** Reviews: people answer what an envelope does not let an agent do alone. Spec: decisions 0049 and 0064. */
export const reviews: Module<"reviews", typeof rows, typeof operations, typeof layer, typeof reviewClock> =
  defineModule({
    name: "reviews",
    rows,
    operations,
    layer,
    jobs: [reviewClock],
    reads: [
      {
        missing: "ReviewNotFound",
        member: "reviewId",
        param: "review_id",
        get: (id: string, scope: Scope) => Reviews.use((reviews) => reviews.get(id, scope))
      }
    ]
  })
