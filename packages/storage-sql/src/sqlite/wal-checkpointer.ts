/** When the write-ahead log is copied back into the database file. */
import { statSync } from "node:fs"
import type { DatabaseSync, StatementSync } from "node:sqlite"

/** Time after a commit before the log is copied back, so that it happens in a pause where there is one. */
const idleMs = 100
/**
 * Pages waiting to be copied (4 MiB) at which it is done between two batches, without waiting for readers. Every commit
 * behind it waits: 16 MiB take up to 75 ms.
 */
const easyPages = 1024
/** Pages in the log (64 MiB) at which it is started over between two batches, waiting for readers: it is bounded. */
const boundPages = 16_384

/**
 * Bytes that commits write before the log is checked. Far less than the sizes above, and a check costs as much as five
 * small records.
 */
const checkBytes = 262_144
/** Least size of a commit: the pages that any commit writes. */
const commitBytes = 8_192

/**
 * How long an attempt waits for readers when the one before waited in vain: a snapshot that is held that long (by a
 * backup) must not hold up every commit.
 */
const retryWaitMs = 20

/** Sizes of the log, in pages, at which something is done. Tests make them small. */
export interface CheckpointPages {
  readonly easy: number
  readonly bound: number
}

/**
 * Copies the log back: in pauses, past a size, and whole after an erasure or when one was found.
 *
 * SQLite's own rule, every 1,000 pages inside a commit, makes appending slower and its slowest commits much slower.
 * A reader that holds one snapshot for ever holds the log too; ours read page by page, but for a backup.
 */
export class Checkpoints {
  readonly #db: DatabaseSync
  /** How long the connection waits for others. Unit: milliseconds. */
  readonly #waitMs: number
  readonly #probe: StatementSync
  readonly #passive: StatementSync
  readonly #restart: StatementSync
  readonly #truncate: StatementSync
  #timer: NodeJS.Timeout | null = null
  #emptying = false
  #sinceCheckBytes = 0
  readonly #pages: CheckpointPages
  #restartAtPages: number

  constructor(db: DatabaseSync, pages: CheckpointPages = { easy: easyPages, bound: boundPages }) {
    this.#db = db
    this.#waitMs = db.prepare("PRAGMA busy_timeout").get()!["timeout"] as number
    this.#pages = pages
    this.#restartAtPages = pages.bound
    this.#probe = db.prepare("PRAGMA wal_checkpoint(NOOP)")
    this.#passive = db.prepare("PRAGMA wal_checkpoint(PASSIVE)")
    this.#restart = db.prepare("PRAGMA wal_checkpoint(RESTART)")
    this.#truncate = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /**
   * Empties the log that existed when the file was opened: the process that left it may have answered an erasure and
   * been killed before its bytes were gone. Costs nothing where there was none.
   */
  found(): void {
    // By its size: of a log that was started over, frames are left that count no more and hold what they held.
    if ((statSync(`${this.#db.location()}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) this.#empty(true)
  }

  /**
   * Empties the log at once, so that erased bytes are in no file any more. Where a reader is in the way it is tried
   * again until it is done.
   */
  erased(): void {
    const again = this.#emptying
    this.#emptying = true
    this.#empty(again)
  }

  /** After each durable batch, which wrote so many bytes; where that is not known, the log is checked. */
  committed(bytes = checkBytes): void {
    this.#sinceCheckBytes += bytes + commitBytes
    if (this.#sinceCheckBytes < checkBytes) return this.#later()
    this.#sinceCheckBytes = 0
    const { log, copied } = run(this.#probe)
    if (log >= this.#restartAtPages) {
      // A reader that does not end may make this fail; trying again at each batch would make every batch wait.
      const again = this.#restartAtPages > this.#pages.bound
      this.#restartAtPages = this.#attempt(this.#restart, again).busy ? log + this.#pages.easy : this.#pages.bound
    } else if (log - copied >= this.#pages.easy) {
      run(this.#passive)
    }
    this.#later()
  }

  /**
   * Checkpoints once no commit came for a while: during commits it would only delay them, and the sizes above bound the
   * log.
   */
  #later(): void {
    if (this.#timer !== null && !this.#emptying) this.#timer.refresh()
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      if (this.#emptying) this.#empty(true)
      else run(this.#passive)
    }, idleMs)
  }

  #empty(again: boolean): void {
    this.#emptying = this.#attempt(this.#truncate, again).busy
    if (this.#emptying) this.#later()
  }

  /** The first attempt waits for readers as long as the connection does, those after it hardly. */
  #attempt(statement: StatementSync, again: boolean): ReturnType<typeof run> {
    if (!again) return run(statement)
    this.#db.exec(`PRAGMA busy_timeout = ${Math.min(retryWaitMs, this.#waitMs)}`)
    try {
      return run(statement)
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${this.#waitMs}`)
    }
  }

  /** Stops waiting. SQLite copies everything back when the last connection closes. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}

/**
 * A copy that fails (a full disk, most likely) leaves the log as it is: nothing is lost, and the next commit says what
 * is wrong.
 */
const run = (statement: StatementSync): { readonly busy: boolean; readonly log: number; readonly copied: number } => {
  try {
    const row = statement.get()!
    return { busy: row["busy"] !== 0, log: row["log"] as number, copied: row["checkpointed"] as number }
  } catch {
    return { busy: true, log: 0, copied: 0 }
  }
}
