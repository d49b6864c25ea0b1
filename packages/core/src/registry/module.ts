/** The registry as a module: agents and their identities. Spec: document 1 sections 3 and 4, `/agents`. */
import { access, agents as rows } from "@flyball/contract/http"
import { Effect, Layer } from "effect"
import { defineModule, type Module } from "../capability/module.ts"
import type { OperationsOf } from "../capability/operation.ts"
import { knownAfter } from "../capability/page-of.ts"
import type { Scope } from "../foundation/scope.ts"
import { agentClock } from "./agents/clock.ts"
import { Agents } from "./agents/service.ts"
import { Identities } from "./identity/service.ts"

const get = (id: string, scope: Scope) => Agents.use((agents) => agents.get(id, scope))

const operations = {
  create: Effect.fnUntraced(function* ({ body }, { maxTier, may, scope: { orgUnits }, writer }) {
    // Limits of a key, and of a person bound to units.
    const limits = orgUnits === "*" ? {} : { key: { orgUnits, maxTier } }
    return yield* (yield* Agents).create(body, yield* writer, { ...limits, reads: may(access.readOwn) })
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    yield* knownAfter(query.after, (id) => get(id, scope))
    return yield* (yield* Agents).list(query, scope)
  }),
  get: ({ params }, { scope }) => get(params.agent_id, scope),
  timeline: ({ params, query }, { scope }) => Agents.use((agents) => agents.timeline(params.agent_id, query, scope)),
  orphans: Effect.fnUntraced(function* ({ query }, { scope }) {
    yield* knownAfter(query.after, (id) => get(id, scope))
    return yield* (yield* Agents).orphans(scope, query)
  }),
  update: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Agents).update(params.agent_id, body, yield* writer, scope)
  }),
  activate: Effect.fnUntraced(function* ({ params }, { scope, writer }) {
    return yield* (yield* Agents).activate(params.agent_id, yield* writer, scope)
  }),
  suspend: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Agents).suspend(params.agent_id, body, yield* writer, scope)
  }),
  decommission: Effect.fnUntraced(function* ({ params }, { scope, writer }) {
    return yield* (yield* Agents).decommission(params.agent_id, yield* writer, scope)
  }),
  recertify: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Agents).recertify(params.agent_id, body, yield* writer, scope)
  }),
  transferOwnership: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Agents).transferOwnership(params.agent_id, body, yield* writer, scope)
  }),
  attachIdentity: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Identities).attach(params.agent_id, body, yield* writer, scope)
  }),
  disown: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Agents).disown(params.agent_id, body, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

const layer = Layer.mergeAll(Agents.layer, Identities.layer)

/** The registry of agents. Spec: document 1 sections 3 and 4, `/agents`; decision 0013. */
export const agents: Module<"agents", typeof rows, typeof operations, typeof layer, typeof agentClock> = defineModule({
  name: "agents",
  rows,
  operations,
  layer,
  jobs: [agentClock],
  reads: [{ missing: "AgentNotFound", member: "agentId", param: "agent_id", get }]
})
