/** Circuit breakers. */
import type { breakers } from "@flyball/contract/http"
import { Breakers, pageOf } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the group `breakers`. */
export const breakersHandlers: HandlersOf<typeof breakers> = {
  arm: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Breakers).arm(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  list: Effect.fnUntraced(function* ({ caller, params, query }) {
    return json(yield* pageOf(yield* (yield* Breakers).list(params.agent_id, scopeOf(caller)), query, ({ id }) => id))
  }),
  preview: ({ body, caller, params }) =>
    Breakers.use((breakers) => breakers.preview(params.agent_id, body, scopeOf(caller))).pipe(Effect.map(json)),
  get: ({ caller, params }) =>
    Breakers.use((breakers) => breakers.get(params.breaker_id, scopeOf(caller))).pipe(Effect.map(json)),
  update: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Breakers).update(params.breaker_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  release: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Breakers).release(params.breaker_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  check: ({ caller }) => Breakers.use((breakers) => breakers.check(scopeOf(caller))).pipe(Effect.map(json))
}
