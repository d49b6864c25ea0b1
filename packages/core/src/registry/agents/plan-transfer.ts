/** Plans the transfer of an agent to another owner. Pure. */
import type { InvalidTransition } from "@flyball/contract"
import { type OwnershipTransfer } from "@flyball/contract"
import { Result } from "effect"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type AgentPlan, allowed, changeAgent, without } from "./change-agent.ts"
import type { StoredAgent } from "./document.ts"
import { ownerPart } from "./parts.ts"

/**
 * Decides what giving an agent another owner would change. An agent that was suspended for want of one stays suspended:
 * a person activates it.
 *
 * - Fails: `InvalidTransition` when it is at its end.
 * - Spec: document 1 section 2, `OwnershipTransfer`.
 */
export const planTransferOwnership = (
  stored: StoredAgent,
  input: OwnershipTransfer,
  writer: Writer
): Result.Result<AgentPlan, InvalidTransition> =>
  Result.map(allowed(stored, "transfer-ownership"), () => {
    const owner = { ownerName: input.owner_name, ownerEmail: input.owner_email }
    return changeAgent(
      stored,
      { ...without(stored.body, "orphanedAtMs", "ownerComplete"), ...owner },
      { kind: "agent.owner_transferred", body: { owner_complete: true }, parts: ownerPart(owner), writer },
      [event("agent.owner_transferred", { agent_id: stored.id, writer: writer.id })]
    )
  })
