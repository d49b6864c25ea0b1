/** Decides if an agent may act at all. Spec: `envelope/1` section 11, step 2. */
import { decodeId } from "@flyball/evidence"
import type { AgentDocument } from "../agents/document.ts"
import { dueSuspension } from "../agents/due.ts"
import type { InactiveRule } from "@flyball/envelope"

/**
 * True when an agent is active and no suspension is due, whether or not a job has run. Unit: milliseconds since 1970
 * UTC. Spec: `envelope/1` section 11, step 2; decision 0013.
 */
export const isActive = (agentId: string, agent: AgentDocument, nowMs: number, madeMs = madeAtMs(agentId)): boolean =>
  agent.status === "active" && dueSuspension(agent, madeMs, nowMs) === null

/**
 * Names the reason in a verdict on an agent that may not act. An active one is stopped by a suspension that is due.
 *
 * Spec: `envelope/1` section 11, step 2; decision 0038.
 */
export const inactiveRuleOf = (status: string): InactiveRule =>
  status !== "active" && status !== "suspended" ? "@not_active" : "@suspended"

/** When an agent's id was made: its first 48 bits. */
export const madeAtMs = (id: string): number => {
  const bytes = decodeId("agt_", id)
  return bytes === null ? 0 : bytes.subarray(0, 6).reduce((ms, byte) => ms * 256 + byte, 0)
}
