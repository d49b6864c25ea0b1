/** The identity of an envelope's content. Spec: `SPEC.md` section 1. */
import { canonicalBytes, portableCrypto, toHex } from "@flyball/evidence"
import { MAX_ENVELOPE_DEPTH } from "./limits.ts"

/**
 * SHA-256 of the RFC 8785 form of an envelope's JSON, 64 hex digits: the same for every order of names. `sha256` may be
 * a faster one. Throws `NotCanonical`. Spec: `envelope/1` section 1.
 */
export const envelopeDigest = (
  json: unknown,
  sha256: (bytes: Uint8Array) => Uint8Array = portableCrypto.sha256
): string => toHex(sha256(canonicalBytes(json, MAX_ENVELOPE_DEPTH)))
