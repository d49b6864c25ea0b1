import { assert, describe, it } from "@effect/vitest"
import { StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { Effect } from "effect"
import { ask, checkLine, decision, genesis, givenDatabase, openStore } from "./testing/given-database.ts"
import { requireSchema } from "./migrate.ts"
import { latestSchema, migrations } from "./migrations.ts"
import { openSessions } from "./sessions.ts"
import { tomorrow } from "../testing/tomorrow.ts"

const database = givenDatabase()

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
  it.effect("for reading refuses a schema that lacks a step, with both numbers", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(openStore({ url: database.url, schema: "older" }))
      const { readers } = yield* openSessions({ url: database.url, maxConnections: 2 })
      const fault = yield* Effect.flip(requireSchema(readers, "older", tomorrow(true).postgres))
      assert.strictEqual(
        (fault as StorageUnavailable).reason,
        `expected schema ${latestSchema + 1} in the database, saw ${latestSchema}; run flyball migrate to bring it ` +
          "up to date"
      )
    })
  )

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
