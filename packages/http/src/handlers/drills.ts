/** Drills. */
import type { drills } from "@flyball/contract/http"
import { Drills, knownAfter } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the group `drills`. */
export const drillsHandlers: HandlersOf<typeof drills> = {
  start: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* Drills).start(body, yield* writerOf(caller), scopeOf(caller)))
  }),
  list: ({ caller, query }) =>
    Drills.use((drills) =>
      Effect.andThen(
        knownAfter(query.after, (id) => drills.get(id, scopeOf(caller))),
        drills.list(query, scopeOf(caller))
      )
    ).pipe(Effect.map(json)),
  get: ({ caller, params }) =>
    Drills.use((drills) => drills.get(params.drill_id, scopeOf(caller))).pipe(Effect.map(json)),
  complete: Effect.fnUntraced(function* ({ caller, params }) {
    return json(yield* (yield* Drills).complete(params.drill_id, yield* writerOf(caller), scopeOf(caller)))
  }),
  attest: Effect.fnUntraced(function* ({ caller, params }) {
    return json(yield* (yield* Drills).attest(params.drill_id, yield* writerOf(caller), scopeOf(caller)))
  })
}
