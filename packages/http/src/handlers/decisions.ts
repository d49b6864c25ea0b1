/** Capture. */
import { access, type AccessRow, type decisions, unitsFor } from "@flyball/contract/http"
import { Capture, type Scope } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { accessCaller, type AdmittedCaller, asWriter, scopeOf, writerOf } from "../request/caller.ts"

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
  get: ({ caller, params }) =>
    Capture.use((capture) =>
      capture.get(params.decision_id, scopeOf(caller), {
        always: unitsOf(access.govern, caller),
        reviewed: unitsOf(access.review, caller)
      })
    ).pipe(Effect.map(json)),
  settle: Effect.fnUntraced(function* ({ body, caller, params }) {
    const capture = yield* Capture
    return json(yield* capture.settle(params.decision_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  gap: Effect.fnUntraced(function* ({ body, caller, params }) {
    const capture = yield* Capture
    return json(yield* capture.gap(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  end_instance: Effect.fnUntraced(function* ({ body, caller, params }) {
    const capture = yield* Capture
    return json(yield* capture.endInstance(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  })
}

/** Units in which the caller may use the endpoints of another row than its own. */
const unitsOf = (row: AccessRow, caller: AdmittedCaller): Scope => {
  const known = accessCaller(caller)
  return { orgUnits: known === null ? [] : unitsFor(row, known) }
}
