import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import {
  layerOf,
  type RecordDraft,
  retirementOf,
  Storage,
  type StorageApi,
  type StorageChoice
} from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { afterAll } from "vitest"
import { migrateRetired, missingInRetired } from "./migrate-retired.ts"
import { migrateStore } from "./migrate-store.ts"
import { ask, givenDatabase } from "./postgres/testing/given-database.ts"
import { postgresStorage } from "./postgres/postgres-choice.ts"
import { sqliteStorage } from "./sqlite/storage.ts"
import type { StoreLocation } from "./store-location.ts"
import { tomorrow } from "./testing/tomorrow.ts"

const folder = realpathSync(mkdtempSync(join(tmpdir(), "flyball-migrate-retired-")))
afterAll(() => rmSync(folder, { recursive: true }))
const database = givenDatabase()

const genesis = (origin: string, follows: boolean): RecordDraft => ({
  kind: "chain.genesis",
  agentId: null,
  body: { hash: "sha256-rfc6962", origin, vkeys: [] },
  parts: follows ? [{ name: "previous", bytes: new Uint8Array([1]) }] : []
})

const using = <A, E>(choice: StorageChoice, use: (storage: StorageApi) => Effect.Effect<A, E>) =>
  Effect.flatMap(Storage, use).pipe(Effect.provide(Layer.fresh(layerOf(choice))))

/** Bytes and hash of each row of records. */
const hexOf = (rows: ReadonlyArray<{ readonly [column: string]: unknown }>) =>
  rows.map(({ bytes, hash }) => [bytes, hash].map((one) => Buffer.from(one as Uint8Array).toString("hex")))

const bytesOf = (choice: StorageChoice) =>
  using(choice, (storage) =>
    Effect.map(storage.records({ limit: 10 }), (records) => hexOf(records.map(({ bytes, hash }) => ({ bytes, hash }))))
  )

/** A store whose first chain was put aside; answers what the records of that one are. */
const recoveredStore = Effect.fnUntraced(function* (choice: StorageChoice) {
  const head = yield* using(
    choice,
    Effect.fnUntraced(function* (storage) {
      yield* storage.commit({
        expectEmpty: true,
        records: [genesis("old", false)],
        puts: [{ collection: "agents", id: "a1", expectedVersion: 0, body: {} }]
      })
      return yield* storage.head
    })
  )
  const bytes = yield* bytesOf(choice)
  yield* retirementOf(choice)!.retire({ head, genesis: genesis("new", true), leave: [] })
  return bytes
})

const retiredOf = (choice: StorageChoice) =>
  Effect.map(
    Effect.suspend(() => retirementOf(choice)!.retired),
    ([one]) => one!
  )

/** Checks that the next version's step runs in the store in use and in its retired chain, whose records stay. */
const broughtAlong = Effect.fnUntraced(function* (choice: StorageChoice, store: StoreLocation) {
  const retired = yield* retiredOf(choice)
  const known = tomorrow(false)
  const missing = yield* missingInRetired(store, known)
  assert.deepStrictEqual(
    missing.map(({ steps }) => steps.map(({ name }) => name)),
    [["tomorrow"]]
  )
  assert.deepStrictEqual([yield* missingInRetired(store), yield* migrateRetired(store)], [[], []])
  assert.lengthOf(yield* migrateStore(store, known), 1)
  assert.deepStrictEqual(yield* migrateRetired(store, known), missing)
  assert.deepStrictEqual([yield* missingInRetired(store, known), yield* migrateRetired(store, known)], [[], []])
  assert.match((yield* Effect.flip(bytesOf(retired))).message, /use the newer version/)
})

describe("a retired store of an older schema", () => {
  it.live("is migrated on SQLite, where its file is read-only, by a copy that replaces it", () =>
    Effect.gen(function* () {
      const file = join(folder, "store.db")
      const choice = sqliteStorage({ file })
      const bytes = yield* recoveredStore(choice)
      const retired = `${file}.retired-1`
      // What a killed attempt left.
      writeFileSync(`${retired}.migrating`, "half")
      const link = join(folder, "link.db")
      symlinkSync(file, link)
      const before = statSync(retired).ino
      const writer = yield* Effect.flip(using(choice, () => migrateRetired({ kind: "sqlite", file }, tomorrow(false))))
      assert.match(writer.message, /another process has the database open for writing/)
      yield* broughtAlong(choice, { kind: "sqlite", file: link })
      assert.deepStrictEqual([statSync(retired).mode & 0o777, statSync(retired).ino === before], [0o400, false])
      assert.deepStrictEqual(
        readdirSync(folder)
          .filter((name) => name.startsWith("store.db"))
          .sort(),
        ["store.db", "store.db.lock", "store.db.retired-1"]
      )
      const db = new DatabaseSync(`${pathToFileURL(retired).href}?immutable=1`, { readOnly: true })
      assert.deepStrictEqual(hexOf(db.prepare("SELECT bytes, hash FROM record ORDER BY seq").all()), bytes)
      db.close()
    })
  )

  it.live("is migrated on Postgres", () =>
    Effect.gen(function* () {
      const choice = postgresStorage({ url: database.url, schema: "along", maxConnections: 4 })
      const bytes = yield* recoveredStore(choice)
      yield* broughtAlong(choice, { kind: "postgres", url: database.url, schema: "along" })
      const rows = yield* ask(database.url, "SELECT bytes, hash FROM along_retired_1.records ORDER BY seq")
      assert.deepStrictEqual(hexOf(rows), bytes)
    })
  )

  it.live("is not searched for when the store was never recovered", () =>
    Effect.gen(function* () {
      const file = join(folder, "plain.db")
      yield* migrateStore({ kind: "sqlite", file })
      assert.deepStrictEqual(
        [
          yield* missingInRetired({ kind: "sqlite", file }),
          yield* missingInRetired({ kind: "sqlite", file: join(folder, "none.db") })
        ],
        [[], []]
      )
    })
  )
})
