/** The look that is taken at new records before they are signed for, in the thread that reads. Loaded when it is first asked for: a thread must start in tens of milliseconds. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { Refolder } from "@flyball/core/refold"
import type { Head, Refolded, StoredRecord } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { Words } from "./words.ts"

const hashBytes = 32

/** Hashes what one connection reads. The writer has another, and other code. */
export class SqliteRefolder {
  readonly #refolder = new Refolder(nodeCrypto)
  readonly #words: Words
  readonly #select: StatementSync

  constructor(db: DatabaseSync) {
    this.#words = new Words(db)
    // Hash and bytes come as one value: making it takes more than copying it.
    this.#select = db.prepare("SELECT seq, kind, agent, at_ms, CAST(hash || bytes AS BLOB) FROM record WHERE seq BETWEEN ? AND ? ORDER BY seq")
    this.#select.setReturnArrays(true)
  }

  /** The records behind `previous` up to `to`. Spec: port, `refold`. */
  fold(previous: Head | null, to: number): Refolded | null {
    const rows = this.#select.all((previous?.seq ?? -1) + 1, to) as unknown as ReadonlyArray<readonly [number, number, number | null, number, Uint8Array]>
    return this.#refolder.fold(rows.map(([seq, kind, agent, atMs, hashAndBytes]): StoredRecord => ({
      seq, kind: this.#words.text(kind), agentId: agent === null ? null : this.#words.text(agent), atMs,
      hash: hashAndBytes.subarray(0, hashBytes), bytes: hashAndBytes.subarray(hashBytes)
    })), previous)
  }
}
