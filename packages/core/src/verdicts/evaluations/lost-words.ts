/** Says in words why an agent acts below its tier. */
import { tierConditionWords } from "@flyball/contract"
import type { AutonomyTier, JsonMap } from "@flyball/rules"
import { type LostCondition, lostCondition } from "@flyball/rules"

/** The tiers that the body of an evaluation names: the agent's own, and the one at which it acted. */
export const tiersOf = (body: JsonMap): { readonly tier: AutonomyTier; readonly effective: AutonomyTier } => ({
  tier: String(body["tier"]) as AutonomyTier,
  effective: String(body["effective_tier"] ?? body["tier"]) as AutonomyTier
})

/** The missing conditions, and the tier that needs them. */
export const lostWords = ({ condition, tier }: LostCondition): string =>
  `${tier} needs ${tierConditionWords[condition] ?? condition}`

/** Why an agent acts below its tier, as a sentence; null where it does not. */
export const tierReason = (tier: AutonomyTier, effective: AutonomyTier): string | null => {
  const lost = lostCondition(tier, effective)
  return lost === null ? null : `The agent is registered at ${tier} and acts at ${effective}: ${lostWords(lost)}.`
}
