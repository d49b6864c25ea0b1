/** Two agents that dispatch plans and send documents, each under an envelope of its own. */
import { Agents, Envelopes, systemHost } from "@flyball/core"
import { Effect } from "effect"
import { type Act, ask, type Client } from "./client.ts"
import { allowing, second } from "./governed-acts.ts"

/** Allows routes of up to 2 stops, has people see those of up to 5, and denies longer ones. Documents are read. */
const envelope = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["fleet.dispatch", "documents.extract"], source: "caller" },
    stops: { type: "int", min: 0, max: 1_000, source: "args", from: "/stops", on_missing: 0 }
  },
  effects: { "fleet.dispatch": "write_reversible", "documents.extract": "read" },
  rules: [
    {
      id: "short",
      outcome: "allow",
      when: [
        { signal: "tool", eq: "fleet.dispatch" },
        { signal: "stops", lte: 2 }
      ]
    },
    {
      id: "longer",
      outcome: "require_review",
      when: [
        { signal: "tool", eq: "fleet.dispatch" },
        { signal: "stops", gt: 2 },
        { signal: "stops", lte: 5 }
      ],
      obligations: [{ type: "reviewers", role: "reviewer", approvals: 1, ttl_ms: 86_400_000 }]
    },
    { id: "read", outcome: "allow", when: [{ signal: "tool", eq: "documents.extract" }] }
  ],
  default: { outcome: "deny" }
}

/** One of the clerks, registered at first sight; null when nobody knows. */
export const clerkOf = Effect.fnUntraced(function* (client: Client) {
  const name = ["clerk a", "clerk b"][client.pick(2)]!
  const known = client.ledger.agents.get(name)
  if (known !== undefined) return known
  const owner = { org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" }
  const register = Agents.use((agents) => agents.register({ name, autonomy_tier: "L2", ...owner }, systemHost))
  const made = yield* allowing(client, "register", yield* ask(client, "register", register))
  if (made !== null) client.ledger.agents.set(name, made.agent.id)
  return made?.agent.id ?? null
})

/** Brings the envelope of a clerk into force. Before that it may do nothing. */
export const appoint: Act = Effect.fnUntraced(function* (client) {
  const agentId = yield* clerkOf(client)
  if (agentId === null) return
  const begin = Envelopes.use((all) => all.create({ name: "of a clerk", agent_id: agentId, envelope }, systemHost))
  const made = yield* ask(client, "begin", begin)
  const id =
    made === null
      ? null
      : made.done
        ? made.value.id
        : made.refusal._tag === "EnvelopeExists"
          ? made.refusal.envelopeId
          : null
  if (id == null) return
  const publish = Envelopes.use((envelopes) => envelopes.publish(id, {}, second))
  yield* allowing(client, "publish", yield* ask(client, "publish", publish))
  const activate = Agents.use((agents) => agents.activate(agentId, systemHost))
  yield* allowing(client, "activate", yield* ask(client, "activate", activate))
})
