/** What `@flyball/storage-sql` promises: the Storage port on SQLite and on Postgres. */
export type { SqliteOptions } from "./sqlite/threads.ts"
export { sqliteStorage } from "./sqlite/storage.ts"
export { postgresStorage } from "./postgres/postgres-storage.ts"
export type { PostgresOptions } from "./postgres/sessions.ts"
export { copyFromFile, copyToFile } from "./copy/copy-store.ts"
export type { RetiredLocation } from "./copy/retired-locations.ts"
export { retiredLocation, retiredLocations } from "./copy/retired-locations.ts"
export type { PlannedMigration } from "./migrate-store.ts"
export { fileSchema, migrateStore, missingMigrations } from "./migrate-store.ts"
export type { StoreLocation } from "./store-location.ts"
/** For tests only. */
export type { PostgresClock } from "./postgres/test-clock.ts"
export { replacePostgresClock } from "./postgres/test-clock.ts"
