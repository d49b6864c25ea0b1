/** Who answers for an agent, and since when nobody does. Spec: document 1 section 1, policy rule; section 8, orphan grace. */
import type { AgentDocument } from "./document.ts"

/** How long an agent may be without an owner. Unit: milliseconds. */
export const ORPHAN_GRACE_MS = 7 * 86_400_000

/** Whether somebody answers for the agent. A name or an address is enough: api takes either. */
export const hasOwner = (agent: Pick<AgentDocument, "ownerEmail" | "ownerName">): boolean => agent.ownerName !== null || agent.ownerEmail !== null

/**
 * Since when an agent is an orphan; null when it is none. One registered without an owner has been one since it was made.
 *
 * - Unit: milliseconds since 1970 UTC. A decommissioned agent needs nobody.
 */
export const orphanedSinceMs = (agent: AgentDocument, createdAtMs: number): number | null =>
  hasOwner(agent) || agent.status === "decommissioned" ? null : agent.orphanedAtMs ?? createdAtMs

/** When an orphan is suspended. */
export const orphanSuspendAtMs = (sinceMs: number): number => sinceMs + ORPHAN_GRACE_MS
