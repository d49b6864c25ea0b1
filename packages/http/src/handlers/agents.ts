/** The registry. */
import type { agents } from "@flyball/contract/http"
import { Agents, Identities, Provenance, knownAfter, pageOf } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { asWriter, limitsOf, readScopeOf, scopeOf, writerOf } from "../request/caller.ts"

/** Handlers of the group `agents`. */
export const agentsHandlers: HandlersOf<typeof agents> = {
  create: ({ body, caller }) =>
    Agents.use((agents) => {
      const limits = limitsOf(caller)
      return Effect.map(
        asWriter(caller, (writer) =>
          agents.create(body, writer, { ...(limits === null ? {} : { key: limits }), reads: readScopeOf(caller) })
        ),
        json
      )
    }),
  list: ({ caller, query }) =>
    Agents.use((agents) =>
      Effect.andThen(
        knownAfter(query.after, (id) => agents.get(id, scopeOf(caller))),
        agents.list(query, scopeOf(caller))
      )
    ).pipe(Effect.map(json)),
  get: ({ caller, params }) =>
    Agents.use((agents) => agents.get(params.agent_id, scopeOf(caller))).pipe(Effect.map(json)),
  timeline: ({ caller, params, query }) =>
    Agents.use((agents) => agents.timeline(params.agent_id, query, scopeOf(caller))).pipe(Effect.map(json)),
  addProvenance: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Provenance).add(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  provenance: Effect.fnUntraced(function* ({ caller, params, query }) {
    return json(yield* pageOf(yield* (yield* Provenance).list(params.agent_id, scopeOf(caller)), query, ({ id }) => id))
  }),
  orphans: ({ caller, query }) =>
    Agents.use((agents) =>
      Effect.andThen(
        knownAfter(query.after, (id) => agents.get(id, scopeOf(caller))),
        agents.orphans(scopeOf(caller), query)
      )
    ).pipe(Effect.map(json)),
  update: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Agents).update(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  activate: Effect.fnUntraced(function* ({ caller, params }) {
    return json(yield* (yield* Agents).activate(params.agent_id, yield* writerOf(caller), scopeOf(caller)))
  }),
  suspend: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Agents).suspend(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  decommission: Effect.fnUntraced(function* ({ caller, params }) {
    return json(yield* (yield* Agents).decommission(params.agent_id, yield* writerOf(caller), scopeOf(caller)))
  }),
  recertify: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Agents).recertify(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  transferOwnership: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(
      yield* (yield* Agents).transferOwnership(params.agent_id, body, yield* writerOf(caller), scopeOf(caller))
    )
  }),
  attachIdentity: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Identities).attach(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  }),
  disown: Effect.fnUntraced(function* ({ body, caller, params }) {
    return json(yield* (yield* Agents).disown(params.agent_id, body, yield* writerOf(caller), scopeOf(caller)))
  })
}
