/** The id of an evaluation. Spec: decision 0025. */
import { concatBytes, encodeId, portableCrypto, utf8 } from "@flyball/evidence"

/** The once scope under which ids of evaluations stand: what makes them idempotent is also how they are found. */
export const EVALUATION_SCOPE = "evaluation"

/**
 * The once scope of voids: an evaluation is voided once, across all writers. Spec: format 1 section 8, `meter.voided`;
 * decision 0025.
 */
export const VOID_SCOPE = "void"

/**
 * Derived from chain, agent and the caller's own reference. So a retry under the same reference means the same
 * evaluation, and an event can name it before its record is sealed.
 *
 * - Unit: `originTag` is the first 4 bytes of SHA-256 of the origin.
 * - Fails: never. 128 bits of SHA-256: two references do not meet.
 * - Spec: document 1 section 2, "Evaluation record"; decision 0025.
 */
export const evaluationId = (
  originTag: Uint8Array,
  agentId: string,
  clientRef: string,
  sha256: (bytes: Uint8Array) => Uint8Array = portableCrypto.sha256
): string =>
  encodeId(
    "evl_",
    sha256(concatBytes(utf8("flyball/v1 evaluation\0"), originTag, utf8(`${agentId}\0${clientRef}`))).slice(0, 16)
  )
