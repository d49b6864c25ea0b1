/** Once keys in the writer: which draft is new, which repeats a record that is there. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { Conflict } from "@flyball/core/storage"
import type { BatchedRecord } from "./batch.ts"
import { bulkRows } from "./bulk-insert.ts"
import type { Naming } from "./documents.ts"

/** The table `once`. */
export class IdempotencyKeys {
  readonly #insertMany: StatementSync
  readonly #insert: StatementSync
  readonly #select: StatementSync
  readonly #giveBack: StatementSync
  readonly #forget: StatementSync

  constructor(db: DatabaseSync) {
    const insert = (rows: number): StatementSync =>
      db.prepare(
        "INSERT INTO once (scope, key, seq, digest) VALUES " +
          `${Array.from({ length: rows }, () => "(?, ?, ?, ?)").join(", ")} ON CONFLICT DO NOTHING`
      )
    this.#insertMany = insert(bulkRows)
    this.#insert = insert(1)
    this.#select = db.prepare("SELECT seq, digest FROM once WHERE scope = ? AND key = ?")
    this.#giveBack = db.prepare("DELETE FROM once WHERE scope = ? AND key = ? AND seq = ?")
    this.#forget = db.prepare("UPDATE once SET digest = x'' WHERE scope = ? AND key = ?")
  }

  /**
   * Takes the keys of a ChangeSet in order. Answers the seq of each draft: its own, from `first` on, or that of the
   * record it repeats.
   *
   * It inserts first and looks only where a key was there already: looking first would cost every new record a search
   * of the index.
   */
  claim(
    records: ReadonlyArray<BatchedRecord>,
    first: number,
    naming: Naming,
    mustBeNew: boolean,
    conflicts: Array<Conflict>
  ): ReadonlyArray<number> {
    const seqs: Array<number> = []
    let next = first
    while (this.#claimMany(records, seqs.length, next, naming))
      for (let row = 0; row < bulkRows; row++) seqs.push(next++)
    // After the first key that is not free: where one draft repeats, others do.
    while (seqs.length < records.length) {
      const seq = this.#claimOne(records, seqs.length, first, next, naming, mustBeNew, conflicts)
      if (seq === next) next++
      seqs.push(seq)
    }
    return seqs
  }

  /** Gives back what {@link claim} took for a ChangeSet that is refused. */
  undo(records: ReadonlyArray<BatchedRecord>, seqs: ReadonlyArray<number>, first: number, naming: Naming): void {
    records.forEach(({ once }, index) => {
      if (once !== null && seqs[index]! >= first) this.#giveBack.run(naming.find(once.scope), once.key, seqs[index]!)
    })
  }

  /** Deletes a key's digest, because it was made over what is erased. */
  forget(scope: number | null, key: string): void {
    this.#forget.run(scope, key)
  }

  /** Takes a whole call of keys if all of them are free. Else none is taken. */
  #claimMany(records: ReadonlyArray<BatchedRecord>, from: number, next: number, naming: Naming): boolean {
    if (records.length - from < bulkRows) return false
    const values: Array<number | string | Uint8Array> = []
    for (let row = 0; row < bulkRows; row++) {
      const { once } = records[from + row]!
      if (once === null) return false
      values.push(naming.intern(once.scope), once.key, next + row, once.digest)
    }
    if (this.#insertMany.run(...values).changes === bulkRows) return true
    // Keys that were there keep the seq they had, which none of these is.
    for (let at = 0; at < values.length; at += 4) this.#giveBack.run(values[at]!, values[at + 1]!, values[at + 2]!)
    return false
  }

  #claimOne(
    records: ReadonlyArray<BatchedRecord>,
    index: number,
    first: number,
    next: number,
    naming: Naming,
    mustBeNew: boolean,
    conflicts: Array<Conflict>
  ): number {
    const { once } = records[index]!
    if (once === null) return next
    const scope = naming.intern(once.scope)
    if (this.#insert.run(scope, once.key, next, once.digest).changes === 1) return next
    const row = this.#select.get(scope, once.key)!
    const seq = row["seq"] as number
    const digest = row["digest"] as Uint8Array
    if (mustBeNew || (digest.length > 0 && Buffer.compare(digest, once.digest) !== 0)) {
      // An earlier draft of this very ChangeSet has no seq yet that could be told.
      conflicts.push({
        _tag: "Once",
        index,
        scope: naming.text(once.scope),
        key: once.key,
        seq: seq >= first ? -1 : seq
      })
    }
    return seq
  }
}
