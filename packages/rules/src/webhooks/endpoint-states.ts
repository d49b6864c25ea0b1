/**
 * The statuses of a webhook and the transitions between them. The one such table.
 *
 * Spec: document 1 section 6 shows `revoked`, document 2 sections 2 and 6 show `active` and `failed`; decision 0019
 * fills the rest.
 */

/** The status of a webhook. Spec: document 2 section 3; decision 0019. */
export type EndpointStatus = "active" | "failed" | "disabled" | "revoked"

/** An act that moves a webhook to another status. */
export type EndpointAct =
  | "fail"
  | "disable"
  | "enable"
  | "revoke"
  | "rotate-secret"
  | "complete-rotation"
  | "test"
  | "redeliver"
  | "recover"

/** A row: the statuses in which an act is taken, and the one it leads to; null where the status stays. */
export interface EndpointTransition {
  readonly from: ReadonlyArray<EndpointStatus>
  readonly to: EndpointStatus | null
}

const living: ReadonlyArray<EndpointStatus> = ["active", "failed", "disabled"]

/**
 * Statuses of a webhook after each act. Revoked is final. Spec: document 2 section 3 leaves them open; decisions 0019
 * and 0030.
 */
export const endpointTransitions: { readonly [act in EndpointAct]: EndpointTransition } = {
  fail: { from: ["active"], to: "failed" },
  disable: { from: ["active"], to: "disabled" },
  enable: { from: ["failed", "disabled"], to: "active" },
  revoke: { from: living, to: "revoked" },
  "rotate-secret": { from: living, to: null },
  "complete-rotation": { from: living, to: null },
  // To see whether a receiver is well again before it is enabled.
  test: { from: living, to: null },
  redeliver: { from: ["active"], to: null },
  recover: { from: ["active"], to: null }
}

/** The status after an act; null when the act is not taken in this status. Spec: decisions 0019 and 0030. */
export const endpointAfter = (act: EndpointAct, status: EndpointStatus): EndpointStatus | null => {
  const { from, to } = endpointTransitions[act]
  return from.includes(status) ? (to ?? status) : null
}

/**
 * When a delivery that used up its attempts takes its endpoint with it. `any_delivery` is the specification's; the
 * other spares a receiver that one event disagrees with. Spec: document 2 section 6, rule 4; decision 0019.
 */
export type EndpointFailureRule = "any_delivery" | "no_success_since"

/**
 * True when an endpoint fails with a delivery. `succeededSinceFirstAttempt`: some other delivery to it did, after this
 * one's first attempt began. Spec: document 2 section 6, rule 4; decision 0019.
 */
export const endpointFails = (rule: EndpointFailureRule, succeededSinceFirstAttempt: boolean): boolean =>
  rule === "any_delivery" || !succeededSinceFirstAttempt
