import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
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
import { copyToFile } from "./copy/copy-store.ts"
import { retiredLocations } from "./copy/retired-locations.ts"
import { migrateRetired, missingInRetired } from "./migrate-retired.ts"
import { migrateStore } from "./migrate-store.ts"
import { ask, givenDatabase } from "./postgres/testing/given-database.ts"
import { postgresStorage } from "./postgres/postgres-choice.ts"
import { sqliteStorage } from "./sqlite/storage.ts"
import type { StoreLocation } from "./store-location.ts"

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

const bytesOf = (choice: StorageChoice) =>
  using(choice, (storage) =>
    Effect.map(storage.records({ limit: 10 }), (records) =>
      records.map(({ bytes, hash }) => [Buffer.from(bytes).toString("hex"), Buffer.from(hash).toString("hex")])
    )
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

/** Checks that migrating a store also migrates its retired chain from an older schema. */
const broughtAlong = Effect.fnUntraced(function* (
  choice: StorageChoice,
  store: StoreLocation,
  bytes: ReadonlyArray<ReadonlyArray<string>>
) {
  assert.match(
    (yield* Effect.flip(bytesOf(yield* retiredOf(choice)))).message,
    /expected schema 7 .*, saw 3; run flyball migrate/
  )
  const missing = yield* missingInRetired(store)
  assert.deepStrictEqual(
    missing.map(({ steps }) => steps.map(({ id, name }) => [id, name])),
    [
      [
        [4, "in-flight"],
        [5, "halts"],
        [6, "review-queue"],
        [7, "records-by-kind"]
      ]
    ]
  )
  assert.deepStrictEqual((yield* migrateStore(store)).length, 0, "the store in use lacks nothing")
  assert.deepStrictEqual(yield* migrateRetired(store), missing)
  assert.deepStrictEqual([yield* missingInRetired(store), yield* migrateRetired(store)], [[], []])
  assert.deepStrictEqual(yield* bytesOf(yield* retiredOf(choice)), bytes)
  const [retired] = yield* retiredLocations(store)
  yield* copyToFile(retired!.location, join(folder, `${store.kind}.copy`))
})

describe("a retired store of an older schema", () => {
  it.live("is migrated on SQLite, where its file is read-only, by a copy that replaces it", () =>
    Effect.gen(function* () {
      const file = join(folder, "store.db")
      const choice = sqliteStorage({ file })
      const bytes = yield* recoveredStore(choice)
      const retired = `${file}.retired-1`
      chmodSync(retired, 0o600)
      const db = new DatabaseSync(retired)
      db.exec(
        "ALTER TABLE delivery ADD COLUMN retry INTEGER GENERATED ALWAYS AS (attempts > 0) VIRTUAL; DROP INDEX " +
          "record_kind; DROP INDEX record_agent_kind; CREATE INDEX record_governance ON record (seq, kind) WHERE " +
          "kind > 2; PRAGMA user_version = 3; PRAGMA wal_checkpoint(TRUNCATE)"
      )
      db.close()
      chmodSync(retired, 0o400)
      // What a killed attempt left.
      writeFileSync(`${retired}.migrating`, "half")
      const link = join(folder, "link.db")
      symlinkSync(file, link)
      const before = statSync(retired).ino
      const writer = yield* Effect.flip(using(choice, () => migrateRetired({ kind: "sqlite", file })))
      assert.match(writer.message, /another process has the database open for writing/)
      yield* broughtAlong(choice, { kind: "sqlite", file: link }, bytes)
      assert.deepStrictEqual([statSync(retired).mode & 0o777, statSync(retired).ino === before], [0o400, false])
      assert.deepStrictEqual(
        readdirSync(folder)
          .filter((name) => name.startsWith("store.db"))
          .sort(),
        ["store.db", "store.db.lock", "store.db.retired-1"]
      )
    })
  )

  it.live("is migrated on Postgres", () =>
    Effect.gen(function* () {
      const choice = postgresStorage({ url: database.url, schema: "along", maxConnections: 4 })
      const bytes = yield* recoveredStore(choice)
      yield* ask(database.url, "DROP TABLE along_retired_1.pending, along_retired_1.in_flight")
      yield* ask(database.url, "DROP SEQUENCE along_retired_1.claim_numbers")
      yield* ask(
        database.url,
        "ALTER TABLE along_retired_1.deliveries ADD COLUMN lease_until_ms bigint, ADD COLUMN retry smallint " +
          "NOT NULL GENERATED ALWAYS AS (CASE WHEN attempts > 0 THEN 1 ELSE 0 END) STORED"
      )
      for (const [table, name] of [
        ["deliveries", "deliveries_pending"],
        ["deliveries", "deliveries_due"],
        ["deliveries", "deliveries_in_flight"],
        ["deliveries", "deliveries_leases"],
        ["turns", "turns_last"]
      ] as const) {
        yield* ask(
          database.url,
          `CREATE INDEX ${name} ON along_retired_1.${table} (${table === "turns" ? "turn" : "state"})`
        )
      }
      yield* ask(database.url, "DROP INDEX along_retired_1.records_kind, along_retired_1.records_agent_kind")
      yield* ask(database.url, "CREATE INDEX records_governance ON along_retired_1.records (seq, kind)")
      yield* ask(database.url, "DELETE FROM along_retired_1.migrations WHERE id >= 4")
      yield* broughtAlong(choice, { kind: "postgres", url: database.url, schema: "along" }, bytes)
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
