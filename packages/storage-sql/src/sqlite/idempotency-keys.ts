/** Idempotency keys in the writer. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { BulkInsert } from "./bulk-insert.ts"
import type { StringTableWriter } from "./string-table-writer.ts"

/** A key that is taken. The digest is null after its erasure. */
interface Taken {
  readonly seq: number
  readonly digest: string | null
}

/** The table `once`. New keys wait, so that one call inserts many. Look-ups include the keys that wait. */
export class IdempotencyKeys {
  readonly #strings: StringTableWriter
  readonly #select: StatementSync
  readonly #forget: StatementSync
  readonly #inserts: BulkInsert
  readonly #waiting = new Map<string, Taken>()

  constructor(db: DatabaseSync, strings: StringTableWriter) {
    this.#strings = strings
    this.#select = db.prepare("SELECT seq, digest FROM once WHERE scope = ? AND key = ?")
    this.#forget = db.prepare("UPDATE once SET digest = x'' WHERE scope = ? AND key = ?")
    this.#inserts = new BulkInsert(db, "once (scope, key, seq, digest)", 4)
  }

  /** The record that took a key; null for a free key. */
  find(scope: string, key: string): Taken | null {
    const waiting = this.#waiting.get(`${scope}\0${key}`)
    if (waiting !== undefined) return waiting
    const number = this.#strings.find(scope)
    const row = number === null ? undefined : this.#select.get(number, key)
    if (row === undefined) return null
    const digest = Buffer.from(row["digest"] as Uint8Array)
    return { seq: row["seq"] as number, digest: digest.length === 0 ? null : digest.toString("hex") }
  }

  /** Takes a key that {@link find} did not find. */
  take(scope: string, key: string, seq: number, digest: string): void {
    this.#inserts.add(this.#strings.intern(scope), key, seq, Buffer.from(digest, "hex"))
    this.#waiting.set(`${scope}\0${key}`, { seq, digest })
  }

  /** Erases a key's digest, which was made over an erased part. */
  forget(scope: string, key: string): void {
    this.flush()
    this.#forget.run(this.#strings.find(scope), key)
  }

  /** Inserts the keys that wait. */
  flush(): void {
    this.#inserts.flush()
    this.#waiting.clear()
  }

  /** Drops the keys that wait: their transaction was rolled back. */
  clear(): void {
    this.#inserts.clear()
    this.#waiting.clear()
  }
}
