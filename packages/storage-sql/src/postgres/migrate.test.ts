import { assert, describe, it } from "@effect/vitest"
import { StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { ask, checkLine, decision, genesis, givenDatabase, openStore } from "./testing/given-database.ts"
import { inSchema, latestSchema, migrations, splitStatements } from "./migrations.ts"

const database = givenDatabase()

/** Everything the catalogue knows about a schema, without its name. */
const shapeOf = Effect.fnUntraced(function* (schema: string) {
  const rows = yield* ask(
    database.url,
    `SELECT replace(line, $1::text || '.', '') AS line FROM (
    SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
      || ' ' || coalesce(column_default, '') || ' ' || coalesce(collation_name, '') AS line
      FROM information_schema.columns WHERE table_schema = $1::text
    UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = $1::text
    UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = $1::regnamespace AND contype <> 'n'
    UNION ALL SELECT 'storage ' || c.relname || ' ' || coalesce(c.reloptions::text,
    '') || ' ' || coalesce(string_agg(a.attname::text || a.attstorage::text, ',' ORDER BY a.attnum), '')
      FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = $1::regnamespace GROUP BY c.oid, c.relname, c.reloptions
    UNION ALL SELECT 'function ' || proname || ' ' || prosrc FROM pg_proc WHERE pronamespace = $1::regnamespace) l
    ORDER BY line`,
    [schema]
  )
  return rows.map(({ line }) => line)
})

describe("migrations", () => {
  it.effect("are run once when ten processes start at the same time", () =>
    Effect.gen(function* () {
      const stores = yield* Effect.all(
        Array.from({ length: 10 }, () => openStore({ url: database.url, schema: "starts", maxConnections: 2 })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        yield* ask(database.url, "SELECT id, name FROM starts.migrations ORDER BY id"),
        migrations.map(({ id, name }) => ({ id, name }))
      )
      yield* stores[0]!.commit({ expectEmpty: true, records: [genesis] })
      yield* Effect.all(
        stores.map((store, n) => store.commit({ records: [decision(`${n}`)] })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual((yield* checkLine(stores[9]!)).length, 10)
    })
  )

  it.effect("leave an up-to-date schema and its contents unchanged", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.flatMap(openStore({ url: database.url, schema: "again" }), (store) =>
          store.commit({ expectEmpty: true, records: [genesis, decision("a")] })
        )
      )
      const store = yield* openStore({ url: database.url, schema: "again" })
      assert.deepStrictEqual(yield* checkLine(store), ["a"])
    })
  )

  it.effect("create the schema of schema.sql", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(openStore({ url: database.url, schema: "migrated" }))
      yield* ask(database.url, "CREATE SCHEMA written")
      const text = readFileSync(new URL("./schema.sql", import.meta.url), "utf8")
      for (const statement of splitStatements(text)) yield* ask(database.url, inSchema(statement, "written"))
      assert.deepStrictEqual(yield* shapeOf("written"), yield* shapeOf("migrated"))
    })
  )

  it("have ids from 1 without gaps", () => {
    assert.deepStrictEqual(
      migrations.map(({ id }) => id),
      migrations.map((_, index) => index + 1)
    )
  })
})

describe("a database that is newer than this version", () => {
  it.effect("is refused at the start, with both numbers", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(openStore({ url: database.url, schema: "newer" }))
      yield* ask(database.url, `INSERT INTO newer.migrations VALUES (${latestSchema + 1}, 'of tomorrow', 0)`)
      const fault = yield* Effect.flip(Effect.scoped(openStore({ url: database.url, schema: "newer" })))
      assert.instanceOf(fault, StorageUnavailable)
      assert.strictEqual(
        (fault as StorageUnavailable).reason,
        `the database has schema ${latestSchema + 1} and this version of Flyball knows ${latestSchema}; use ` +
          "the newer version that migrated it"
      )
    })
  )

  it.effect("stops a running process from writing when its migration requires that", () =>
    Effect.gen(function* () {
      const store = yield* openStore({ url: database.url, schema: "running" })
      yield* store.commit({ expectEmpty: true, records: [genesis] })
      yield* ask(database.url, `UPDATE running.head SET oldest_writer = ${latestSchema + 1}`)
      const fault = yield* Effect.flip(store.commit({ records: [decision("a")] }))
      assert.deepStrictEqual([fault._tag, (fault as StorageUnavailable).wrote], ["StorageUnavailable", "no"])
      assert.deepStrictEqual(yield* checkLine(store), [])
    })
  )
})

describe("opening", () => {
  it.effect("refuses a store whose head and records disagree", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.flatMap(openStore({ url: database.url, schema: "torn" }), (store) =>
          store.commit({ expectEmpty: true, records: [genesis, decision("a")] })
        )
      )
      for (const damage of [
        "DELETE FROM torn.records WHERE seq = 1",
        "UPDATE torn.head SET seq = 0",
        "DELETE FROM torn.head"
      ]) {
        yield* ask(database.url, damage)
        assert.instanceOf(
          yield* Effect.flip(Effect.scoped(openStore({ url: database.url, schema: "torn" }))),
          StorageCorrupt
        )
      }
    })
  )

  it.effect("reports what is wrong with its options, and never shows the password", () =>
    Effect.gen(function* () {
      const options = [{ schema: "Bad-Name" }, { maxConnections: 1 }]
      for (const option of options)
        assert.instanceOf(
          yield* Effect.flip(Effect.scoped(openStore({ url: database.url, ...option }))),
          StorageUnavailable
        )
      const closed = new URL(database.url)
      closed.port = "1"
      closed.password = "secret-word"
      const fault = yield* Effect.flip(Effect.scoped(openStore({ url: closed.href })))
      assert.strictEqual(
        (fault as StorageUnavailable).message,
        "The store is unavailable: Postgres did not answer (ECONNREFUSED); check that it runs and can be " +
          "reached. Nothing was written."
      )
      assert.notInclude(JSON.stringify(fault), "secret-word")
    })
  )
})
