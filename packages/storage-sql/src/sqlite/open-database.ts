/** Opening a SQLite file for its one writer, or for reading. */
import { readdirSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { inMemory } from "./layout.ts"
import { migrate, requireSchema, schemaOf } from "./migrate.ts"
import type { SqliteMigration } from "./migrations.ts"
import { migrations } from "./migrations.ts"
import { StoreRefused } from "./sqlite-fault.ts"

/** Page cache of a connection, in KiB. It keeps the index of idempotency keys of a long chain in memory. */
export const cacheKib = 65_536
/** The same in a small process: three transactions of 500 decisions. Enough if idempotency keys ascend in time. */
export const smallCacheKib = 4_096

/** A database held open for writing. Closing it gives the lock back. */
export interface WritableDatabase {
  readonly db: DatabaseSync
  /** The schema changes that opening it ran. */
  readonly migrated: ReadonlyArray<SqliteMigration>
  /**
   * Throws `StoreRefused` where the file's name leads to another file by now, or to none: what is written would be
   * found by nobody.
   */
  readonly requireInPlace: () => void
  readonly close: () => void
}

/**
 * Opens the file as its only writer, creating and migrating it as needed.
 *
 * - WAL with `synchronous=FULL`: what is acknowledged survives power loss. `secure_delete` overwrites what is erased.
 * - `wal_autocheckpoint=0`: the worker decides when (see `checkpoints.ts`).
 * - `known` is replaced by tests only; `cache` is in KiB.
 */
export const openForWriting = (
  file: string,
  busyTimeoutMs: number,
  known: ReadonlyArray<SqliteMigration> = migrations,
  cache = cacheKib
): WritableDatabase => {
  const lock = file === inMemory ? null : lockForWriting(file, busyTimeoutMs)
  try {
    if (file !== inMemory) {
      refuseOrphanedLog(realName(file))
      refuseHardLinked(file)
    }
    const db = new DatabaseSync(file, { timeout: busyTimeoutMs })
    schemaOf(db, known.length)
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
      PRAGMA secure_delete = ON; PRAGMA cache_size = -${cache};
      PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;`)
    const migrated = migrate(db, known)
    return {
      db,
      migrated,
      requireInPlace: file === inMemory ? () => undefined : inPlace(file),
      close: () => {
        db.close()
        lock?.close()
      }
    }
  } catch (error) {
    lock?.close()
    throw error
  }
}

/** The system continues with an open file that has lost its name, and so does SQLite. */
const inPlace = (file: string): (() => void) => {
  // Where the process moves to another folder, a relative name leads elsewhere.
  const name = resolve(file)
  const opened = statSync(name)
  return () => {
    // Where the name cannot be resolved, as where a folder above may not be entered any more, no other process will
    // find the file under it either.
    const now = orNull(() => statSync(name))
    if (now?.ino === opened.ino && now.dev === opened.dev) return
    throw new StoreRefused(
      `the file ${name} is not the one that was opened: it was replaced, moved or deleted while it was in use. ` +
        "What is written would go where nobody finds it. Put the file back, or stop this process and start it on " +
        "the newest copy of the store"
    )
  }
}

/**
 * A log without its database holds what was committed last, and SQLite deletes it when it makes the database again. One
 * of a database that is only being made has a page already.
 */
const refuseOrphanedLog = (file: string): void => {
  const sizeOf = (name: string): number => orNull(() => statSync(name).size) ?? 0
  if (sizeOf(file) > 0 || sizeOf(`${file}-wal`) === 0) return
  throw new StoreRefused(
    `${file} is not there or empty, and its log ${file}-wal is there: it holds what was written last, and ` +
      "would be deleted. Bring the file back beside it, or move the log to where the file went"
  )
}

/**
 * Names that a store's file has beside its own where a recovery or a restore was stopped between two steps. Nothing
 * opens the file under them.
 */
const ownLinks = /\.(?:retired-[1-9][0-9]{0,8}|partial-[0-9a-f]{12})$/

/**
 * Refuses a folder, and a file with several names (hard links).
 *
 * SQLite finds a database's log, and this store its lock, by the name. Under another name the newest commits are not
 * seen, and two processes write one file.
 */
export const refuseHardLinked = (file: string): void => {
  const real = realName(file)
  const found = orNull(() => statSync(real))
  // A folder has many names by nature, and none of them is to be deleted.
  if (found?.isDirectory() === true)
    throw new StoreRefused(
      `a file is expected, and a folder is there. Name a file in it, as ${join(real, "flyball.db")}`
    )
  // A name that does not exist yet, or a `file:` URI of a store that nothing changes.
  if (found === null || found.nlink < 2) return
  const folder = dirname(real)
  const beside = readdirSync(folder).filter((name) => {
    const path = join(folder, name)
    const other = orNull(() => statSync(path))
    const isSame = other?.ino === found.ino && other.dev === found.dev
    return isSame && name !== basename(real) && realName(path) === path
  })
  const isOwn = (name: string): boolean =>
    name.startsWith(basename(real)) && ownLinks.test(name.slice(basename(real).length))
  if (found.nlink - 1 - beside.filter(isOwn).length < 1) return
  const others = beside.length === 0 ? "" : ` (here: ${beside.join(", ")})`
  const why = "its log and its lock go by the name, so a process under another name misses the newest commits"
  const what = `${real} has ${found.nlink} names (hard links)${others}, and a store has one: ${why}`
  throw new StoreRefused(`${what} and may damage the file. Delete the other names; for a copy, run flyball backup`)
}

/** Opens the file for reading beside a writer. It must exist, under one name, and have this version's schema. */
export const openForReading = (file: string, busyTimeoutMs: number, cache = cacheKib): DatabaseSync => {
  refuseHardLinked(file)
  const db = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs })
  requireSchema(db)
  db.exec(`PRAGMA cache_size = -${cache}; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;`)
  return db
}

/**
 * Takes the writer's lock: a second, empty SQLite file held by an exclusive transaction for as long as this process
 * writes.
 *
 * The operating system drops the lock when the process dies, however it dies. SQLite's own locks cannot do it: they are
 * given back between
 * transactions, and its exclusive mode would shut readers out.
 *
 * It lies beside the real file, whichever symbolic links lead there: two names of one file are one file to write.
 */
export const lockForWriting = (file: string, busyTimeoutMs: number): DatabaseSync => {
  const lock = new DatabaseSync(`${realName(file)}.lock`, { timeout: busyTimeoutMs })
  try {
    lock.exec("BEGIN EXCLUSIVE")
    return lock
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    throw new StoreRefused(
      "another process has the database open for writing; stop it, or open this one read-only, or use Postgres " +
        "for several writers (if it is this very process, open it once and share it)"
    )
  }
}

/** Links that are followed for one name; Linux follows as many. */
const maxLinks = 40

/**
 * The name of the file that SQLite opens, or makes, under this name. One that leads nowhere stays itself: it cannot be
 * opened either.
 */
const realName = (file: string, links = 0): string => {
  const found = orNull(() => realpathSync.native(file))
  if (found !== null) return found
  // It is missing yet. A link to it may be, and SQLite makes the file that the link names.
  const folder = orNull(() => realpathSync.native(dirname(resolve(file))))
  if (folder === null) return file
  const name = join(folder, basename(file))
  const target = orNull(() => readlinkSync(name))
  return target === null || links === maxLinks ? name : realName(resolve(folder, target), links + 1)
}

const orNull = <A>(read: () => A): A | null => {
  try {
    return read()
  } catch {
    return null
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && "errcode" in error && error.errcode === 5
