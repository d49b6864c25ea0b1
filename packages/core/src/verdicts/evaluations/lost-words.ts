/** Says in words why an agent acts below its tier. */
import { autonomyTiers, tierConditionWords } from "@flyball/contract"
import type { AutonomyTier, JsonMap } from "@flyball/rules"
import type { TierNeeds } from "@flyball/envelope"
import { type LostCondition, lostCondition, tierGate } from "@flyball/rules"

/** The tiers that the body of an evaluation names: the agent's own, and the one at which it acted. */
export const tiersOf = (body: JsonMap): { readonly tier: AutonomyTier; readonly effective: AutonomyTier } => ({
  tier: String(body["tier"]) as AutonomyTier,
  effective: String(body["effective_tier"] ?? body["tier"]) as AutonomyTier
})

/**
 * What each tier adds to what an agent needs to act at it. A published envelope is left out: an agent
 * under a floor has one.
 */
export const tierNeeds: TierNeeds = autonomyTiers.map((tier) =>
  tierGate
    .filter(({ from, lost, needs }) => from === tier && lost === "lowers" && needs !== "published_envelope")
    .map(({ needs }) => tierConditionWords[needs] ?? needs)
)

/** What is missing, and for which tier. */
export const lostWords = ({ condition, tier }: LostCondition): string =>
  `${tier} needs ${tierConditionWords[condition] ?? condition}`

/** Why an agent acts below its tier, as a sentence; null where it does not. */
export const tierReason = (tier: AutonomyTier, effective: AutonomyTier): string | null => {
  const lost = lostCondition(tier, effective)
  return lost === null ? null : `The agent is registered at ${tier} and acts at ${effective}: ${lostWords(lost)}.`
}
