/** Where a store is, for what is done to it as a whole: copying and migrating. */
import type { StorageOpenFault } from "@flyball/core/storage"
import { Effect } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { faultOf as postgresFault } from "./postgres/postgres-fault.ts"
import { defaultSchema } from "./postgres/postgres-storage.ts"
import { inRealTime } from "./postgres/real-time.ts"
import { type Connections, openSessions } from "./postgres/sessions.ts"

/** A SQLite file, or a schema (default `flyball`) of a Postgres database. */
export type StoreLocation =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string; readonly schema?: string }

/** A Postgres location. */
export type PostgresLocation = Extract<StoreLocation, { readonly kind: "postgres" }>

/**
 * Opens the database for one piece of work, and says faults as the port does. `watch` is another pool of the same
 * server.
 */
export const withPostgres = <A, E>(
  location: PostgresLocation,
  readOnly: boolean,
  use: (pool: Connections, schema: string, watch: Connections) => Effect.Effect<A, E | SqlError>
): Effect.Effect<A, StorageOpenFault | Exclude<E, SqlError>> =>
  openSessions({ url: location.url, maxConnections: 2, readOnly }).pipe(
    Effect.flatMap(({ readers, writer }) => inRealTime(use(readers, location.schema ?? defaultSchema, writer))),
    Effect.scoped,
    Effect.mapError((error) => (error instanceof SqlError ? postgresFault(error) : (error as Exclude<E, SqlError>)))
  )
