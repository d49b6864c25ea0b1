/** A fast check of records before they are signed: it accepts or rejects, and leaves the findings to `checkRecord`. */
import type { Crypto } from "@flyball/evidence"
import { equalBytes, RecordScanner } from "@flyball/evidence"
import type { StoredRecord } from "../../storage/port.ts"
import type { Previous } from "./check-record.ts"

const NO_HASH = new Uint8Array(32)
/** The member whose value the store keeps in a column of its own. */
const AGENT = Uint8Array.from('"agent_id":', (letter) => letter.charCodeAt(0))
const QUOTE = 0x22
const OPEN_LIST = 0x5b
const OPEN_OBJECT = 0x7b
/** In the bytes it begins an escape, in the column it is itself: such an id is for the slow way. */
const BACKSLASH = 0x5c

/**
 * Gauges records one after another, always hashing their bytes; nothing is made out of them.
 *
 * Signing is due every 1,000 records on the host's thread, and nearly always all is in order: reading each record into
 * values takes ten times as long.
 */
export class RecordGauge {
  readonly #crypto: Crypto
  readonly #scanner = new RecordScanner()
  /** All bytes of the page that the last record was a piece of. */
  #page: Uint8Array = new Uint8Array(0)

  constructor(crypto: Crypto) {
    this.#crypto = crypto
  }

  /**
   * The seq and hash that the next record must follow; null where `checkRecord` has to examine this one. A test
   * holds the two against each other.
   */
  next(stored: StoredRecord, previous: Previous | null): Previous | null {
    const scanner = this.#scanner
    const seq = previous === null ? 0 : previous.seq + 1
    const hash = this.#crypto.leafHash(stored.bytes)
    if (stored.seq !== seq || !equalBytes(hash, stored.hash)) return null
    if (stored.bytes.buffer !== this.#page.buffer) this.#page = new Uint8Array(stored.bytes.buffer)
    const start = stored.bytes.byteOffset
    if (scanner.scan(this.#page, start, start + stored.bytes.length, previous?.hash ?? NO_HASH) !== null) return null
    if (!scanner.prevMatches || scanner.seq !== seq || !scanner.kindIs(stored.kind)) return null
    if ((stored.kind === "chain.genesis") !== (seq === 0)) return null
    // Written so that an instant that is none (NaN) is refused.
    if (!(scanner.atMs === stored.atMs && scanner.atMs >= (previous?.atMs ?? scanner.atMs))) return null
    return agentIs(this.#page, scanner.bodyStart, scanner.bodyEnd, stored.agentId)
      ? { seq, hash, atMs: Math.max(scanner.atMs, 0) }
      : null
  }
}

/**
 * Reports whether no `agent_id` of a body can be another than the store's column says.
 *
 * The bytes are in RFC 8785 form: these letters between bare quotes are a member's name, whatever texts hold. With no
 * bracket before it, it is the body's own
 * member. Else it may be nested: then it must be the only one.
 */
const agentIs = (bytes: Uint8Array, from: number, to: number, agentId: string | null): boolean => {
  const at = find(bytes, from, to)
  if (at < 0) return true
  if (agentId === null || bytes[at] !== QUOTE) return false
  for (let i = 0; i < agentId.length; i++) {
    const code = agentId.charCodeAt(i)
    if (code === BACKSLASH || bytes[at + 1 + i] !== code) return false
  }
  return bytes[at + 1 + agentId.length] === QUOTE && (isFlat(bytes, from + 1, at) || find(bytes, at, to) < 0)
}

/** Reports whether no container can begin here; one in a text counts too. */
const isFlat = (bytes: Uint8Array, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) if (bytes[at] === OPEN_OBJECT || bytes[at] === OPEN_LIST) return false
  return true
}

/** Index behind the next `"agent_id":`, or -1. */
const find = (bytes: Uint8Array, from: number, to: number): number => {
  for (let at = from; at + AGENT.length <= to; at++) {
    if (bytes[at] !== QUOTE || bytes[at + 1] !== AGENT[1]) continue
    let same = 2
    while (same < AGENT.length && bytes[at + same] === AGENT[same]) same++
    if (same === AGENT.length) return at + same
  }
  return -1
}
