/** Taking a store away that a restore wrote a moment ago and that is of no use without the others. */
import { rmSync } from "node:fs"
import type { StorageOpenFault } from "@flyball/core/storage"
import { Effect } from "effect"
import { quoted } from "../postgres/migrations.ts"
import { trySqlite } from "../sqlite/try-sqlite.ts"
import { type StoreLocation, withPostgres } from "../store-location.ts"

/** Removes the file, or the schema with all that is in it. Only for what the caller made itself. */
export const removeStore = (store: StoreLocation): Effect.Effect<void, StorageOpenFault> =>
  store.kind === "sqlite"
    ? trySqlite(() => rmSync(store.file, { force: true }))
    : withPostgres(store, false, (pool, schema) =>
        Effect.scoped(
          Effect.asVoid(
            Effect.flatMap(pool.reserve, (connection) => connection.query(`DROP SCHEMA ${quoted(schema)} CASCADE`))
          )
        )
      )
