/**
 * Finds the runs of records in a block by the program of `record-code.ts`: what `RunChecker` finds, for records it is
 * sure of.
 */
import { hash } from "node:crypto"
import { foldRun } from "../merkle/fold-run.ts"
import { instantAt } from "../record/instant.ts"
import { PartScanner } from "../record/part-scanner.ts"
import type { PartSegment } from "../verify/part-segment.ts"
import { PartWriter } from "../verify/part-segment.ts"
import type { RecordRun, RunAhead } from "../verify/record-run.ts"
import { BEHIND_BLOCK, BLOCK, LEAF, LEAVES, MAX_RUN, ROW, RUN, TABLE } from "./record-memory.ts"

interface Program {
  readonly memory: WebAssembly.Memory
  readonly run: (from: number, end: number) => number
  readonly leaf: (row: number) => number
  readonly linked: (count: number) => number
  readonly nodes: (from: number, to: number, groups: number) => void
}

const NEWLINE = 0x0a
const PAGE_BYTES = 65_536
/** Records whose hashes are written together: a digest is a text, and a longer text is written in the same time. */
const WRITTEN_TOGETHER = 64

/** Finds runs in blocks, one after another. */
export class RunFinder {
  readonly #program: Program
  #bytes!: Uint8Array<ArrayBuffer>
  #view!: DataView
  #text!: Buffer
  #leaves!: Uint8Array
  /**
   * The leaf by its length. Node hashes whole views only, and making one costs as much as copying a record to where it
   * is at hand.
   */
  #leafViews: Array<Uint8Array | undefined> = []
  readonly #partList = new PartScanner()
  readonly #parts = new PartWriter()
  readonly #nodes = {
    nodeHashes: (pairs: Uint8Array, count: number, out: Uint8Array): void => {
      if (count > 0) this.#program.nodes(pairs.byteOffset - 1, out.byteOffset, Math.ceil(count / 4))
    }
  }

  /** `module`: what `recordModule` made, in whatever thread. */
  constructor(module: WebAssembly.Module) {
    this.#program = new WebAssembly.Instance(module).exports as unknown as Program
    this.#attach()
  }

  /**
   * Room for blocks of so many bytes in the finder's own memory: one that is put there need not be copied. To be asked
   * for before anything else.
   */
  rooms(count: number, blockBytes: number): ReadonlyArray<Uint8Array<ArrayBuffer>> {
    const each = blockBytes + BEHIND_BLOCK
    this.#reach(BLOCK + count * each)
    return Array.from({ length: count }, (_, i) =>
      this.#bytes.subarray(BLOCK + i * each, BLOCK + i * each + blockBytes)
    )
  }

  /** The runs of a block, ascending. Between two of them are lines that somebody else must look at. */
  find(block: Uint8Array, keepParts: boolean): ReadonlyArray<RunAhead> {
    const { memory, run } = this.#program
    const start = block.buffer === memory.buffer ? block.byteOffset : BLOCK
    const end = start + block.length
    if (block.buffer !== memory.buffer) {
      this.#reach(end + BEHIND_BLOCK)
      this.#bytes.set(block, start)
    }
    const bytes = this.#bytes
    // Whatever lies behind a block is no part of a record.
    bytes.fill(0, end, end + BEHIND_BLOCK)
    const runs: Array<RunAhead> = []
    for (let at = start; at < end;) {
      const count = run(at, end)
      if (count === 0) {
        at = bytes.indexOf(NEWLINE, at) + 1
        if (at === 0 || at > end) break
        continue
      }
      const found = this.#finish(at, count, keepParts)
      if (found !== null) runs.push({ at: at - start, run: found })
      at = this.#view.getInt32(RUN.behind, true)
    }
    return runs
  }

  #finish(from: number, count: number, keepParts: boolean): RecordRun | null {
    const bytes = this.#bytes
    const view = this.#view
    const firstAtMs = instantAt(bytes, view.getInt32(TABLE + ROW.start, true) + AT_OFFSET)
    // The times of day are right; whether there is such a day shows here.
    if (Number.isNaN(firstAtMs)) return null
    this.#hashLeaves(count)
    if (this.#program.linked(count) === 0) return null
    const firstPrev = view.getInt32(TABLE + ROW.prev, true)
    const partCount = view.getInt32(RUN.parts, true)
    const firstSeq = Number(view.getBigUint64(RUN.lastSeq, true)) - count + 1
    const lastLeaf = this.#leaves.slice(32 * count - 32, 32 * count)
    return {
      count,
      length: view.getInt32(RUN.behind, true) - from,
      firstSeq,
      firstPrev: Uint8Array.from(Buffer.from(this.#text.toString("latin1", firstPrev, firstPrev + 64), "hex")),
      firstAtMs,
      lastAtMs: instantAt(bytes, view.getInt32(RUN.lastAt, true)),
      lastLeaf,
      subtrees: foldRun(this.#nodes, firstSeq, this.#leaves, count),
      partCount,
      parts: !keepParts ? null : partCount === 0 ? NO_PARTS : this.#keepParts(count, firstSeq)
    }
  }

  #hashLeaves(count: number): void {
    const { leaf } = this.#program
    const text = this.#text
    for (let from = 0; from < count; from += WRITTEN_TOGETHER) {
      const to = Math.min(count, from + WRITTEN_TOGETHER)
      let digests = ""
      for (let i = from; i < to; i++) digests += hash("sha256", this.#leafView(leaf(TABLE + ROW.bytes * i)), "binary")
      text.write(digests, LEAVES + 32 * from, 32 * (to - from), "latin1")
    }
  }

  #leafView(length: number): Uint8Array {
    if (length >= KEPT_VIEWS) return this.#bytes.subarray(LEAF, LEAF + length)
    return (this.#leafViews[length] ??= this.#bytes.subarray(LEAF, LEAF + length))
  }

  #keepParts(count: number, firstSeq: number): PartSegment {
    const partList = this.#partList
    for (let i = 0; i < count; i++) {
      const row = TABLE + ROW.bytes * i
      partList.scan(
        this.#view,
        this.#bytes,
        this.#view.getInt32(row + ROW.parts, true),
        this.#view.getInt32(row + ROW.newline, true)
      )
      this.#parts.add(this.#bytes, { seq: firstSeq + i, partList })
    }
    return this.#parts.take()
  }

  #reach(end: number): void {
    const { memory } = this.#program
    const missing = end - memory.buffer.byteLength
    if (missing <= 0) return
    memory.grow(Math.ceil(missing / PAGE_BYTES))
    this.#attach()
  }

  #attach(): void {
    const { buffer } = this.#program.memory
    this.#bytes = new Uint8Array(buffer)
    this.#view = new DataView(buffer)
    this.#text = Buffer.from(buffer)
    this.#leaves = this.#bytes.subarray(LEAVES, LEAVES + 32 * MAX_RUN)
    this.#leafViews = new Array<undefined>(KEPT_VIEWS).fill(undefined)
  }
}

const NO_PARTS: PartSegment = { count: 0, bytes: new Uint8Array(0), names: [] }
/** Where the instant begins in a record. */
const AT_OFFSET = 7
/** Records have few lengths, and few are longer. */
const KEPT_VIEWS = 4097
