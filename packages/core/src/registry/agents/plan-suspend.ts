/** Plans suspending an agent: by a person, or because it is due. Pure. */
import { InvalidTransition } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Result } from "effect"
import { idAtMs } from "../../foundation/id-time.ts"
import { dueSuspension, type SuspendedReason } from "@flyball/rules"
import type { EventDraft } from "../../storage/outbox/outbox.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type AgentPlan, allowed, changeAgent } from "./change-agent.ts"
import type { StoredAgent } from "./document.ts"
import { reasonPart } from "./parts.ts"

/** The cause and the writer of a suspension. */
export interface SuspendCommand {
  readonly cause: SuspendedReason
  /** Reason that a person gave; null for none. */
  readonly reason: string | null
  readonly writer: Writer
}

/**
 * Decides what suspending an agent would change. Null where it is suspended already, which needs no record: a caller in
 * a hurry need not read the status first.
 *
 * - Fails: `InvalidTransition` when it is at its end.
 * - Spec: document 1 section 4, POST /agents/{agent_id}/suspend; decision 0013.
 */
export const planSuspend = (
  stored: StoredAgent,
  { cause, reason, writer }: SuspendCommand
): Result.Result<AgentPlan | null, InvalidTransition> =>
  stored.body.status === "suspended"
    ? Result.succeed(null)
    : Result.map(allowed(stored, "suspend"), (status) =>
        changeAgent(
          stored,
          { ...stored.body, status, suspendedReason: cause, ...(reason === null ? {} : { suspensionReason: reason }) },
          { kind: "agent.suspended", body: { reason: cause }, parts: reasonPart(reason), writer },
          [
            event("agent.suspended", {
              agent_id: stored.id,
              reason: cause,
              has_reason: reason !== null,
              writer: writer.id
            }),
            ...(cause === "recert_overdue" ? recertOverdue(stored, writer) : [])
          ]
        )
      )

/** The event beside the suspension, for subscribers that only follow recertifications. */
const recertOverdue = ({ body: { recertDueAtMs }, id }: StoredAgent, writer: Writer): ReadonlyArray<EventDraft> =>
  recertDueAtMs === null
    ? []
    : [event("agent.recert_overdue", { agent_id: id, recert_due_at: formatInstant(recertDueAtMs), writer: writer.id })]

/**
 * Decides the suspension that is due.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: `InvalidTransition` when none is due.
 * - Spec: document 1 section 1, policy rule; decision 0013.
 */
export const planDue = (stored: StoredAgent, nowMs: number): Result.Result<AgentPlan | null, InvalidTransition> => {
  const due = dueSuspension(stored.body, idAtMs(stored.id), nowMs)
  return due === null
    ? Result.fail(new InvalidTransition({ status: stored.body.status, act: "suspend" }))
    : planSuspend(stored, { cause: due.cause, reason: null, writer: { id: due.rule } })
}
