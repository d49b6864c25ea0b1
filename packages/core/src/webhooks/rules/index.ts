/**
 * Retry logic and signatures of webhooks by themselves: plain functions over plain data, for hosts with an outbox of their own, and for receivers.
 *
 * They import `@flyball/evidence` and each other. The README of core shows them at work without a server.
 */
export {
  type AfterAttempt, afterAttempt, type DeliveryAct, deliveryAfter, type DeliveryState, deliveryTransitions, type EndedAttempt
} from "./delivery-states.ts"
export {
  type EndpointAct, endpointAfter, type EndpointFailureRule, endpointFails, type EndpointStatus, endpointTransitions
} from "./endpoint-states.ts"
export { renderEvent, type SentEvent } from "./event-bytes.ts"
export type { Sha256 } from "./hmac.ts"
export { delaysMs, exactSchedule, type FailedAttempt, MAX_ATTEMPTS, MAX_JITTER, nextAttemptAtMs, type ScheduleSettings } from "./schedule.ts"
export { SECRET_BYTES, SECRET_PREFIX, secretBytes, type SecretKeys, secretKeys, secretText } from "./secret.ts"
export { connectionHeaders, signatureHeaderProblem } from "./signature-header.ts"
export { platformSignature, SIGNATURE_HEADER, signatureHeaders, type Signed, type SigningKeys, standardSignature } from "./signature.ts"
export { MAX_URL_CHARACTERS, urlFormProblem } from "./url.ts"
export { type Received, TOLERANCE_MS, verifyDelivery, verifyPlatformSignature, type VerifyProblem } from "./verify.ts"
