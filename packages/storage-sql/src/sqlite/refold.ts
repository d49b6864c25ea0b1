/** The look that is taken at new records before they are signed for, in the thread that reads. Loaded when it is first asked for: a thread must start in tens of milliseconds. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { Refolder } from "@flyball/core/refold"
import type { Head, Refolded, StoredRecord } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import type { RecordRow } from "./rows.ts"
import { Words } from "./words.ts"

const hashBytes = 32
/** Records of one slice, which is looked at in a millisecond or two. A slice that ends where a tile does folds to one hash. */
const sliceRecords = 256
const leastPageBytes = 262_144

/** Hashes what one connection reads. The writer has another, and other code. */
export class SqliteRefolder {
  readonly #refolder = new Refolder(nodeCrypto)
  readonly #words: Words
  readonly #select: StatementSync
  /** A slice's rows side by side: whoever scans bytes that lie in one buffer needs to be shown it once. */
  #page = new Uint8Array(leastPageBytes)

  constructor(db: DatabaseSync) {
    this.#words = new Words(db)
    // Hash and bytes come as one value: making it takes more than copying it.
    this.#select = db.prepare("SELECT seq, kind, agent, at_ms, CAST(hash || bytes AS BLOB) FROM record WHERE seq BETWEEN ? AND ? ORDER BY seq")
    this.#select.setReturnArrays(true)
  }

  /** The records behind `previous` up to `to`, in slices: after each the generator yields, so that other requests are served in between. Spec: port, `refold`. */
  *fold(previous: Head | null, to: number): Generator<undefined, Refolded | null> {
    const subtrees: Array<Refolded["subtrees"][number]> = []
    let last = previous
    for (;;) {
      const next = (last?.seq ?? -1) + 1
      const end = Math.min(next - next % sliceRecords + sliceRecords - 1, to)
      const folded: Refolded | null = this.#refolder.fold(this.#read(next, end), last)
      if (folded === null || folded.last.seq !== end) return null
      subtrees.push(...folded.subtrees)
      last = folded.last
      if (end === to) return { subtrees, last }
      yield
    }
  }

  #read(from: number, to: number): ReadonlyArray<StoredRecord> {
    const rows = this.#select.all(from, to) as unknown as ReadonlyArray<RecordRow>
    const length = rows.reduce((sum, row) => sum + row[4].length, 0)
    if (length > this.#page.length) this.#page = new Uint8Array(length)
    const page = this.#page
    let at = 0
    return rows.map(([seq, kind, agent, atMs, hashAndBytes]): StoredRecord => {
      page.set(hashAndBytes, at)
      const bytesAt = at + hashBytes
      return {
        seq, kind: this.#words.text(kind), agentId: agent === null ? null : this.#words.text(agent), atMs,
        hash: page.subarray(at, bytesAt), bytes: page.subarray(bytesAt, at += hashAndBytes.length)
      }
    })
  }
}
