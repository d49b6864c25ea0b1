/**
 * The conditions that an agent must meet before it acts at a tier. The one such table.
 *
 * Spec: api "agents and registry": activating, and raising the tier of an active agent, passes this gate; decision
 * 0013.
 */
import type { AutonomyTier } from "./document.ts"

/** A condition of the gate. `recertification`: no due date has passed. Spec: decision 0038. */
export type TierCondition = "owner" | "recertification" | "published_envelope" | "verified_identity" | "attested_drill"

/** Age up to which an attested drill counts. Unit: milliseconds. Spec: decisions 0038 and 0048. */
export const DRILL_AGE_MS = 30 * 86_400_000

/**
 * A row: the lowest tier that needs a condition, and what losing it does to an active agent. `suspends`: after a time
 * of its own (`due.ts`). `lowers`: its effective tier, at once.
 */
export interface GateRow {
  readonly from: AutonomyTier
  readonly needs: TierCondition
  readonly lost: "suspends" | "lowers"
}

/** The conditions of all tiers, in the order of tiers. Spec: decisions 0013 and 0038. */
export const tierGate: ReadonlyArray<GateRow> = [
  { from: "L0", needs: "owner", lost: "suspends" },
  { from: "L0", needs: "recertification", lost: "suspends" },
  { from: "L2", needs: "published_envelope", lost: "lowers" },
  { from: "L3", needs: "verified_identity", lost: "lowers" },
  { from: "L4", needs: "attested_drill", lost: "lowers" }
]

/** The conditions of one tier. Spec: decision 0038. */
export const conditionsOf = (tier: AutonomyTier): ReadonlyArray<TierCondition> =>
  tierGate.filter(({ from }) => tier >= from).map(({ needs }) => needs)

/** Lists the unmet conditions of a tier, in the order of the table. Spec: decisions 0013 and 0038. */
export const missingFor = (tier: AutonomyTier, met: ReadonlySet<TierCondition>): ReadonlyArray<TierCondition> =>
  conditionsOf(tier).filter((condition) => !met.has(condition))
