/** Public API of `@flyball/storage-sql`: the Storage port on SQLite and on Postgres, and a guard on Postgres. */
export type { SqliteOptions } from "./sqlite/thread/threads.ts"
export { sqliteStorage } from "./sqlite/storage.ts"
export { postgresStorage } from "./postgres/postgres-choice.ts"
export type { PostgresOptions } from "./postgres/sessions.ts"
export { postgresGuard } from "./postgres-guard/guard-choice.ts"
export type { PostgresGuardOptions } from "./postgres-guard/options.ts"
