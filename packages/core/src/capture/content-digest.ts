/** Whether a decision that comes again says the same. Decision 0002. */
import type { Crypto } from "@flyball/evidence"
import { concatBytes, toHex, utf8 } from "@flyball/evidence"
import type { PartDraft } from "../storage/port.ts"

const LABEL = utf8("flyball/v1 capture content")

/**
 * SHA-256 over the body text and the parts, each piece after its length.
 *
 * - Unit: 64 lower-case hex digits.
 * - Shape: `bodyText` is the RFC 8785 form of the caller's members; parts are sorted by name.
 * - Spec: api "decisions, chain, evidence"; decision 0002 says why this equals the digest of the whole decision.
 */
export const contentDigest = (crypto: Crypto, bodyText: string, parts: ReadonlyArray<PartDraft>): string => {
  const pieces = [LABEL, utf8(bodyText), ...parts.flatMap((part) => [utf8(part.name), part.bytes])]
  return toHex(crypto.sha256(concatBytes(...pieces.flatMap((piece) => [length32(piece.length), piece]))))
}

const length32 = (length: number): Uint8Array => Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length)
