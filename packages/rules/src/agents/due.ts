/** Transitions of an agent that become due with time. Pure: the job that asks brings the time. */
import type { AgentDocument, SuspendedReason } from "./document.ts"
import { orphanedSinceMs, orphanSuspendAtMs } from "./owner.ts"
import { statusAfter } from "./transitions.ts"

/** A suspension that is due, and the rule that requires it. */
export interface DueSuspension {
  readonly cause: SuspendedReason
  /** The writer that its record names. */
  readonly rule: string
}

/**
 * The suspension that is due for an agent; null when none is.
 *
 * - Unit: milliseconds since 1970 UTC. What came due while nothing polled is due still.
 * - Spec: document 1 section 1, policy rule; section 8, orphan grace; decision 0013 for recertification, which binds
 *   active agents only.
 */
export const dueSuspension = (agent: AgentDocument, createdAtMs: number, nowMs: number): DueSuspension | null => {
  if (statusAfter("suspend", agent.status) === null) return null
  const sinceMs = orphanedSinceMs(agent, createdAtMs)
  if (sinceMs !== null && orphanSuspendAtMs(sinceMs) <= nowMs)
    return { cause: "orphan_grace", rule: "policy:orphan_grace" }
  if (agent.status === "active" && agent.recertDueAtMs !== null && agent.recertDueAtMs <= nowMs)
    return { cause: "recert_overdue", rule: "policy:recertification" }
  return null
}
