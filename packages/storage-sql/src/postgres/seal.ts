/**
 * Finishing prepared drafts under the lock: the same bytes as core's `sealDrafts`. Spec: chain-format sections 1 and 2.
 */
import type { Head } from "@flyball/core/storage"
import type { Crypto } from "@flyball/evidence"
import { formatInstant, toHex } from "@flyball/evidence"
import type { PreparedDraft } from "./prepare.ts"

/** A record ready to be stored. */
export interface Sealed extends Head {
  readonly prepared: PreparedDraft
  readonly bytes: Uint8Array
}

/** Largest record, in bytes. Spec: chain-format section 1. */
export const maxRecordBytes = 65_536

/** `{"at":"`, 24 characters, `",`. */
const prefixBytes = 33
/** `,"prev":"`, 64 digits, `","seq":` and `,"v":1}`: all of the end but the digits of seq. */
const suffixBytes = 88

/** Says what is wrong with a record of this seq before any is sealed; null when nothing is. */
export const sizeProblem = ({ middle }: PreparedDraft, seq: number): string | null => {
  const length = prefixBytes + middle.length + suffixBytes + String(seq).length
  return length <= maxRecordBytes
    ? null
    : `Expected a record of at most ${maxRecordBytes} bytes, saw ${length}. Move large content into parts.`
}

/** Seals one draft onto the head. `atMs` is not before the head's. */
export const sealPrepared = (crypto: Crypto, head: Head, atMs: number, prepared: PreparedDraft): Sealed => {
  const seq = head.seq + 1
  const { middle } = prepared
  const suffix = `,"prev":"${toHex(head.hash)}","seq":${seq},"v":1}`
  const bytes = Buffer.allocUnsafe(prefixBytes + middle.length + suffix.length)
  bytes.write(`{"at":"${formatInstant(atMs)}",`, "latin1")
  bytes.set(middle, prefixBytes)
  bytes.write(suffix, prefixBytes + middle.length, "latin1")
  return { seq, atMs, hash: crypto.leafHash(bytes), bytes, prepared }
}
