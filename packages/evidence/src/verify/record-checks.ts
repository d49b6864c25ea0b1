/** Record after record: form, chain rules, and its place in the tree. This is where a verifier spends its time. */
import { equalBytes, toHex } from "../bytes.ts"
import type { Crypto } from "../crypto.ts"
import type { PackHeader } from "../pack/format.ts"
import { formatInstant } from "../record/instant.ts"
import { NO_RECORD } from "../record/record.ts"
import { RecordScanner } from "../record/scan.ts"
import { Unreadable } from "./findings.ts"
import type { Findings } from "./findings.ts"
import type { Erasures } from "./erasures.ts"
import { hasBodyToCheck } from "./has-body.ts"
import type { Hints } from "./hints.ts"
import type { PartLog } from "./part-log.ts"
import type { Body } from "./record-bodies.ts"
import { readErased, readGenesis, readRotated } from "./record-bodies.ts"
import type { RecordRun } from "./record-run.ts"

/** Where the records of a pack report to. */
export interface RecordSinks {
  readonly findings: Findings
  readonly erasures: Erasures
  readonly hints: Hints
  readonly parts: PartLog
}

/** Checks the records of one pack in the order in which they stand. */
export class RecordChecks {
  /** R lines so far. */
  count = 0
  /** Hash of the last record. */
  leaf: Uint8Array = new Uint8Array(32)
  /** The seq that the last record states; null when it cannot be read. */
  seq: number | null = null
  /** Records do not ascend: what relies on their order has no meaning. */
  outOfOrder = false

  readonly #crypto: Crypto
  readonly #origin: string
  readonly #header: PackHeader
  readonly #sinks: RecordSinks
  readonly #scanner = new RecordScanner()
  readonly #consecutive: boolean
  /** The seq that the next record should have; in a sparse pack the least it may have. */
  #expected: number
  /** Whether `leaf` is the hash of the record just before the expected one. */
  #leafIsBefore = false
  #greatestAtMs = -Infinity

  constructor(crypto: Crypto, origin: string, header: PackHeader, sinks: RecordSinks) {
    this.#crypto = crypto
    this.#origin = origin
    this.#header = header
    this.#sinks = sinks
    this.#consecutive = header.kind !== "sparse"
    this.#expected = header.from
  }

  /** Checks the record at [start, end) and hashes it, whatever it is: its hash is part of the tree. */
  check(bytes: Uint8Array, start: number, end: number, line: number): void {
    const scanner = this.#scanner
    const before = this.#leafIsBefore ? this.leaf : null
    const problem = scanner.scan(bytes, start, end, before)
    this.leaf = this.#crypto.leafHash(bytes.subarray(start, end))
    this.count++
    if (problem !== null) {
      // A carriage return is a mark of a file that something rewrote on its way, and never part of a record.
      if (bytes.subarray(start, end).includes(CARRIAGE_RETURN))
        throw new Unreadable("E_FORMAT", "lines that end in a newline alone", "a carriage return")
      this.#sinks.findings.add(problem.code, {
        line,
        seq: this.#consecutive ? this.#expected : null,
        expected: problem.expected,
        found: problem.found
      })
      this.seq = null
      // Its hash is known all the same, so the next record's prev can be checked, where records are consecutive.
      this.#leafIsBefore = this.#consecutive
      this.#expected++
      return
    }
    const { seq } = scanner
    this.seq = seq
    const adjacent = this.#leafIsBefore && seq === this.#expected
    if (seq !== this.#expected) this.#checkSeq(seq, line)
    if (adjacent ? !scanner.prevMatches : seq === 0 && scanner.prev() !== NO_RECORD)
      this.#reportPrev(seq, line, adjacent ? before : null)
    // Not "<": NaN, which is no instant, must end up here too.
    if (!(scanner.atMs >= this.#greatestAtMs)) this.#reportTime(seq, line)
    else this.#greatestAtMs = scanner.atMs
    this.#expected = seq + 1
    this.#leafIsBefore = true
    if (scanner.partCount > 0) this.#sinks.parts.add(bytes, scanner)
    if (hasBodyToCheck(scanner, bytes)) this.#checkBody(seq, line)
  }

  /** Whether a run goes on where the last record ended, so that nothing is to be said of any record of it. */
  joins(run: RecordRun): boolean {
    return (
      this.#leafIsBefore &&
      run.firstSeq === this.#expected &&
      run.firstAtMs >= this.#greatestAtMs &&
      equalBytes(run.firstPrev, this.leaf)
    )
  }

  /** Takes a run that joins. */
  take(run: RecordRun): void {
    this.count += run.count
    this.leaf = run.lastLeaf
    this.seq = run.firstSeq + run.count - 1
    this.#expected = this.seq + 1
    this.#greatestAtMs = run.lastAtMs
    this.#sinks.parts.append(run.partCount, run.parts)
  }

  #checkSeq(seq: number, line: number): void {
    const { findings } = this.#sinks
    if (this.#consecutive) {
      findings.add("E_SEQ", { line, seq, expected: `record ${this.#expected}`, found: `record ${seq}` })
    } else if (seq < this.#expected || seq > this.#header.to) {
      findings.add("E_SEQ", {
        line,
        seq,
        expected: `a record from ${this.#expected} to ${this.#header.to}`,
        found: `record ${seq}`
      })
    }
    if (seq < this.#expected) this.outOfOrder = true
  }

  #reportPrev(seq: number, line: number, before: Uint8Array | null): void {
    const expected =
      before === null ? `prev ${NO_RECORD}` : `prev ${toHex(before)}, the hash of record ${seq - 1} as it stands here`
    this.#sinks.findings.add("E_PREV", { line, seq, expected, found: `prev ${this.#scanner.prev()}` })
  }

  #reportTime(seq: number, line: number): void {
    const { findings } = this.#sinks
    if (Number.isNaN(this.#scanner.atMs))
      findings.add("E_TIME", { line, seq, expected: "at as a real instant", found: "another text" })
    else
      findings.add("E_TIME", {
        line,
        seq,
        expected: `at not before ${formatInstant(this.#greatestAtMs)}`,
        found: `at ${formatInstant(this.#scanner.atMs)}`
      })
  }

  #checkBody(seq: number, line: number): void {
    const scanner = this.#scanner
    const { erasures, findings, hints } = this.#sinks
    const isGenesis = scanner.kindIs("chain.genesis")
    if (isGenesis && seq !== 0) {
      findings.add("E_SEQ", {
        line,
        seq,
        expected: "chain.genesis as record 0 only",
        found: `chain.genesis as record ${seq}`
      })
    } else if (isGenesis) {
      const genesis = this.#accept(readGenesis(scanner.body(), this.#origin), seq, line)
      for (const vkey of genesis?.vkeys ?? []) hints.addRecorded(vkey, this.#origin)
    } else if (seq === 0) {
      findings.add("E_NONCANONICAL", { line, seq, expected: "chain.genesis as record 0", found: "another kind" })
    } else if (scanner.kindIs("part.erased")) {
      const erased = this.#accept(readErased(scanner.body()), seq, line)
      // One that names itself or a later record erases nothing; it is merely of no use.
      if (erased !== null && erased.seq < seq) erasures.add(erased.seq, erased.name, seq)
    } else if (scanner.kindIs("key.rotated")) {
      const rotated = this.#accept(readRotated(scanner.body()), seq, line)
      if (rotated !== null) hints.addRotation(seq, rotated.fromKeyId, rotated.to, this.#origin)
    }
  }

  #accept<A>(read: Body<A>, seq: number, line: number): A | null {
    if (read.ok) return read.body
    this.#sinks.findings.add(read.code, { line, seq, expected: read.expected, found: read.found })
    return null
  }
}

const CARRIAGE_RETURN = 0x0d
