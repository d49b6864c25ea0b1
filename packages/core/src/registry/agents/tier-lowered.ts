/** The event of an agent that acts at a lower tier from now on. Pure. */
import type { EventDraft } from "../../storage/outbox/outbox.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { StoredAgent } from "./document.ts"
import type { AgentDocument } from "@flyball/rules"
import { effectiveTier, lostCondition, type TierFacts } from "@flyball/rules"

/** An agent as one side of an act has it. */
export interface TierSide {
  readonly agent: AgentDocument
  readonly facts: TierFacts
}

/**
 * The event where an act takes a condition from an agent that is active before and after; none where the agent acts at
 * the same tier, or a person gave it another one.
 */
export const tierLowered = (
  { id }: Pick<StoredAgent, "id">,
  before: TierSide,
  after: TierSide,
  writer: Writer
): ReadonlyArray<EventDraft> => {
  const { autonomyTier, status } = after.agent
  if (before.agent.status !== "active" || status !== "active" || before.agent.autonomyTier !== autonomyTier) return []
  const effective = effectiveTier(after.agent, after.facts)
  const lost = lostCondition(autonomyTier, effective)
  return lost === null || effective >= effectiveTier(before.agent, before.facts)
    ? []
    : [
        event("agent.tier_lowered", {
          agent_id: id,
          autonomy_tier: autonomyTier,
          effective_tier: effective,
          missing: lost.condition,
          writer: writer.id
        })
      ]
}
