/** Plans the end of an agent. Pure. */
import type { InvalidTransition } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Result } from "effect"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type AgentPlan, allowed, changeAgent, without } from "./change-agent.ts"
import type { StoredAgent } from "./document.ts"

/**
 * Decides what ending an agent would change. Nothing leads back.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: `InvalidTransition` when it is at its end.
 * - Spec: document 1 section 3; api "agents and registry".
 */
export const planDecommission = (
  stored: StoredAgent,
  writer: Writer,
  nowMs: number
): Result.Result<AgentPlan, InvalidTransition> =>
  Result.map(allowed(stored, "decommission"), (status) =>
    changeAgent(
      stored,
      { ...without(stored.body, "suspendedReason", "suspensionReason"), status, decommissionedAtMs: nowMs },
      {
        kind: "agent.decommissioned",
        body: { decommissioned_at: formatInstant(nowMs) },
        writer
      },
      [
        event("agent.decommissioned", {
          agent_id: stored.id,
          decommissioned_at: formatInstant(nowMs),
          writer: writer.id
        })
      ]
    )
  )
