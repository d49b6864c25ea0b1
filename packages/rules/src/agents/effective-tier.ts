/**
 * The tier at which an agent acts: the highest one, up to its own, whose conditions it still meets.
 *
 * The gate of `tier-gate.ts` is passed once. What an active agent loses after that lowers this tier and nothing else.
 * Spec: decision 0038.
 */
import { type AgentDocument, type AutonomyTier, autonomyTiers } from "./document.ts"
import { isCompleteOwner } from "./owner.ts"
import { conditionsOf, type TierCondition, tierGate } from "./tier-gate.ts"

/** Evidence about an agent that is stored outside its document. Spec: decision 0038. */
export interface TierFacts {
  /** True while an envelope is in force for it. */
  readonly hasEnvelope: boolean
  /** True while an attested drill of it counts. */
  readonly hasDrill: boolean
}

/**
 * True when the tier of an agent can be lowered at all: only active agents act, and up to L1 no condition can be lost.
 * Spec: decision 0038.
 */
export const canBeLowered = ({ autonomyTier, status }: Pick<AgentDocument, "autonomyTier" | "status">): boolean =>
  status === "active" && tierGate.some(({ from, lost }) => lost === "lowers" && from <= autonomyTier)

/** The tier at which an agent acts. Spec: decision 0038. */
export const effectiveTier = (agent: AgentDocument, facts: TierFacts): AutonomyTier => {
  if (!canBeLowered(agent)) return agent.autonomyTier
  const met: { readonly [C in TierCondition]?: boolean } = {
    published_envelope: facts.hasEnvelope,
    verified_identity: agent.identityVerified === true,
    attested_drill: facts.hasDrill
  }
  const lost = tierGate.find(
    ({ from, lost, needs }) => lost === "lowers" && from <= agent.autonomyTier && met[needs] !== true
  )
  return lost === undefined ? agent.autonomyTier : autonomyTiers[autonomyTiers.indexOf(lost.from) - 1]!
}

/**
 * Lists the conditions of its own tier that an agent does not meet, in the order of tiers; none at its end.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Spec: api.md "Small things decided"; decision 0038.
 */
export const unmetConditions = (
  agent: AgentDocument,
  { hasDrill, hasEnvelope }: TierFacts,
  nowMs: number
): ReadonlyArray<TierCondition> => {
  if (agent.status === "decommissioned") return []
  const met: { readonly [C in TierCondition]: boolean } = {
    owner: isCompleteOwner(agent),
    recertification: agent.recertDueAtMs === null || agent.recertDueAtMs > nowMs,
    published_envelope: hasEnvelope,
    verified_identity: agent.identityVerified === true,
    attested_drill: hasDrill
  }
  return conditionsOf(agent.autonomyTier).filter((condition) => !met[condition])
}

/** A tier above the effective one, and the condition that it needs and the agent lost. */
export interface LostCondition {
  readonly tier: AutonomyTier
  readonly condition: TierCondition
}

/**
 * Why an agent acts below its tier: the next tier and what that needs; null where it acts at its tier. Spec: decision
 * 0038.
 */
export const lostCondition = (tier: AutonomyTier, effective: AutonomyTier): LostCondition | null => {
  if (effective >= tier) return null
  const row = tierGate.find(({ from, lost }) => lost === "lowers" && from > effective)
  return row === undefined ? null : { tier: row.from, condition: row.needs }
}
