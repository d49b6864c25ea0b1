/**
 * Checks the form of each record, and the chain rules against the record before it. Spec: format 1 sections 1 and 6.
 */
import { toHex } from "../../bytes.ts"
import type { Crypto } from "../../crypto.ts"
import type { PackHeader } from "../../pack/format.ts"
import { formatInstant } from "../../record/instant.ts"
import { NO_RECORD } from "../../record/record.ts"
import { RecordScanner } from "../../record/scan.ts"
import type { Findings } from "../findings.ts"
import { Unreadable } from "../../pack/unreadable.ts"
import type { PackFacts, PackHead } from "../pack-facts.ts"
import type { PartMemory } from "./committed-parts.ts"
import type { Erasures } from "./erasures.ts"
import type { KeyHints } from "./key-hints.ts"
import type { Body } from "./record-bodies.ts"
import { readErased, readGenesis, readRotated } from "./record-bodies.ts"

/** Checks the records of one pack in the order of the file. */
export class RecordChecks {
  /** R lines so far. */
  count = 0
  /** Parts that these records commit to. */
  partCount = 0
  /** Hash of the last record. */
  leaf: Uint8Array = new Uint8Array(32)
  /** The seq that the last record states. Null when the record cannot be read. */
  seq: number | null = null
  /** The seqs do not ascend. Checks that rely on the order of records have no meaning then. */
  outOfOrder = false

  readonly #crypto: Crypto
  readonly #origin: string
  readonly #header: PackHeader
  readonly #findings: Findings
  readonly #erasures: Erasures
  readonly #hints: KeyHints
  readonly #parts: PartMemory | null
  readonly #scanner = new RecordScanner()
  readonly #consecutive: boolean
  /** The seq that the next record must have. In a sparse pack, the least seq that it may have. */
  #expected: number
  /** `leaf` is the hash of the record just before the expected one. */
  #leafIsBefore = false
  #greatestAtMs = -Infinity

  /** `parts` receives the parts of each record, unless the pack can be read again for them. */
  constructor(crypto: Crypto, { header, origin }: PackHead, facts: PackFacts, parts: PartMemory | null) {
    this.#crypto = crypto
    this.#origin = origin
    this.#header = header
    this.#findings = facts.findings
    this.#erasures = facts.erasures
    this.#hints = facts.hints
    this.#parts = parts
    this.#consecutive = header.kind !== "sparse"
    this.#expected = header.from
  }

  /** Checks the record at [start, end) and hashes it. A bad record is hashed too: its hash is part of the tree. */
  check(bytes: Uint8Array, start: number, end: number, line: number): void {
    const scanner = this.#scanner
    const before = this.#leafIsBefore ? this.leaf : null
    const problem = scanner.scan(bytes, start, end, before)
    this.leaf = this.#crypto.leafHash(bytes.subarray(start, end))
    this.count++
    if (problem !== null) {
      // A carriage return marks a file that was rewritten in transit. It is never part of a record.
      if (bytes.subarray(start, end).includes(CARRIAGE_RETURN)) {
        throw new Unreadable("E_FORMAT", "lines that end in a newline alone", "a carriage return")
      }
      const { code, expected, found } = problem
      this.#findings.add(code, { line, seq: this.#consecutive ? this.#expected : null, expected, found })
      this.seq = null
      // Its hash is known, so prev of the next record can be checked where records are consecutive.
      this.#leafIsBefore = this.#consecutive
      this.#expected++
      return
    }
    const { seq } = scanner
    this.seq = seq
    const adjacent = this.#leafIsBefore && seq === this.#expected
    if (seq !== this.#expected) this.#checkSeq(seq, line)
    if (adjacent ? !scanner.prevMatches : seq === 0 && scanner.prev() !== NO_RECORD) {
      this.#reportPrev(seq, line, adjacent ? before : null)
    }
    // Not "<": NaN, which is no instant, must be reported too.
    if (!(scanner.atMs >= this.#greatestAtMs)) this.#reportTime(seq, line)
    else this.#greatestAtMs = scanner.atMs
    this.#expected = seq + 1
    this.#leafIsBefore = true
    this.partCount += scanner.partCount
    this.#parts?.add(scanner)
    this.#checkBody(seq, line)
  }

  #checkSeq(seq: number, line: number): void {
    const found = `record ${seq}`
    if (this.#consecutive) {
      this.#findings.add("E_SEQ", { line, seq, expected: `record ${this.#expected}`, found })
    } else if (seq < this.#expected || seq > this.#header.to) {
      this.#findings.add("E_SEQ", {
        line,
        seq,
        expected: `a record from ${this.#expected} to ${this.#header.to}`,
        found
      })
    }
    if (seq < this.#expected) this.outOfOrder = true
  }

  #reportPrev(seq: number, line: number, before: Uint8Array | null): void {
    const expected =
      before === null ? `prev ${NO_RECORD}` : `prev ${toHex(before)}, the hash of record ${seq - 1} as it stands here`
    this.#findings.add("E_PREV", { line, seq, expected, found: `prev ${this.#scanner.prev()}` })
  }

  #reportTime(seq: number, line: number): void {
    const { atMs } = this.#scanner
    const [expected, found] = Number.isNaN(atMs)
      ? ["at as a real instant", "another text"]
      : [`at not before ${formatInstant(this.#greatestAtMs)}`, `at ${formatInstant(atMs)}`]
    this.#findings.add("E_TIME", { line, seq, expected, found })
  }

  /** The verifier reads the body of record 0 and of three kinds. */
  #checkBody(seq: number, line: number): void {
    const scanner = this.#scanner
    const isGenesis = scanner.kindIs("chain.genesis")
    if (isGenesis && seq !== 0) {
      const found = `chain.genesis as record ${seq}`
      this.#findings.add("E_SEQ", { line, seq, expected: "chain.genesis as record 0 only", found })
    } else if (isGenesis) {
      const genesis = this.#accept(readGenesis(scanner.body(), this.#origin), seq, line)
      for (const vkey of genesis?.vkeys ?? []) this.#hints.addRecorded(vkey, this.#origin)
    } else if (seq === 0) {
      this.#findings.add("E_NONCANONICAL", { line, seq, expected: "chain.genesis as record 0", found: "another kind" })
    } else if (scanner.kindIs("part.erased")) {
      const erased = this.#accept(readErased(scanner.body()), seq, line)
      // A record that names itself or a later record erases nothing.
      if (erased !== null && erased.seq < seq) this.#erasures.add(erased.seq, erased.name, seq)
    } else if (scanner.kindIs("key.rotated")) {
      const rotated = this.#accept(readRotated(scanner.body()), seq, line)
      if (rotated !== null) this.#hints.addRotation(seq, rotated.fromKeyId, rotated.to, this.#origin)
    }
  }

  #accept<A>(read: Body<A>, seq: number, line: number): A | null {
    if (read.ok) return read.body
    this.#findings.add(read.code, { line, seq, expected: read.expected, found: read.found })
    return null
  }
}

const CARRIAGE_RETURN = 0x0d
