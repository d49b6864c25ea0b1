/** The kill switch. */
import type { kill } from "@flyball/contract/http"
import { Kill } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer.ts"
import type { HandlersOf } from "../call.ts"
import { scopeOf, writerOf } from "../caller.ts"

/** Handlers of the group `kill`. */
export const killHandlers: HandlersOf<typeof kill> = {
  activate: Effect.fnUntraced(function* ({ body, caller, query }) {
    const dryRun = query.dry_run === "true"
    return json(yield* (yield* Kill).activate(body, yield* writerOf(caller), scopeOf(caller), { dryRun }))
  }),
  release: Effect.fnUntraced(function* ({ body, caller }) {
    return json(yield* (yield* Kill).release(body, yield* writerOf(caller), scopeOf(caller)))
  }),
  activation: ({ caller, params }) =>
    Kill.use((kill) => kill.activation(params.activation_id, scopeOf(caller))).pipe(Effect.map(json)),
  status: ({ caller, query }) =>
    Kill.use((kill) =>
      kill.status(
        { type: query.target_type === "model" ? "model" : "agent", id: query.target_id },
        scopeOf(caller),
        query.nonce
      )
    ).pipe(Effect.map(json))
}
