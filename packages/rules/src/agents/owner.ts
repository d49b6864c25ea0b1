/**
 * The owner of an agent, and the time since when it has none. Spec: document 1 section 1, policy rule; section 8,
 * orphan grace; decision 0038.
 */
import type { AgentDocument } from "./document.ts"

/** How long an agent may be without an owner. Unit: milliseconds. Spec: document 1 section 8, "orphan grace". */
export const ORPHAN_GRACE_MS = 7 * 86_400_000

/** The owner as a document or a registration names it. */
type Named = Pick<AgentDocument, "ownerEmail" | "ownerName">

/**
 * True when an owner can be reached: with a name and an e-mail address. Required for activation. Spec: document 1
 * section 1, policy rule; decision 0038.
 */
export const isCompleteOwner = (owner: Named): boolean => owner.ownerName !== null && owner.ownerEmail !== null

/**
 * Time since which an agent has no owner; null if it has one. An agent registered without a complete owner has none
 * since its registration.
 *
 * - Unit: milliseconds since 1970 UTC. A decommissioned agent needs nobody.
 * - Spec: document 1 section 1, policy rule; decisions 0013 and 0038.
 */
export const orphanedSinceMs = (agent: AgentDocument, createdAtMs: number): number | null =>
  isCompleteOwner(agent) || agent.status === "decommissioned" ? null : (agent.orphanedAtMs ?? createdAtMs)

/**
 * Time at which an agent without an owner is suspended. Unit: milliseconds since 1970 UTC. Spec: document 1 section 8,
 * "orphan grace".
 */
export const orphanSuspendAtMs = (sinceMs: number): number => sinceMs + ORPHAN_GRACE_MS
