/** Plans the acts that move an agent's status: activate, suspend, decommission. Pure. */
import { InvalidTransition, TierGateUnmet } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Result } from "effect"
import { idAtMs } from "../../foundation/id-time.ts"
import { dueSuspension, missingFor, RULES, type TierCondition } from "@flyball/rules"
import type { EventDraft } from "../../storage/outbox/outbox.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type AgentPlan, allowed, changeAgent, without } from "./change-agent.ts"
import type { StoredAgent } from "./document.ts"
import { reasonPart } from "./parts.ts"
import type { AutonomyTier, SuspendedReason } from "@flyball/rules"

/**
 * Decides what activating an agent would change.
 *
 * - Fails: `InvalidTransition`; `TierGateUnmet` naming what its tier needs and it has not.
 * - Spec: document 1 section 5 (activate); api "agents and registry"; decision 0013.
 */
export const planActivate = (
  stored: StoredAgent,
  writer: Writer,
  met: ReadonlySet<TierCondition>
): Result.Result<AgentPlan, InvalidTransition | TierGateUnmet> =>
  Result.gen(function* () {
    const status = yield* allowed(stored, "activate")
    yield* gate(stored.body.autonomyTier, met)
    return changeAgent(
      stored,
      { ...without(stored.body, "suspendedReason"), status },
      { kind: "agent.activated", body: { rules: RULES }, writer },
      [event("agent.activated", { agent_id: stored.id, autonomy_tier: stored.body.autonomyTier, writer: writer.id })]
    )
  })

/** Whether a tier's conditions are met, as a refusal that names those that are not. */
export const gate = (tier: AutonomyTier, met: ReadonlySet<TierCondition>): Result.Result<null, TierGateUnmet> => {
  const missing = missingFor(tier, met)
  return missing.length > 0 ? Result.fail(new TierGateUnmet({ tier, missing: [...missing] })) : Result.succeed(null)
}

/** How an agent comes to be suspended. */
export interface SuspendCommand {
  readonly cause: SuspendedReason
  /** What a person said of it; null when nothing. */
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
          { ...stored.body, status, suspendedReason: cause },
          { kind: "agent.suspended", body: { reason: cause }, parts: reasonPart(reason), writer },
          [
            event("agent.suspended", { agent_id: stored.id, reason: cause, writer: writer.id }),
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
 * Decides the suspension that time alone asks for.
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
      { ...without(stored.body, "suspendedReason"), status, decommissionedAtMs: nowMs },
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
