/** A breaker as the interface shows it. */
import type { Breaker } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import type { BreakerDocument } from "@flyball/rules"
import { idAtMs } from "../../foundation/id-time.ts"
import type { LastCheck } from "./checks.ts"

/** The breaker with its last reading: a trip is one too. */
export const breakerOut = (id: string, breaker: BreakerDocument, check: LastCheck | undefined): Breaker => {
  const { trip } = breaker
  const last = trip !== null && (check === undefined || check.atMs < trip.atMs) ? trip : check
  return {
    id,
    agent_id: breaker.agentId,
    name: breaker.name,
    metric: breaker.metric,
    params: breaker.params,
    enabled: breaker.enabled,
    created_by: breaker.createdBy,
    created_at: formatInstant(idAtMs(id)),
    last_checked_at: last === undefined ? null : formatInstant(last.atMs),
    last_value: last?.value ?? null,
    fired_event_id: trip?.activationId ?? null,
    mode: breaker.mode,
    confidence_bp: breaker.confidenceBp,
    response: breaker.response,
    state: trip === null ? "armed" : "tripped",
    tripped_at: trip === null ? null : formatInstant(trip.atMs)
  }
}
