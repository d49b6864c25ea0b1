/** Bringing a file to this version's schema, or saying clearly why not. */
import type { DatabaseSync } from "node:sqlite"
import type { SqliteMigration } from "./migrations.ts"
import { applicationId, migrations } from "./migrations.ts"
import { StoreRefused } from "./sqlite-fault.ts"

/**
 * Runs the steps that are missing, all in one transaction, and answers them.
 *
 * Two processes that open one new file at once are kept apart by the writer's lock and by `BEGIN IMMEDIATE`: the second
 * finds the work done.
 * `known` is replaced by tests only.
 */
export const migrate = (
  db: DatabaseSync,
  known: ReadonlyArray<SqliteMigration> = migrations
): ReadonlyArray<SqliteMigration> => {
  if (schemaOf(db, known.length) === known.length) return []
  db.exec("BEGIN IMMEDIATE")
  try {
    const missing = known.slice(schemaOf(db, known.length))
    for (const { sql } of missing) db.exec(sql)
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${known.length}; COMMIT`)
    return missing
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK")
    throw error
  }
}

/** Refuses a file that a reader of this version cannot read. */
export const requireSchema = (db: DatabaseSync): void => {
  const found = schemaOf(db)
  if (found === migrations.length) return
  throw new StoreRefused(
    `expected schema ${migrations.length} in the file, saw ${found}; run flyball migrate, or start the server, ` +
      "to bring it up to date"
  )
}

/**
 * The schema number of a file of ours, 0 for an empty file. Refuses a file that is newer, or not ours, before anything
 * in it is changed.
 */
export const schemaOf = (db: DatabaseSync, latest: number = migrations.length): number => {
  const application = db.prepare("PRAGMA application_id").get()!["application_id"]
  const version = db.prepare("PRAGMA user_version").get()!["user_version"] as number
  if (application === applicationId) {
    if (version > latest) {
      throw new StoreRefused(
        `the file has schema ${version} and this version of Flyball knows ${latest}; use the newer version ` +
          "that wrote it"
      )
    }
    return version
  }
  if (application !== 0 || db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== undefined) {
    throw new StoreRefused("the file is a SQLite database of another program; name another file")
  }
  return 0
}
