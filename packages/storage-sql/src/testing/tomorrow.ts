/** A made-up next schema, for tests of migrations. */
import type { KnownMigrations } from "../migrate-store.ts"
import { latestSchema, migrations as postgresMigrations } from "../postgres/migrations.ts"
import { migrations as sqliteMigrations } from "../sqlite/migrations.ts"

/** Adds to this version's steps one that touches the largest table and makes another. */
export const tomorrow = (olderMayRun: boolean): KnownMigrations => ({
  sqlite: [
    ...sqliteMigrations,
    {
      id: sqliteMigrations.length + 1,
      name: "tomorrow",
      sql: "ALTER TABLE record ADD COLUMN note TEXT; CREATE TABLE extra (a INTEGER) STRICT"
    }
  ],
  postgres: [
    ...postgresMigrations,
    {
      id: latestSchema + 1,
      name: "tomorrow",
      olderMayRun,
      statements: [
        "ALTER TABLE flyball.records ADD COLUMN note text DEFAULT 'none'",
        "CREATE TABLE flyball.extra (a integer)",
        "CREATE INDEX records_note ON flyball.records (note)"
      ]
    }
  ]
})
