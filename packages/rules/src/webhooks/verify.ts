/**
 * Verifies a delivery, as a receiver does: checks who sent it, and that it is not an old one sent again. Spec: Standard
 * Webhooks 1.0, "Verifying signatures".
 */
import { utf8 } from "@flyball/evidence"
import { hmacKey, type Sha256 } from "./hmac.ts"
import { secretKeys } from "./secret.ts"
import { platformSignature, SIGNATURE_HEADER, standardSignature } from "./signature.ts"

/**
 * Tolerated difference between the clocks of sender and receiver.
 *
 * - Unit: milliseconds, either way. The tolerance of Standard Webhooks.
 * - Spec: Standard Webhooks 1.0.
 */
export const TOLERANCE_MS = 300_000

/** A request as it arrived. Names of headers in any case; `body` exactly as received. */
export interface Received {
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: Uint8Array
}

/** Why a delivery is not genuine. Spec: Standard Webhooks 1.0. */
export type VerifyProblem =
  | "secret_malformed"
  | "header_missing"
  | "timestamp_malformed"
  | "too_old"
  | "too_new"
  | "signature_wrong"

/**
 * Checks the Standard Webhooks triple of a delivery against one secret; null when it is good.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC.
 * - Fails: never; what is wrong is the answer.
 * - Spec: Standard Webhooks 1.0.
 */
export const verifyDelivery = (
  secret: string,
  { body, headers }: Received,
  nowMs: number,
  sha256: Sha256
): VerifyProblem | null => {
  const keys = secretKeys(secret, sha256)
  if (keys === null) return "secret_malformed"
  const id = headerOf(headers, "webhook-id")
  const timestamp = headerOf(headers, "webhook-timestamp")
  const signatures = headerOf(headers, "webhook-signature")
  if (id === null || timestamp === null || signatures === null) return "header_missing"
  if (!/^\d{1,12}$/.test(timestamp)) return "timestamp_malformed"
  const behindMs = nowMs - Number(timestamp) * 1_000
  if (behindMs > TOLERANCE_MS + 999) return "too_old"
  if (behindMs < -TOLERANCE_MS) return "too_new"
  const expected = standardSignature(keys, id, timestamp, body, sha256)
  return signatures.split(" ").some((one) => sameText(one, expected)) ? null : "signature_wrong"
}

/**
 * Checks the specification's header, which covers the body alone; use {@link verifyDelivery} where you can. Any text is
 * a secret here. `header` is its name. Spec: document 2 section 6, rule 1.
 */
export const verifyPlatformSignature = (
  secret: string,
  received: Received,
  sha256: Sha256,
  header = SIGNATURE_HEADER
): VerifyProblem | null => {
  if (secret === "") return "secret_malformed"
  const signature = headerOf(received.headers, header)
  if (signature === null) return "header_missing"
  return sameText(signature, platformSignature(hmacKey(utf8(secret), sha256), received.body, sha256))
    ? null
    : "signature_wrong"
}

const headerOf = (headers: Received["headers"], name: string): string | null => {
  for (const [one, value] of Object.entries(headers))
    if (one.toLowerCase() === name.toLowerCase() && value !== undefined && value !== "") return value
  return null
}

/** Takes as long for texts that differ early as for those that differ late. */
const sameText = (found: string, expected: string): boolean => {
  if (found.length !== expected.length) return false
  let different = 0
  for (let i = 0; i < expected.length; i++) different |= found.charCodeAt(i) ^ expected.charCodeAt(i)
  return different === 0
}
