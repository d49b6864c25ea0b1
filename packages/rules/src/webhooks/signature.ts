/**
 * The signatures on a delivery: the specification's header over the body, and the Standard Webhooks triple over id,
 * time and body, side by side.
 *
 * Spec: document 2 section 6, `X-Platform-Signature`; Standard Webhooks 1.0. The first alone would let a capture be
 * replayed for ever. Decision 0019.
 */
import { toBase64, toHex, utf8 } from "@flyball/evidence"
import { hmac, type HmacKey, type Sha256 } from "./hmac.ts"
import type { SecretKeys } from "./secret.ts"

/** The specification's header. Spec: document 2 section 6, rule 1. */
export const SIGNATURE_HEADER = "X-Platform-Signature"

/**
 * The secrets of a webhook: the newest, and during a rotation the one before it. Spec: document 2 section 6, rule 1;
 * decision 0019.
 */
export interface SigningKeys {
  readonly current: SecretKeys
  readonly old: { readonly keys: SecretKeys; readonly untilMs: number } | null
}

/** The signed message. */
export interface Signed {
  /** The event's id: the same on every attempt, so that a receiver knows it again. */
  readonly id: string
  /** When the attempt began. Unit: milliseconds since 1970 UTC. */
  readonly atMs: number
  readonly body: Uint8Array
}

/**
 * The value of the specification's header: `sha256=` and 64 hex digits. Its key is the UTF-8 bytes of the whole secret,
 * prefix included. Spec: document 2 section 6, rule 1.
 */
export const platformSignature = (key: HmacKey, body: Uint8Array, sha256: Sha256): string =>
  `sha256=${toHex(hmac(key, [body], sha256))}`

/**
 * One signature of the Standard Webhooks header: `v1,` and base64. `timestampS` is as the header says it, in seconds.
 * Spec: Standard Webhooks 1.0; decision 0019.
 */
export const standardSignature = (
  keys: SecretKeys,
  id: string,
  timestampS: string,
  body: Uint8Array,
  sha256: Sha256
): string => `v1,${toBase64(hmac(keys.bytes, [utf8(`${id}.${timestampS}.`), body], sha256))}`

/**
 * All headers that sign a delivery. During a rotation `webhook-signature` holds a signature by each secret; the
 * specification's header has room for one, and it is the old secret's until the overlap ends, so that a receiver which
 * knows only the old one is not cut off. Spec: document 2 section 6, rule 1; Standard Webhooks 1.0; decision 0019.
 */
export const signatureHeaders = (
  keys: SigningKeys,
  signed: Signed,
  sha256: Sha256,
  header = SIGNATURE_HEADER
): { readonly [name: string]: string } => {
  const headers = {}
  addSignatures(headers, keys, signed, sha256, header)
  return headers
}

/**
 * Adds what {@link signatureHeaders} answers to other headers: one object for each attempt, not three. Spec: document 2
 * section 6, rule 1; Standard Webhooks 1.0; decision 0019.
 */
export const addSignatures = (
  headers: { [name: string]: string },
  keys: SigningKeys,
  { atMs, body, id }: Signed,
  sha256: Sha256,
  header: string
): void => {
  const old = keys.old !== null && atMs < keys.old.untilMs ? keys.old.keys : null
  const timestampS = String(Math.floor(atMs / 1_000))
  const current = standardSignature(keys.current, id, timestampS, body, sha256)
  headers[header] = platformSignature((old ?? keys.current).text, body, sha256)
  headers["webhook-id"] = id
  headers["webhook-timestamp"] = timestampS
  headers["webhook-signature"] =
    old === null ? current : `${current} ${standardSignature(old, id, timestampS, body, sha256)}`
}
