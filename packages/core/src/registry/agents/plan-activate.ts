/** Plans activating an agent. Pure. */
import { type InvalidTransition, TierGateUnmet } from "@flyball/contract"
import { Result } from "effect"
import { type AutonomyTier, RULES, type TierCondition } from "@flyball/rules"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type AgentPlan, allowed, changeAgent, without } from "./change-agent.ts"
import type { StoredAgent } from "./document.ts"

/**
 * Decides what activating an agent would change.
 *
 * - Fails: `InvalidTransition`; `TierGateUnmet` naming what its tier needs and it has not.
 * - Spec: document 1 section 5 (activate); api "agents and registry"; decision 0013.
 */
export const planActivate = (
  stored: StoredAgent,
  writer: Writer,
  missing: ReadonlyArray<TierCondition>
): Result.Result<AgentPlan, InvalidTransition | TierGateUnmet> =>
  Result.gen(function* () {
    const status = yield* allowed(stored, "activate")
    yield* gate(stored.body.autonomyTier, missing)
    return changeAgent(
      stored,
      { ...without(stored.body, "suspendedReason", "suspensionReason"), status },
      { kind: "agent.activated", body: { rules: RULES }, writer },
      [event("agent.activated", { agent_id: stored.id, autonomy_tier: stored.body.autonomyTier, writer: writer.id })]
    )
  })

/** Refuses a tier of which conditions are missing. */
export const gate = (tier: AutonomyTier, missing: ReadonlyArray<TierCondition>): Result.Result<null, TierGateUnmet> =>
  missing.length > 0 ? Result.fail(new TierGateUnmet({ tier, missing })) : Result.succeed(null)
