/** Plans the recertification of an agent. Pure. */
import { InvalidInput, detailItem, type InvalidTransition, type RecertifyIn } from "@flyball/contract"
import { formatInstant, parseInstant } from "@flyball/evidence"
import { Result } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { type AgentPlan, allowed, changeAgent } from "./change-agent.ts"
import type { StoredAgent } from "./document.ts"

/**
 * Decides what recertifying an agent would change: a person reviewed it and names the next date.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: `InvalidTransition` at the agent's end; `InvalidInput` when the date is not in the future.
 * - Spec: api "agents and registry"; decision 0013.
 */
export const planRecertify = (
  stored: StoredAgent,
  input: RecertifyIn,
  writer: Writer,
  nowMs: number
): Result.Result<AgentPlan, InvalidTransition | InvalidInput> =>
  Result.flatMap(allowed(stored, "recertify"), () => {
    const dueAtMs = parseInstant(input.recert_due_at)
    return dueAtMs === null || dueAtMs <= nowMs
      ? Result.fail(
          new InvalidInput({
            detail: [
              detailItem(
                ["body", "recert_due_at"],
                "value_error",
                "The next date must be in the future",
                input.recert_due_at
              )
            ]
          })
        )
      : Result.succeed(
          changeAgent(
            stored,
            { ...stored.body, recertDueAtMs: dueAtMs },
            { kind: "agent.recertified", body: { recert_due_at: formatInstant(dueAtMs) }, writer }
          )
        )
  })
