/** The registry. */
import type { agents } from "@flyball/contract/http"
import { Agents } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer.ts"
import type { HandlersOf } from "../call.ts"
import { limitsOf, scopeOf, writerOf } from "../caller.ts"

/** Handlers of the group `agents`. */
export const agentsHandlers: HandlersOf<typeof agents> = {
  create: Effect.fnUntraced(function*({ body, caller }) {
    const agents = yield* Agents
    const limits = limitsOf(caller)
    return json(yield* agents.create(body, yield* writerOf(caller), limits === null ? {} : { key: limits }))
  }),
  list: ({ caller, query }) => Agents.use((agents) => agents.list(query, scopeOf(caller))).pipe(Effect.map(json)),
  get: ({ caller, params }) => Agents.use((agents) => agents.get(params.agent_id, scopeOf(caller))).pipe(Effect.map(json))
}
