/**
 * Records in good order, checked many at a time.
 *
 * Nearly all records of nearly all packs are good and need no word said about them. Here they are scanned, hashed,
 * linked and folded in four
 * loops over many records instead of one by one, and without knowing what came before: a worker can do it. This is the
 * fast
 * path only. It takes records for which `RecordChecks` would find nothing, and stops in front of the first that it is
 * not sure of.
 */
import type { Crypto } from "../crypto.ts"
import type { SubtreeRoot } from "../merkle/fold-run.ts"
import { foldRun } from "../merkle/fold-run.ts"
import { isHexOf, readHash } from "../record/hex-words.ts"
import { RecordScanner } from "../record/scan.ts"
import { hasBodyToCheck } from "./has-body.ts"
import type { PartSegment } from "./part-segment.ts"
import { PartWriter } from "./part-segment.ts"

/** What a run of records comes to: all that the rest of a check needs to know of them. */
export interface RecordRun {
  readonly count: number
  /** Bytes of its lines. */
  readonly length: number
  readonly firstSeq: number
  /** The hash that the first one's `prev` names. Whether the record before has it is the caller's to see. */
  readonly firstPrev: Uint8Array
  readonly firstAtMs: number
  readonly lastAtMs: number
  readonly lastLeaf: Uint8Array
  /** Roots over the records, as `foldRun` gives them. */
  readonly subtrees: ReadonlyArray<SubtreeRoot>
  readonly partCount: number
  /** Null when nobody wanted them. */
  readonly parts: PartSegment | null
}

/** A run somewhere in a block: `at` is where its first line begins. */
export interface RunAhead {
  readonly at: number
  readonly run: RecordRun
}

/** Records of one run at most. It bounds what a checker keeps, and a chunk seldom has more. */
export const MAX_RUN = 4096

/** As much of the port as a run needs, so that a thread need not load the rest. */
export type BatchHashes = Pick<Crypto, "leafHashes" | "nodeHashes">

/** Checks runs, one after another. */
export class RunChecker {
  readonly #crypto: BatchHashes
  readonly #scanner = new RecordScanner()
  readonly #parts = new PartWriter()
  /** Where each record begins and ends, and where the digits of its prev begin. */
  readonly #bounds = new Int32Array(2 * MAX_RUN)
  readonly #prevs = new Int32Array(MAX_RUN)
  readonly #leaves = new Uint8Array(32 * MAX_RUN)
  readonly #firstPrev = new Uint8Array(32)
  #firstAtMs = 0
  #lastAtMs = 0
  #lastSeq = 0
  #partCount = 0
  /** The last check found records in form whose links do not hold. */
  broken = false

  constructor(crypto: BatchHashes) {
    this.#crypto = crypto
  }

  /**
   * The run of R lines that begins at `start`; null when there is none, or when a record in it does not name the hash
   * of the one before (`broken`).
   * `keepParts`: whether the run should hold the parts, or only say how many there are.
   */
  check(bytes: Uint8Array, start: number, end: number, keepParts: boolean): RecordRun | null {
    this.broken = false
    const count = this.#scan(bytes, start, end, keepParts)
    const parts = keepParts ? this.#parts.take() : null
    if (count === 0) return null
    this.#crypto.leafHashes(bytes, this.#bounds, count, this.#leaves)
    const { view } = this.#scanner
    for (let i = 1; i < count && !this.broken; i++)
      this.broken = !isHexOf(view, this.#prevs[i]!, this.#leaves, 32 * i - 32)
    if (this.broken) return null
    const firstSeq = this.#lastSeq - count + 1
    const lastLeaf = this.#leaves.slice(32 * count - 32, 32 * count)
    return {
      count,
      length: this.#bounds[2 * count - 1]! + 1 - start,
      firstSeq,
      firstPrev: this.#firstPrev.slice(),
      firstAtMs: this.#firstAtMs,
      lastAtMs: this.#lastAtMs,
      lastLeaf,
      subtrees: foldRun(this.#crypto, firstSeq, this.#leaves, count),
      partCount: this.#partCount,
      parts
    }
  }

  /**
   * How many lines from `start` are records in form, of consecutive seq, of no earlier time, and with a body that
   * nobody reads.
   */
  #scan(bytes: Uint8Array, start: number, end: number, keepParts: boolean): number {
    const scanner = this.#scanner
    let at = start
    this.#partCount = 0
    for (let count = 0; count < MAX_RUN; count++) {
      if (at + 2 >= end || bytes[at] !== LETTER_R || bytes[at + 1] !== SPACE) return count
      const behind = scanner.scanOn(bytes, at + 2, end)
      if (behind < 0 || behind >= end || bytes[behind] !== NEWLINE || hasBodyToCheck(scanner, bytes)) return count
      if (count === 0) {
        if (Number.isNaN(scanner.atMs) || !readHash(scanner.view, scanner.prevStart, this.#firstPrev, 0)) return 0
        this.#firstAtMs = scanner.atMs
      } else if (scanner.seq !== this.#lastSeq + 1 || !(scanner.atMs >= this.#lastAtMs)) return count
      this.#lastSeq = scanner.seq
      this.#lastAtMs = scanner.atMs
      this.#partCount += scanner.partCount
      if (keepParts) this.#parts.add(bytes, scanner)
      this.#bounds[2 * count] = at + 2
      this.#bounds[2 * count + 1] = behind
      this.#prevs[count] = scanner.prevStart
      at = behind + 1
    }
    return MAX_RUN
  }
}

const LETTER_R = 0x52
const SPACE = 0x20
const NEWLINE = 0x0a
