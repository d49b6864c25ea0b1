/** Says in words why an agent acts below its tier. */
import { tierConditionWords } from "@flyball/contract"
import type { AutonomyTier, JsonMap } from "@flyball/rules"
import { killStateOf, lostCondition, readActivations } from "@flyball/rules"

/** The tiers that the body of an evaluation names: the agent's own, and the one at which it acted. */
export const tiersOf = (body: JsonMap): { readonly tier: AutonomyTier; readonly effective: AutonomyTier } => ({
  tier: String(body["tier"]) as AutonomyTier,
  effective: String(body["effective_tier"] ?? body["tier"]) as AutonomyTier
})

/**
 * Why the agent of an evaluation acted below its tier: what is missing, and for which tier, or the activation of the
 * kill switch that lowers it; both where both do. Null where it acted at its tier.
 */
export const lostWords = (body: JsonMap): string | null => {
  const { effective, tier } = tiersOf(body)
  if (effective >= tier) return null
  const { activation, effectiveResponse } = killStateOf(readActivations(body["activations"]))
  const stepped = effectiveResponse === "step_down" ? activation : null
  const before = stepped === null ? effective : (`L${Number(effective.slice(1)) + 1}` as AutonomyTier)
  const lost = lostCondition(tier, before)
  return [
    ...(lost === null ? [] : [`${lost.tier} needs ${tierConditionWords[lost.condition] ?? lost.condition}`]),
    ...(stepped === null ? [] : [`the kill switch lowers it by one (${stepped.id})`])
  ].join(", and ")
}

/** The reason of a lower effective tier, as a sentence. */
export const tierReason = (body: JsonMap): string | null => {
  const { effective, tier } = tiersOf(body)
  const words = lostWords(body)
  return words === null ? null : `The agent is registered at ${tier} and acts at ${effective}: ${words}.`
}
