/** A breaker as the interface shows it. */
import type { Breaker } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import type { BreakerDocument } from "@flyball/rules"
import { idAtMs } from "../../foundation/id-time.ts"
import type { LastCheck } from "./checks.ts"

/** The breaker with its last reading. A trip is one too; its value stays until the first reading behind its release. */
export const breakerOut = (id: string, breaker: BreakerDocument, check: LastCheck | undefined): Breaker => {
  const { trip } = breaker
  const checkedMs = Math.max(trip?.atMs ?? -1, check?.atMs ?? -1)
  return {
    id,
    agent_id: breaker.agentId,
    name: breaker.name,
    metric: breaker.metric,
    params: breaker.params,
    enabled: breaker.enabled,
    created_by: breaker.createdBy,
    created_at: formatInstant(idAtMs(id)),
    last_checked_at: checkedMs < 0 ? null : formatInstant(checkedMs),
    last_value: (trip ?? check)?.value ?? null,
    fired_event_id: breaker.lastActivationId,
    mode: breaker.mode,
    confidence_bp: breaker.confidenceBp,
    response: breaker.response,
    state: trip === null ? "armed" : "tripped",
    tripped_at: trip === null ? null : formatInstant(trip.atMs),
    max_false_stop_bp: breaker.maxFalseStopBp ?? null,
    good_runs:
      breaker.goodRuns === undefined
        ? null
        : { from_seq: breaker.goodRuns.fromSeq, to_seq: breaker.goodRuns.toSeq, runs: breaker.goodRuns.runs }
  }
}
