import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, checkLine, decision, genesis, givenDatabase, openStore } from "./testing/given-database.ts"

const database = givenDatabase()
const perStore = 60
const rounds = 10

describe("two stores on one database", () => {
  it.effect("append concurrently to one chain without a gap, and complete each other's tiles", () =>
    Effect.gen(function* () {
      const stores = [
        yield* openStore({ url: database.url, schema: "race" }),
        yield* openStore({ url: database.url, schema: "race" })
      ] as const
      yield* stores[0].commit({ expectEmpty: true, records: [genesis] })
      yield* Effect.all(
        stores.flatMap((store, s) =>
          Array.from({ length: perStore }, (_, n) =>
            Effect.gen(function* () {
              for (let round = 0; round < rounds; round++) {
                const names = [`${s}/${n}/${round}`, `${s}/${n}/${round}+`].slice(0, 1 + (n % 2))
                const { records, head } = yield* store.commit({ records: names.map(decision) })
                assert.deepStrictEqual(
                  records.map(({ seq, duplicate }) => [seq, duplicate]),
                  names.map((_, i) => [records[0]!.seq + i, false])
                )
                assert.strictEqual(head.seq, records.at(-1)!.seq)
              }
            })
          )
        ),
        { concurrency: "unbounded" }
      )
      const keys = yield* checkLine(stores[0])
      assert.strictEqual(keys.length, 2 * perStore * rounds * 1.5)
      assert.strictEqual(new Set(keys).size, keys.length)
      assert.deepStrictEqual(yield* checkLine(stores[1]), keys)
    })
  )

  it.effect("give one key to exactly one record, across all callers", () =>
    Effect.gen(function* () {
      const stores = [
        yield* openStore({ url: database.url, schema: "once" }),
        yield* openStore({ url: database.url, schema: "once" })
      ] as const
      yield* stores[0].commit({ expectEmpty: true, records: [genesis] })
      for (let round = 0; round < 20; round++) {
        const receipts = yield* Effect.all(
          stores.flatMap((store) => [
            store.commit({ records: [decision(`k${round}`)] }),
            store.commit({ records: [decision(`k${round}`), decision(`own`)] })
          ]),
          { concurrency: "unbounded" }
        )
        const first = receipts.map(({ records }) => records[0]!)
        assert.strictEqual(new Set(first.map(({ seq }) => seq)).size, 1)
        assert.strictEqual(first.filter(({ duplicate }) => !duplicate).length, 1)
      }
      assert.strictEqual((yield* checkLine(stores[1])).length, 21)
    })
  )

  it.effect("let exactly one of them put a document at a version", () =>
    Effect.gen(function* () {
      const stores = [
        yield* openStore({ url: database.url, schema: "versions" }),
        yield* openStore({ url: database.url, schema: "versions" })
      ] as const
      for (let version = 0; version < 20; version++) {
        const exits = yield* Effect.all(
          stores.map((store, n) =>
            Effect.exit(
              store.commit({
                puts: [
                  {
                    collection: "things",
                    id: "t",
                    expectedVersion: version,
                    body: { n },
                    unique: { name: `v${version}` }
                  }
                ]
              })
            )
          ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(exits.filter(({ _tag }) => _tag === "Success").length, 1)
      }
      assert.strictEqual((yield* stores[0].get("things", "t"))?.version, 20)
      assert.strictEqual((yield* stores[1].find("things", "name", "v19")).length, 1)
      assert.deepStrictEqual(yield* stores[1].find("things", "name", "v18"), [])
    })
  )

  it.effect("commit durably for any default of the database", () =>
    Effect.gen(function* () {
      const store = yield* openStore({ url: database.url, schema: "durable" })
      yield* ask(database.url, "CREATE TABLE durable.seen (setting text)")
      yield* ask(
        database.url,
        `CREATE FUNCTION durable.see() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO durable.seen VALUES (current_setting(''synchronous_commit'')); RETURN NULL; END'`
      )
      yield* ask(database.url, "CREATE TRIGGER see AFTER UPDATE ON durable.head EXECUTE FUNCTION durable.see()")
      yield* ask(database.url, `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET synchronous_commit = off`)
      const other = yield* openStore({ url: database.url, schema: "durable" })
      yield* store.commit({ expectEmpty: true, records: [genesis] })
      yield* other.commit({ records: [decision("a")] })
      assert.deepStrictEqual(yield* ask(database.url, "SELECT setting FROM durable.seen"), [
        { setting: "on" },
        { setting: "on" }
      ])
    })
  )
})
