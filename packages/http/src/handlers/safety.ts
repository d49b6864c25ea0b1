/** The safety view. */
import type { safety } from "@flyball/contract/http"
import { Agents, Safety, knownAfter } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { scopeOf } from "../request/caller.ts"

/** Handlers of the group `safety`. */
export const safetyHandlers: HandlersOf<typeof safety> = {
  view: ({ caller, query }) =>
    Effect.andThen(
      Agents.use((agents) => knownAfter(query.after, (id) => agents.get(id, scopeOf(caller)))),
      Safety.use((view) => view.view(query, scopeOf(caller)))
    ).pipe(Effect.map(json))
}
