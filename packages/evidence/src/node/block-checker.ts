/** Checks blocks of whole lines, whatever lines they begin with. */
import type { PartRun } from "../verify/part-run.ts"
import { PART_ROOM_BYTES, partRoom, PartRunChecker } from "../verify/part-run.ts"
import type { RunAhead } from "../verify/record-run.ts"
import { hashInto } from "./hash-into.ts"
import { RunFinder } from "./run-finder.ts"

/**
 * A buffer for blocks of this size, with room behind the block for what is found in it: it goes from thread to thread
 * with the block, and is used again.
 */
export const blockBuffer = (blockBytes: number): ArrayBuffer =>
  new ArrayBuffer(8 * Math.ceil(blockBytes / 8) + PART_ROOM_BYTES)

/** Checks one block after another, each in a `blockBuffer`. What it answers is valid as long as the block is. */
export class BlockChecker {
  readonly #finder: RunFinder | null
  /** Made when the first D line comes: most packs have none. */
  #parts: PartRunChecker | null = null

  /** `program`: what `recordModule` made; without it nothing is found of records. */
  constructor(program: WebAssembly.Module | null) {
    this.#finder = program === null ? null : new RunFinder(program)
  }

  /**
   * The run of D lines at the beginning of a block, or the runs of records anywhere in it. `keepParts`: see
   * `RunChecker`.
   */
  check(
    bytes: Uint8Array<ArrayBuffer>,
    keepParts: boolean
  ): { readonly run: PartRun | null; readonly runs: ReadonlyArray<RunAhead> } {
    if (bytes[0] !== LETTER_D) return { run: null, runs: this.#finder?.find(bytes, keepParts) ?? [] }
    this.#parts ??= new PartRunChecker({ sha256Into: hashInto })
    return {
      run: this.#parts.check(bytes, 0, bytes.length, partRoom(bytes.buffer, bytes.buffer.byteLength - PART_ROOM_BYTES)),
      runs: []
    }
  }
}

const LETTER_D = 0x44
