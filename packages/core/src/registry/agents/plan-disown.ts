/** Plans the removal of an agent's owner. Pure. */
import { type DisownIn, InvalidTransition } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Result } from "effect"
import type { EventDraft } from "../../storage/outbox/outbox.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type AgentPlan, allowed, changeAgent } from "./change-agent.ts"
import type { StoredAgent } from "./document.ts"
import { reasonPart } from "./parts.ts"
import { isCompleteOwner, noOwner, orphanSuspendAtMs } from "@flyball/rules"

/**
 * Decides what taking an agent's owner away would change: from then on it has a week to get another.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: `InvalidTransition` when it is at its end, or it has no owner: the running clock is not restarted.
 * - Spec: document 1 section 1, policy rule; api "agents and registry".
 */
export const planDisown = (
  stored: StoredAgent,
  input: DisownIn,
  writer: Writer,
  nowMs: number
): Result.Result<AgentPlan, InvalidTransition> =>
  Result.flatMap(allowed(stored, "disown"), () =>
    isCompleteOwner(stored.body)
      ? Result.succeed(
          changeAgent(
            stored,
            { ...stored.body, ...noOwner, orphanedAtMs: nowMs },
            {
              kind: "agent.orphaned",
              body: { since: formatInstant(nowMs) },
              parts: reasonPart(input.reason),
              writer
            },
            [agentOrphaned(stored.id, nowMs, writer)]
          )
        )
      : Result.fail(
          new InvalidTransition({
            status: stored.body.status,
            act: "disown",
            why: "This agent has no owner to remove. Its week without an owner continues."
          })
        )
  )

/** The event of an agent that has had no owner since `nowMs`. */
export const agentOrphaned = (agentId: string, nowMs: number, writer: Writer): EventDraft =>
  event("agent.orphaned", {
    agent_id: agentId,
    orphaned_since: formatInstant(nowMs),
    suspend_at: formatInstant(orphanSuspendAtMs(nowMs)),
    writer: writer.id
  })
