/** Envelopes in a random life: begun for agents and org units, then what histories of governed agents do. */
import { Agents, Envelopes, Evaluations } from "@flyball/core"
import { Effect } from "effect"
import { type Act, ann, ask, ben, doing, spending } from "../evaluations/governed-history.ts"
import { chosen, type Doing, type Lived } from "./lived.ts"

/** Begins an envelope for an agent, or for an org unit, and mostly puts it in force. */
export const bound = ({ a, b, c }: Act, lived: Lived): Doing => {
  const agentId = chosen(lived.agentIds, a)
  if (agentId === undefined) return Effect.void
  return Effect.gen(function* () {
    const envelopes = yield* Envelopes
    const whom = c % 4 === 0 ? { org_unit: chosen(["ops", "sales", "Zürich"], b)! } : { agent_id: agentId }
    const { id } = yield* envelopes.create({ name: `envelope ${b}`, ...whom, envelope: spending(400) }, ann)
    lived.governed.agents.push({ agentId, envelopeId: id })
    if (b % 4 > 0) yield* envelopes.publish(id, { mode: b % 4 === 1 ? "shadow" : "enforced" }, ben)
    // At a tier at which its own rules decide.
    yield* Agents.use((agents) =>
      Effect.andThen(agents.update(agentId, { autonomy_tier: "L2" }, ann), agents.activate(agentId, ann))
    )
  })
}

/** The acts of `governed-history.ts` that are dealt here: a new version, a withdrawal or an exception, a question. */
const dealt = [3, 3, 4, 4, 7]

/** Does one of them. */
export const governed = (act: Act, { governed: lived }: Lived): Doing =>
  lived.agents.length === 0
    ? Effect.void
    : Effect.flatMap(Evaluations, (asker) => doing({ ...act, what: chosen(dealt, act.b)! }, [asker], lived))

/** Voids the last evaluation, which only a metered one can be, or withdraws everything that is in force. */
export const takenBack = ({ a, b, c }: Act, { governed: lived }: Lived): Doing => {
  const reason = b % 8 > 3 ? { reason: `because ${b}` } : {}
  const one = chosen(lived.agents, a)
  if (one === undefined) return Effect.void
  if (b % 2 === 0)
    return Envelopes.use((envelopes) => envelopes.withdraw(one.envelopeId, { reason: `since ${b}` }, ann))
  return Effect.gen(function* () {
    const evaluations = yield* Evaluations
    const { id } = yield* ask(evaluations, lived, {
      agent_id: one.agentId,
      client_ref: `back-${a}-${b}-${c}`,
      signals: { tool: "find" },
      run_id: "r0"
    })
    yield* evaluations.void(id, reason, ann)
  })
}
