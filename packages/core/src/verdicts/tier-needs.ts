/** The conditions of each tier, in the terms that sentences about the tier floor use. */
import { autonomyTiers, tierConditionWords } from "@flyball/contract"
import type { TierNeeds } from "@flyball/envelope"
import { tierGate } from "@flyball/rules"

/**
 * The conditions that each tier adds to those for acting at it. A published envelope is left out: an agent under a
 * floor has one.
 */
export const tierNeeds: TierNeeds = autonomyTiers.map((tier) =>
  tierGate
    .filter(({ from, lost, needs }) => from === tier && lost === "lowers" && needs !== "published_envelope")
    .map(({ needs }) => tierConditionWords[needs] ?? needs)
)
