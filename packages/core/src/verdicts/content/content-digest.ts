/** Digests content, to see that a decision that comes again says the same. Decision 0002. */
import type { Crypto } from "@flyball/evidence"
import { utf8 } from "@flyball/evidence"
import type { PartDraft } from "../../storage/port.ts"

const LABEL = utf8("flyball/v1 capture content")
/** Longest content that is put together in the buffer below; longer ones are rare and get one of their own. */
const SCRATCH_BYTES = 65_536
/** Used again and again: no Effect and no promise runs between filling and wiping it. */
const scratch = new Uint8Array(SCRATCH_BYTES)
const encoder = new TextEncoder()

/**
 * SHA-256 over the body text and the parts, each piece after its length.
 *
 * - Unit: 64 lower-case hex digits.
 * - Shape: `bodyText` is the RFC 8785 form of the caller's members; parts are sorted by name.
 * - Spec: api "decisions, chain, evidence"; decision 0002 says why this equals the digest of the whole decision.
 */
export const contentDigest = (crypto: Crypto, bodyText: string, parts: ReadonlyArray<PartDraft>): string => {
  // At most: a unit of a text has up to three bytes.
  let room = 4 + LABEL.length + 4 + bodyText.length * 3
  for (const { bytes, name } of parts) room += 8 + name.length * 3 + bytes.length
  const buffer = room <= SCRATCH_BYTES ? scratch : new Uint8Array(room)
  let end = putText(buffer, putBytes(buffer, 0, LABEL), bodyText)
  for (const { bytes, name } of parts) end = putBytes(buffer, putText(buffer, end, name), bytes)
  const digest = crypto.sha256Hex(buffer.subarray(0, end))
  // What may be erased later must not survive in a buffer of ours.
  buffer.fill(0, 0, end)
  return digest
}

const putBytes = (buffer: Uint8Array, at: number, bytes: Uint8Array): number => {
  putLength(buffer, at, bytes.length)
  buffer.set(bytes, at + 4)
  return at + 4 + bytes.length
}

/** Texts up to this are written unit by unit: calling the encoder takes longer. */
const SHORT_TEXT = 32

const putText = (buffer: Uint8Array, at: number, text: string): number => {
  if (text.length <= SHORT_TEXT && putAscii(buffer, at + 4, text)) {
    putLength(buffer, at, text.length)
    return at + 4 + text.length
  }
  const { written } = encoder.encodeInto(text, buffer.subarray(at + 4))
  putLength(buffer, at, written)
  return at + 4 + written
}

/** False where a unit needs more than one byte; what was written so far is then written over. */
const putAscii = (buffer: Uint8Array, at: number, text: string): boolean => {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) return false
    buffer[at + index] = unit
  }
  return true
}

const putLength = (buffer: Uint8Array, at: number, length: number): void => {
  buffer[at] = length >>> 24
  buffer[at + 1] = length >>> 16
  buffer[at + 2] = length >>> 8
  buffer[at + 3] = length
}
