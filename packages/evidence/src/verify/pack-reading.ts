/**
 * Reads the lines of one pack in order and checks each where it stands. What needs the whole pack is decided
 * afterwards.
 */
import type { Crypto } from "../crypto.ts"
import { verifyConsistency } from "../merkle/verify.ts"
import { equalBytes } from "../bytes.ts"
import type { PackHeader } from "../pack/format.ts"
import { HASH_BYTES, MAX_FIRST_LINE_BYTES, MAX_HINTS, MAX_LINE_BYTES, MAX_TOKENS, PACK_FORMAT } from "../pack/format.ts"
import { LineReader } from "../pack/line-reader.ts"
import { tagsAfter } from "../pack/order.ts"
import type { Closing } from "./closing-lines.ts"
import { readClosingLine, readDigestLine } from "./closing-lines.ts"
import { Erasures } from "./erasures.ts"
import { base64Field, fieldsOf, hashFields, nameField, numberField, partField, requireFields } from "./fields.ts"
import { Findings, Unreadable } from "./findings.ts"
import type { PackCheckpoint } from "./head-lines.ts"
import { readCheckpointLine, readFirstLine, readHeaderLine, readHintLine, readTokenLine } from "./head-lines.ts"
import { Hints } from "./hints.ts"
import { PartChecks } from "./part-checks.ts"
import { PartLog } from "./part-log.ts"
import type { PartRun } from "./part-run.ts"
import { PartRunChecker, partRunOf } from "./part-run.ts"
import type { PartWalk } from "./part-walk.ts"
import { RecordChecks } from "./record-checks.ts"
import type { RecordRun, RunAhead } from "./record-run.ts"
import { RunChecker } from "./record-run.ts"
import { TreeChecks } from "./tree-checks.ts"

/** What a reading needs beside the bytes. */
export interface ReadingOptions {
  /** Sizes at which the root of a full pack is wanted. */
  readonly rootsAt: ReadonlyArray<number>
  /**
   * Bytes of memory for commitments; past it the pack is read a second time, if a line asks for one. 0: nothing is
   * kept.
   */
  readonly partBudget: number
  /** Starts that second reading; without it the memory for commitments has no bound but the pack. */
  readonly reread: (() => PartWalk) | null
  readonly onRecord: ((bytes: Uint8Array, seq: number | null) => void) | null
}

/**
 * One reading of one pack. Feed chunks, call `line` for each line of the `reader`, and `end` when the bytes are over.
 * `run`, called between
 * lines, takes many at once and changes nothing but the time.
 *
 * `line` and `end` throw `Unreadable` when reading cannot go on. Everything else becomes a finding.
 */
export class PackReading {
  readonly reader: LineReader
  readonly findings = new Findings()
  readonly erasures = new Erasures()
  readonly hints: Hints
  readonly partLog: PartLog
  readonly parts: PartChecks
  origin: string | null = null
  header: PackHeader | null = null
  checkpoint: PackCheckpoint | null = null
  older: PackCheckpoint | null = null
  /** The older checkpoint leads to the newer one by its proof. */
  olderHolds = false
  tokens = 0
  records: RecordChecks | null = null
  tree: TreeChecks | null = null
  /** Records that do not ascend have no parts to find in order; the D and E lines are then not judged. */
  partsSkipped = false
  closing: (Closing & { readonly line: number }) | null = null

  readonly #crypto: Crypto
  readonly #options: ReadingOptions
  /** Tag of the line before, and how many lines of it there were. */
  #tag = ""
  #repeats = 0
  #consecutive = false
  /** Made when there are records to check. */
  #runChecker: RunChecker | null = null
  /** Runs that somebody else found in this chunk, and the first of them that may still be to come. */
  #runsAhead: ReadonlyArray<RunAhead> = []
  #nextAhead = 0
  /** Runs are looked for in this chunk. */
  #runs = false
  /** Made when there is a part to check. */
  #partChecker: PartRunChecker | null = null
  /** D lines that somebody else found at the beginning of this chunk. */
  #ahead: PartRun | null = null
  #statedDigest: Uint8Array = new Uint8Array(HASH_BYTES)

  constructor(crypto: Crypto, options: ReadingOptions) {
    this.#crypto = crypto
    this.#options = options
    this.reader = new LineReader(crypto, MAX_FIRST_LINE_BYTES)
    this.hints = new Hints(crypto)
    this.partLog = new PartLog(options.reread === null ? Infinity : options.partBudget)
    this.parts = new PartChecks(this.findings, this.erasures, () =>
      this.partLog.overflowed ? options.reread!() : this.partLog.walk()
    )
  }

  /** Takes the reader's current line. A promise only where a second reading may be needed. */
  line(): void | Promise<void> {
    const { bytes, end, line, start } = this.reader
    // The one line that comes by the million.
    if (
      this.#tag === "R" &&
      this.#consecutive &&
      bytes[start] === LETTER_R &&
      bytes[start + 1] === SPACE &&
      end > start + 2
    )
      return this.#record(bytes, start + 2, end, line)
    if (line === 1) return this.#first(bytes, start, end)
    this.#enter(bytes, start, end)
    return this.#take(bytes, start + 2, end, line)
  }

  /** Begins a chunk. `run`: what somebody else found at its beginning; `runs`: anywhere in it. */
  feed(chunk: Uint8Array, run: RecordRun | PartRun | null = null, runs: ReadonlyArray<RunAhead> = []): void {
    this.reader.feed(chunk)
    this.#runs = true
    this.#runsAhead = runs
    this.#nextAhead = 0
    this.#ahead = run !== null && "commitments" in run && this.reader.rest() !== null ? run : null
    if (run !== null && "subtrees" in run && this.#expectsRecords()) this.#takeRun(run)
  }

  /**
   * Takes all records in good order that come next in the chunk: those of which `line` would say nothing. Or all D
   * lines in good form, of which it says the same.
   */
  run(): void | Promise<void> {
    while (this.#runs && this.#expectsRecords()) {
      const { bytes, start } = this.reader.rest()!
      if (bytes[start] !== LETTER_R) break
      const ahead = this.#aheadOf(start)
      if (ahead?.at === start) {
        this.#runs = this.#takeRun(ahead.run)
        continue
      }
      const checker = (this.#runChecker ??= new RunChecker(this.#crypto))
      const run = checker.check(bytes, start, ahead?.at ?? bytes.length, !this.partLog.overflowed)
      if (run === null && !checker.broken) break
      // Work done for nothing. In a pack that is wrong everywhere, trying again after every line would make much of it.
      if (run === null || !this.#takeRun(run)) this.#runs = false
    }
    if (this.#expectsParts()) return this.#runParts()
  }

  /** The bytes are over. */
  end(): void {
    if (this.reader.tooLong) throw this.#tooLong()
    if (this.reader.unfinished)
      throw new Unreadable("E_FORMAT", "a newline at the end of every line", "a last line without one")
    if (this.#tag !== "N") throw new Unreadable("E_FORMAT", this.#wanted(), "the end of the file")
  }

  /** Whether a line begins here that may be one of consecutive records, and nobody wants to see each. */
  #expectsRecords(): boolean {
    return this.#tag === "R" && this.#consecutive && this.#options.onRecord === null && this.reader.rest() !== null
  }

  /** Whether a D line begins here, and may. */
  #expectsParts(): boolean {
    const rest = this.records === null ? null : this.reader.rest()
    return rest !== null && rest.bytes[rest.start] === LETTER_D && this.#mayFollow().includes("D")
  }

  async #runParts(): Promise<void> {
    const checker = (this.#partChecker ??= new PartRunChecker(this.#crypto))
    while (this.#expectsParts()) {
      const { bytes, start } = this.reader.rest()!
      const run = this.#ahead ?? checker.check(bytes, start, bytes.length)
      this.#ahead = null
      if (run === null) return
      this.#tag = "D"
      if (this.#partsReadable()) await this.parts.disclose(run, this.reader.line + 1)
      this.reader.skip(run.count, run.length)
    }
  }

  /** The run known beforehand that begins here or later. */
  #aheadOf(start: number): RunAhead | undefined {
    while (this.#nextAhead < this.#runsAhead.length && this.#runsAhead[this.#nextAhead]!.at < start) this.#nextAhead++
    return this.#runsAhead[this.#nextAhead]
  }

  #takeRun(run: RecordRun): boolean {
    const [records, tree] = [this.records!, this.tree!]
    if (!records.joins(run) || !tree.fits(run)) return false
    records.take(run)
    tree.take(run)
    this.reader.skip(run.count, run.length)
    return true
  }

  #take(bytes: Uint8Array, from: number, end: number, line: number): void | Promise<void> {
    switch (this.#tag) {
      case "H":
        this.header = readHeaderLine(bytes, from, end)
        return
      case "C":
        return this.#begin(readCheckpointLine(bytes, from, end, line))
      case "G":
        this.older = readCheckpointLine(bytes, from, end, line)
        this.hints.expect(this.older.note)
        return this.#checkOrigin(this.older)
      case "X":
        return this.#consistency(hashFields(fieldsOf(bytes, from, end), 0), line)
      case "W":
        this.tokens = this.#repeats
        return readTokenLine(bytes, from, end)
      case "K":
        return this.hints.add(readHintLine(bytes, from, end), this.origin!, line)
      case "R":
        return this.#record(bytes, from, end, line)
      case "D":
        return this.#disclosed(bytes, from, end, line)
      default:
        return this.#fields(fieldsOf(bytes, from, end), bytes, from, end, line)
    }
  }

  #fields(
    fields: ReadonlyArray<string>,
    bytes: Uint8Array,
    start: number,
    end: number,
    line: number
  ): void | Promise<void> {
    switch (this.#tag) {
      case "I": {
        const { leaf, seq } = this.records!
        return this.tree!.prove(leaf, seq, numberField(fields, 0, "the seq of a record"), hashFields(fields, 1), line)
      }
      case "S":
        return this.tree!.range(
          numberField(fields, 0, "the first seq"),
          numberField(fields, 1, "the last seq"),
          hashFields(fields, 2),
          line
        )
      case "E":
        return this.#erased(fields, line)
      case "Z":
        this.#statedDigest = readDigestLine(this.findings, fields, line, this.reader.digestBefore())
        return this.#endParts()
      default: {
        const expected = { origin: this.origin!, size: this.checkpoint!.size, digest: this.#statedDigest }
        this.closing = { ...readClosingLine(this.findings, { bytes, start, end, line }, expected), line }
      }
    }
  }

  #first(bytes: Uint8Array, start: number, end: number): void {
    this.origin = readFirstLine(bytes, start, end)
    this.#tag = FIRST
    this.reader.limit = MAX_LINE_BYTES
  }

  /** Finds the tag of a line and whether it may stand here. */
  #enter(bytes: Uint8Array, start: number, end: number): void {
    const tag = String.fromCharCode(bytes[start] ?? 0)
    // X has no payload when its proof is empty; every other line has one behind a single space.
    const spaced = bytes[start + 1] === SPACE && end > start + 2
    if (end === start || !(spaced || (tag === "X" && end === start + 1))) {
      throw new Unreadable("E_FORMAT", `${this.#wanted()}, a space and a payload`, "a line of another form")
    }
    if (!this.#mayFollow().includes(tag))
      throw new Unreadable(
        "E_FORMAT",
        this.#wanted(),
        `a line of another sort (${/[A-Z]/.test(tag) ? tag : "unknown"})`
      )
    this.#repeats = this.#tag === tag ? this.#repeats + 1 : 1
    this.#tag = tag
    if (tag === "K" && this.#repeats > MAX_HINTS)
      throw new Unreadable("E_LIMIT", `at most ${MAX_HINTS} K lines`, "more")
    if (tag === "W" && this.#repeats > MAX_TOKENS)
      throw new Unreadable("E_LIMIT", `at most ${MAX_TOKENS} W lines`, "more")
  }

  #mayFollow(): string {
    return this.#tag === FIRST ? "H" : tagsAfter(this.header?.kind ?? "full", this.#tag)
  }

  #wanted(): string {
    if (this.#tag === "") return `a first line that starts with ${PACK_FORMAT}`
    const tags = [...this.#mayFollow()]
    return tags.length === 0 ? "nothing after the N line" : `a line ${tags.join(" or ")}`
  }

  #tooLong(): Unreadable {
    if (this.#tag === "")
      return new Unreadable("E_FORMAT", this.#wanted(), "a longer line: this is not an evidence pack")
    return new Unreadable("E_LIMIT", `a line of at most ${MAX_LINE_BYTES} bytes`, "a longer one")
  }

  #begin(checkpoint: PackCheckpoint): void {
    const header = this.header!
    this.checkpoint = checkpoint
    this.hints.expect(checkpoint.note)
    this.#checkOrigin(checkpoint)
    this.#consecutive = header.kind !== "sparse"
    this.tree = new TreeChecks(this.#crypto, this.findings, header, checkpoint, this.#options.rootsAt)
    this.records = new RecordChecks(this.#crypto, this.origin!, header, {
      erasures: this.erasures,
      findings: this.findings,
      hints: this.hints,
      parts: this.partLog
    })
  }

  #checkOrigin(checkpoint: PackCheckpoint): void {
    if (checkpoint.origin === this.origin) return
    this.findings.add("E_ORIGIN", {
      line: checkpoint.line,
      expected: `a checkpoint of ${this.origin}`,
      found: "one of another origin"
    })
  }

  #consistency(proof: ReadonlyArray<Uint8Array>, line: number): void {
    const older = this.older!
    const newer = this.checkpoint!
    if (older.size === newer.size && !equalBytes(older.root, newer.root)) {
      this.findings.add("E_SPLIT_VIEW", {
        line: older.line,
        expected: `one root for size ${newer.size}`,
        found: "two checkpoints with different roots"
      })
      return
    }
    this.olderHolds = verifyConsistency(this.#crypto, {
      from: older.size,
      to: newer.size,
      fromRoot: older.root,
      toRoot: newer.root,
      proof
    })
    if (this.olderHolds) return
    this.findings.add("E_CONSISTENCY", {
      line,
      expected: `a proof that the tree of ${newer.size} records begins with that of ${older.size}`,
      found: older.size > newer.size ? "an older checkpoint that is larger" : "a proof that does not show it"
    })
  }

  #record(bytes: Uint8Array, start: number, end: number, line: number): void {
    const records = this.records!
    records.check(bytes, start, end, line)
    if (this.#consecutive) this.tree!.push(records.leaf)
    this.#options.onRecord?.(bytes.subarray(start, end), records.seq)
  }

  async #disclosed(bytes: Uint8Array, start: number, end: number, line: number): Promise<void> {
    const checker = (this.#partChecker ??= new PartRunChecker(this.#crypto))
    const part = checker.checkLine(bytes, start, end) ?? this.#disclosedFields(fieldsOf(bytes, start, end))
    if (this.#partsReadable()) await this.parts.disclose(part, line)
  }

  /** A D line in another form than the one, and what is wrong with it. */
  #disclosedFields(fields: ReadonlyArray<string>): PartRun {
    requireFields(fields, 4, "D <seq> <name> <salt> <part>")
    const seq = numberField(fields, 0, "the seq of a record")
    const name = nameField(fields, 1)
    const salt = base64Field(fields, 2, "a salt")
    if (salt.length !== HASH_BYTES)
      throw new Unreadable("E_FORMAT", `a salt of ${HASH_BYTES} bytes`, `${salt.length} bytes`)
    return partRunOf(seq, name, Uint8Array.from(this.#crypto.commitment(salt, name, partField(fields, 3))))
  }

  async #erased(fields: ReadonlyArray<string>, line: number): Promise<void> {
    requireFields(fields, 3, "E <seq> <name> <erasing seq>")
    const seq = numberField(fields, 0, "the seq of a record")
    const name = nameField(fields, 1)
    const erasingSeq = numberField(fields, 2, "the seq of the erasing record")
    if (!this.#partsReadable()) return
    if (this.#repeats === 1) await this.parts.endDisclosed()
    this.parts.erase(line, seq, name, erasingSeq)
  }

  /** Erasures that no E line asked about: whether their part is in the pack. */
  async #endParts(): Promise<void> {
    if (this.#partsReadable() && !this.erasures.isEmpty) await this.parts.endDisclosed()
  }

  #partsReadable(): boolean {
    this.partsSkipped = this.records!.outOfOrder
    return !this.partsSkipped
  }
}

const LETTER_D = 0x44
const LETTER_R = 0x52
const SPACE = 0x20
/** Stands for the first line, which has no tag. */
const FIRST = "^"
