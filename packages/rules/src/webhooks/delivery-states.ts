/**
 * The states of a delivery and the transitions between them. The one such table.
 *
 * Spec: document 2 section 6 names no states; decision 0019.
 */
import type { Sha256 } from "./hmac.ts"
import { type FailedAttempt, nextAttemptAtMs, type ScheduleSettings } from "./retry-schedule.ts"

/** The state of a delivery. Spec: decision 0019. */
export type DeliveryState = "pending" | "in_flight" | "succeeded" | "failed" | "cancelled"

/** An act that moves a delivery to another state. */
export type DeliveryAct = "claim" | "succeed" | "retry" | "fail" | "cancel"

/** States of a delivery after each act. Three states are final. Spec: decision 0019. */
export const deliveryTransitions: {
  readonly [act in DeliveryAct]: { readonly from: ReadonlyArray<DeliveryState>; readonly to: DeliveryState }
} = {
  claim: { from: ["pending"], to: "in_flight" },
  // From pending: by an answer that came after the lease of the last attempt.
  succeed: { from: ["pending", "in_flight"], to: "succeeded" },
  retry: { from: ["in_flight"], to: "pending" },
  fail: { from: ["in_flight"], to: "failed" },
  cancel: { from: ["pending", "in_flight"], to: "cancelled" }
}

/** The state after an act; null when the act is not taken in this state. Spec: decision 0019. */
export const deliveryAfter = (act: DeliveryAct, state: DeliveryState): DeliveryState | null => {
  const { from, to } = deliveryTransitions[act]
  return from.includes(state) ? to : null
}

/** Result of an attempt. Spec: document 2 section 6, rule 2. */
export interface EndedAttempt extends FailedAttempt {
  /** Null when the receiver answered 2xx in time. */
  readonly errorCode: string | null
}

/** The next state of a delivery whose attempt ended. Spec: document 2 section 6, rule 4; decision 0019. */
export type AfterAttempt =
  | { readonly act: "succeed" | "fail" | "cancel" }
  | { readonly act: "retry"; readonly nextAttemptAtMs: number }

/**
 * Computes the next state of a delivery after an attempt. Every failure is retried, whatever its status, until the
 * attempts are used up; nothing is retried for an endpoint that is not active.
 *
 * - Fails: never.
 * - Spec: document 2 section 6; decision 0019.
 */
export const afterAttempt = (
  ended: EndedAttempt,
  endpointActive: boolean,
  settings: ScheduleSettings,
  sha256: Sha256
): AfterAttempt => {
  if (ended.errorCode === null) return { act: "succeed" }
  const dueMs = nextAttemptAtMs(ended, settings, sha256)
  if (dueMs === null) return { act: "fail" }
  return endpointActive ? { act: "retry", nextAttemptAtMs: dueMs } : { act: "cancel" }
}
