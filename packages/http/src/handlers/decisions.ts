/** Capture. */
import type { decisions } from "@flyball/contract/http"
import { Capture } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { asWriter, scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the group `decisions`. */
export const decisionsHandlers: HandlersOf<typeof decisions> = {
  witness: ({ body, caller, params }) =>
    Capture.use((capture) =>
      Effect.map(
        asWriter(caller, (writer) => capture.witness(params.agent_id, body, writer, scopeOf(caller))),
        json
      )
    ),
  list: ({ caller, params, query }) =>
    Capture.use((capture) => capture.list(params.agent_id, query, scopeOf(caller))).pipe(Effect.map(json)),
  settle: Effect.fnUntraced(function* ({ body, caller, params }) {
    const capture = yield* Capture
    return json(yield* capture.settle(params.decision_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  gap: Effect.fnUntraced(function* ({ body, caller, params }) {
    const capture = yield* Capture
    return json(yield* capture.gap(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  })
}
