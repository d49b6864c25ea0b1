/** Rows of rate limits in the writer. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import {
  type LimitRequest,
  LIMITS_SWEEP_MS,
  rowEndS,
  type RowState,
  type Taken,
  takeLimits
} from "@flyball/core/thread"

/** Rows that are remembered as they were written; where there are more, they are read again. */
const maxKept = 10_000

/** The table `limit_row`. Its rows are remembered: this writer is the only one. */
export class Limits {
  readonly #db: DatabaseSync
  readonly #find: StatementSync
  readonly #put: StatementSync
  readonly #sweep: StatementSync
  readonly #kept = new Map<string, RowState | undefined>()
  #sweptMs = 0

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#find = db.prepare("SELECT state FROM limit_row WHERE subject = ?")
    this.#put = db.prepare(
      `INSERT INTO limit_row (subject, ends_s, state) VALUES (?, ?, ?)
       ON CONFLICT (subject) DO UPDATE SET ends_s = excluded.ends_s, state = excluded.state`
    )
    this.#sweep = db.prepare("DELETE FROM limit_row WHERE ends_s < ?")
  }

  /**
   * Answers requests in one transaction that does not wait for the disk. It survives the end of the process, and a
   * power cut may undo it: the next commit that waits for the disk takes it along.
   */
  take(requests: ReadonlyArray<LimitRequest>, nowMs: number): ReadonlyArray<Taken> {
    const { changed, taken } = takeLimits((subject) => this.#state(subject), requests, nowMs)
    const sweeps = Math.abs(nowMs - this.#sweptMs) >= LIMITS_SWEEP_MS
    if (changed.size === 0 && !sweeps) return taken
    // Of a transaction that fails, nothing may be remembered.
    const kept = [...changed.keys()]
    for (const subject of kept) this.#kept.delete(subject)
    try {
      this.#db.exec("PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE")
      for (const [subject, state] of changed) this.#put.run(subject, rowEndS(state), JSON.stringify(state))
      if (sweeps) this.#sweep.run(Math.floor(nowMs / 1000))
      this.#db.exec("COMMIT")
    } finally {
      this.#restore()
    }
    if (sweeps) {
      this.#sweptMs = nowMs
      this.#kept.clear()
    }
    if (this.#kept.size + kept.length > maxKept) this.#kept.clear()
    for (const [subject, state] of changed) this.#kept.set(subject, state)
    return taken
  }

  /** Commits of the chain wait for the disk again, whatever happened. */
  #restore(): void {
    try {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
      this.#db.exec("PRAGMA synchronous = FULL")
    } catch (error) {
      // The connection is unusable. The worker ends, and the next call starts another.
      throw new AggregateError([error], "The store could not leave a transaction of the limits.", { cause: error })
    }
  }

  #state(subject: string): RowState | undefined {
    const kept = this.#kept.get(subject)
    if (kept !== undefined) return kept
    const row = this.#find.get(subject)
    return row === undefined ? undefined : (JSON.parse(row["state"] as string) as RowState)
  }
}
