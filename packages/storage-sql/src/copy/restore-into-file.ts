/** A backup's file as the SQLite store of a host. */
import { constants, copyFileSync, existsSync, linkSync, lstatSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { randomBytes } from "node:crypto"
import type { StorageOpenFault } from "@flyball/core/storage"
import { StorageUnavailable } from "@flyball/core/storage"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { schemaOf } from "../sqlite/migrate.ts"
import { lockForWriting } from "../sqlite/open-database.ts"
import { trySqlite } from "../sqlite/try-sqlite.ts"
import { syncPath } from "../sqlite/durable-file.ts"

/**
 * Suffixes of the files that SQLite keeps for a database. A log that outlived its file would be played onto the new
 * one.
 */
const leftovers = ["", "-wal", "-shm", "-journal"]

/**
 * Copies `from` to `to`, which appears whole or not at all. An older schema is kept; the first start migrates it.
 *
 * An empty file under that name is replaced.
 *
 * - Fails: `StorageUnavailable` when `to`, or the log of a store that was there, is in the way; when `from` is newer
 *   than this version.
 */
export const restoreIntoFile = (from: string, to: string): Effect.Effect<void, StorageOpenFault> =>
  Effect.gen(function* () {
    const taken = leftovers
      .map((end) => `${to}${end}`)
      .find((file) => existsSync(file) && !(file === to && isEmptyFile(to)))
    if (taken !== undefined) return yield* refuse(`${taken} exists already; move it away first, or name another file`)
    // A process that is about to write into the empty file holds the lock of its name.
    if (isEmptyFile(to))
      yield* Effect.acquireRelease(
        trySqlite(() => lockForWriting(to, 0)),
        (lock) => Effect.sync(() => lock.close())
      )
    yield* trySqlite(() => requireKnown(from))
    const partial = `${to}.partial-${randomBytes(6).toString("hex")}`
    yield* Effect.try({
      try: () => {
        copyFileSync(from, partial, constants.COPYFILE_EXCL)
        syncPath(partial)
        if (isEmptyFile(to)) rmSync(to)
        // Fails where a file took the name meanwhile.
        linkSync(partial, to)
      },
      catch: (cause) => unwritable(to, cause)
    }).pipe(Effect.ensuring(Effect.sync(() => rmSync(partial, { force: true }))))
    syncPath(dirname(to))
  }).pipe(Effect.scoped)

/**
 * The remains of a start that was stopped, or of a program that only read, under the name of a store: nothing that
 * could be lost.
 */
const isEmptyFile = (file: string): boolean => {
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found !== undefined && found.isFile() && found.size === 0
}

const requireKnown = (file: string): void => {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    schemaOf(db)
  } finally {
    db.close()
  }
}

const refuse = (reason: string): Effect.Effect<never, StorageUnavailable> =>
  Effect.fail(new StorageUnavailable({ reason, wrote: "no" }))

const unwritable = (file: string, cause: unknown): StorageUnavailable =>
  new StorageUnavailable({
    reason:
      `${file} cannot be written (${(cause as NodeJS.ErrnoException).code ?? "unknown cause"}); check ` +
      "its folder and the free space",
    wrote: "no",
    cause
  })
