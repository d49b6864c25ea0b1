/** Reads agents out of documents, and writes them for the wire. */
import type { Agent, Orphan } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import type { Document } from "../../storage/port.ts"
import { idAtMs } from "../../foundation/id-time.ts"
import {
  type AgentDocument,
  effectiveTier,
  erasedProfile,
  noOwner,
  orphanedSinceMs,
  orphanSuspendAtMs,
  type TierFacts,
  unmetConditions,
  writeMembers
} from "@flyball/rules"

/** Collection of the agents. */
export const AGENTS = "agents"

/** An agent as it was read. */
export interface StoredAgent {
  readonly id: string
  readonly version: number
  readonly body: AgentDocument
}

/** The agent in a document of the collection `agents`; only this folder writes there. */
export const storedAgent = (document: Document): StoredAgent => ({
  id: document.id,
  version: document.version,
  body: document.body as AgentDocument
})

/** Inputs for the wire form of an agent that its document does not hold. */
export interface ShownWith {
  readonly tenantId: string
  readonly facts: TierFacts
  readonly nowMs: number
}

/** The agent as the interface shows it. Members whose capability does not exist yet have their empty value. */
export const agentOut = (agent: StoredAgent, { facts, nowMs, tenantId }: ShownWith): Agent => ({
  id: agent.id,
  tenant_id: tenantId,
  ...writeMembers(agent.body, erasedProfile(agent.id)),
  ...writeMembers(agent.body, noOwner),
  autonomy_tier: agent.body.autonomyTier,
  effective_tier: effectiveTier(agent.body, facts),
  tier_unmet: unmetConditions(agent.body, facts, nowMs),
  status: agent.body.status,
  recert_due_at: instantOf(agent.body.recertDueAtMs),
  decommissioned_at: instantOf(agent.body.decommissionedAtMs),
  created_at: formatInstant(idAtMs(agent.id)),
  identity_verified: agent.body.identityVerified ?? false,
  identity_source: agent.body.identitySource ?? null,
  identity_ref: agent.body.identityRef ?? null,
  version: agent.version,
  risk_class: agent.body.riskClass,
  suspended_reason: agent.body.suspendedReason ?? null,
  suspension_reason: agent.body.suspensionReason ?? null,
  orphaned_since: instantOf(orphanedAt(agent)),
  parent_agent_id: agent.body.parentAgentId ?? null
})

/** Time since which the agent has no owner; null if it has one. */
export const orphanedAt = (agent: StoredAgent): number | null => orphanedSinceMs(agent.body, idAtMs(agent.id))

/** The agent as the list of orphans shows it; null when it is none. */
export const orphanOut = (agent: StoredAgent, shown: ShownWith): Orphan | null => {
  const sinceMs = orphanedAt(agent)
  return sinceMs === null
    ? null
    : {
        ...agentOut(agent, shown),
        orphaned_since: formatInstant(sinceMs),
        suspend_at: formatInstant(orphanSuspendAtMs(sinceMs))
      }
}

const instantOf = (atMs: number | null | undefined): string | null =>
  atMs === null || atMs === undefined ? null : formatInstant(atMs)
