import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import type { StorageApi, StorageOpenFault } from "@flyball/core/storage"
import { layerOf, Storage, StorageUnavailable } from "@flyball/core/storage"
import { Effect, Exit, Fiber } from "effect"
import { afterAll } from "vitest"
import type { KnownMigrations } from "./migrate-store.ts"
import { migrateStore, missingMigrations } from "./migrate-store.ts"
import { latestSchema, migrations as postgresMigrations } from "./postgres/migrations.ts"
import {
  ask,
  checkLine,
  decision,
  genesis,
  givenDatabase,
  openStore,
  until
} from "./postgres/testing/given-database.ts"
import { migrations as sqliteMigrations } from "./sqlite/migrations.ts"
import { sqliteStorage } from "./sqlite/storage.ts"
import { tomorrow } from "./testing/tomorrow.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-migrate-"))
afterAll(() => rmSync(folder, { recursive: true }))
const database = givenDatabase()
let files = 0
const newFile = (): string => join(folder, `${files++}.db`)
const using = <A, E>(file: string, use: (storage: StorageApi) => Effect.Effect<A, E>, readOnly = false) =>
  Effect.flatMap(Storage, use).pipe(Effect.provide(layerOf(sqliteStorage({ file, readOnly, busyTimeoutMs: 0 }))))

const next = { id: latestSchema + 1, name: "tomorrow", olderMayRun: true }

/**
 * Commits one decision after the other until it fails, or is stopped; answers what was acknowledged and the failure.
 */
const keepWriting = (
  storage: StorageApi,
  name: string,
  going: () => boolean
): Effect.Effect<{ readonly acknowledged: Array<string>; readonly fault: StorageOpenFault | null }> => {
  const acknowledged: Array<string> = []
  const step: Effect.Effect<{ readonly acknowledged: Array<string>; readonly fault: StorageOpenFault | null }> =
    Effect.suspend(() => {
      if (!going()) return Effect.succeed({ acknowledged, fault: null })
      const key = `${name}/${acknowledged.length}`
      return Effect.matchEffect(storage.commit({ records: [decision(key)] }), {
        onFailure: (fault) =>
          fault._tag === "StorageConflict" ? Effect.die(fault) : Effect.succeed({ acknowledged, fault }),
        onSuccess: () => {
          acknowledged.push(key)
          return step
        }
      })
    })
  return step
}

describe("on Postgres, under load,", () => {
  it.effect.each([true, false])(
    "a migration (older may run: %s) loses nothing, and older processes continue or stop with an error",
    (olderMayRun) =>
      Effect.gen(function* () {
        const schema = `load_${olderMayRun}`
        const stores = yield* Effect.all([1, 2].map(() => openStore({ url: database.url, schema, maxConnections: 3 })))
        yield* stores[0]!.commit({ expectEmpty: true, records: [genesis] })
        let going = true
        const writers = yield* Effect.forkChild(
          Effect.all(
            stores.flatMap((store, n) => ["a", "b"].map((name) => keepWriting(store, `${name}${n}`, () => going))),
            { concurrency: "unbounded" }
          ),
          { startImmediately: true }
        )
        const written = (atLeast: number): Effect.Effect<boolean, unknown> =>
          Effect.map(stores[1]!.head, (head) => head!.seq >= atLeast)
        yield* until("40 records are written", written(40))
        const ran = yield* migrateStore({ kind: "postgres", url: database.url, schema }, tomorrow(olderMayRun))
        assert.deepStrictEqual(ran, [{ ...next, olderMayRun }])
        const then = (yield* stores[1]!.head)!.seq
        if (olderMayRun) yield* until("40 more records are written", written(then + 40))
        going = !olderMayRun
        const done = yield* Fiber.join(writers)
        for (const { fault } of done) {
          if (olderMayRun) assert.isNull(fault)
          else
            assert.match(
              fault!.message,
              new RegExp(
                `schema ${latestSchema + 1} .*this version of Flyball knows ${latestSchema}; use the newer ` +
                  "version.*Nothing was written"
              )
            )
        }
        assert.deepStrictEqual(
          (yield* checkLine(stores[0]!)).toSorted(),
          done.flatMap(({ acknowledged }) => acknowledged).toSorted()
        )
        const late = yield* Effect.flip(Effect.scoped(openStore({ url: database.url, schema })))
        assert.match(late.message, /use the newer version that migrated it/)
      })
  )

  it.effect("concurrent migrations run once", () =>
    Effect.gen(function* () {
      const store = { kind: "postgres", url: database.url, schema: "at_once" } as const
      yield* migrateStore(store)
      const ran = yield* Effect.all(
        Array.from({ length: 4 }, () => migrateStore(store, tomorrow(true))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        ran.filter((steps) => steps.length > 0),
        [[next]]
      )
    })
  )
})

describe("on SQLite", () => {
  it.effect("a migration is refused while a writer has the file, and loses nothing once the writer is done", () =>
    Effect.gen(function* () {
      const file = newFile()
      const store = { kind: "sqlite", file } as const
      let going = true
      yield* using(
        file,
        Effect.fnUntraced(function* (storage) {
          yield* storage.commit({ expectEmpty: true, records: [genesis] })
          const writers = yield* Effect.forkChild(
            keepWriting(storage, "a", () => going),
            { startImmediately: true }
          )
          assert.match(
            (yield* Effect.flip(migrateStore(store, tomorrow(false)))).message,
            /another process has the database open for writing; stop it/
          )
          assert.deepStrictEqual(
            (yield* missingMigrations(store, tomorrow(false))).map(({ name }) => name),
            ["tomorrow"]
          )
          yield* until(
            "20 records are written",
            Effect.map(storage.head, (head) => head!.seq > 20)
          )
          going = false
          const { acknowledged, fault } = yield* Fiber.join(writers)
          assert.isNull(fault)
          assert.deepStrictEqual(yield* checkLine(storage), acknowledged)
        })
      )
      yield* using(
        file,
        Effect.fnUntraced(function* (reader) {
          const before = yield* checkLine(reader)
          assert.deepStrictEqual(
            (yield* migrateStore(store, tomorrow(false))).map(({ id }) => id),
            [sqliteMigrations.length + 1]
          )
          assert.deepStrictEqual(yield* checkLine(reader), before, "an older reader goes on")
        }),
        true
      )
      for (const readOnly of [true, false]) {
        assert.match(
          (yield* Effect.flip(using(file, (storage) => storage.head, readOnly))).message,
          /use the newer version that wrote it/
        )
      }
      assert.deepStrictEqual(yield* missingMigrations(store, tomorrow(false)), [])
    })
  )

  it.effect("a migration that fails half-way leaves the schema unchanged", () =>
    Effect.gen(function* () {
      const file = newFile()
      yield* using(file, (storage) => storage.commit({ expectEmpty: true, records: [genesis] }))
      const broken: KnownMigrations = {
        ...tomorrow(true),
        sqlite: [
          ...sqliteMigrations,
          {
            id: sqliteMigrations.length + 1,
            name: "broken",
            sql: "CREATE TABLE extra (a INTEGER) STRICT; INSERT INTO nowhere VALUES (1)"
          }
        ]
      }
      assert.isTrue(Exit.isFailure(yield* Effect.exit(migrateStore({ kind: "sqlite", file }, broken))))
      assert.strictEqual((yield* using(file, (storage) => storage.head))?.seq, 0)
      const db = new DatabaseSync(file)
      assert.isUndefined(db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'extra'").get())
      db.close()
    })
  )
})

describe("a dry run of a migration", () => {
  it.effect("changes nothing: no file, no log, no schema", () =>
    Effect.gen(function* () {
      const file = newFile()
      assert.deepStrictEqual(yield* missingMigrations({ kind: "sqlite", file }), [
        { id: 1, name: "store", olderMayRun: false }
      ])
      yield* using(file, (storage) => storage.commit({ expectEmpty: true, records: [genesis] }))
      const before = readdirSync(folder)
      const bytes = readFileSync(file)
      assert.deepStrictEqual(yield* missingMigrations({ kind: "sqlite", file }), [])
      assert.deepStrictEqual(
        (yield* missingMigrations({ kind: "sqlite", file }, tomorrow(true))).map(({ name }) => name),
        ["tomorrow"]
      )
      assert.deepStrictEqual([readdirSync(folder), readFileSync(file).equals(bytes)], [before, true])
      const store = { kind: "postgres", url: database.url, schema: "dry_run_only" } as const
      assert.deepStrictEqual(
        (yield* missingMigrations(store)).map(({ id, name }) => ({ id, name })),
        postgresMigrations.map(({ id, name }) => ({ id, name }))
      )
      assert.deepStrictEqual(yield* ask(database.url, "SELECT 1 FROM pg_namespace WHERE nspname = 'dry_run_only'"), [])
      yield* migrateStore(store)
      assert.deepStrictEqual(yield* missingMigrations(store, tomorrow(true)), [next])
      assert.deepStrictEqual(yield* missingMigrations(store), [])
    })
  )

  it.effect("refuses a newer schema and a file of another program", () =>
    Effect.gen(function* () {
      const file = newFile()
      yield* migrateStore({ kind: "sqlite", file }, tomorrow(true))
      assert.match(
        (yield* Effect.flip(missingMigrations({ kind: "sqlite", file }))).message,
        /use the newer version that wrote it/
      )
      const letter = newFile()
      writeFileSync(letter, "this is a letter, not a database. ".repeat(100))
      assert.strictEqual(
        (yield* Effect.flip(missingMigrations({ kind: "sqlite", file: letter })))._tag,
        "StorageCorrupt"
      )
    })
  )
})

describe("a Postgres store opened for reading", () => {
  const readOnly = (schema: string) => openStore({ url: database.url, schema, readOnly: true })

  it.effect("must exist and be up to date, and is never created", () =>
    Effect.gen(function* () {
      const missing = yield* Effect.flip(Effect.scoped(readOnly("missing")))
      assert.match(
        missing.message,
        /the database has no store in its schema missing, and it was opened for reading only; start the server once/
      )
      assert.deepStrictEqual(yield* ask(database.url, "SELECT 1 FROM pg_namespace WHERE nspname = 'missing'"), [])
      yield* migrateStore({ kind: "postgres", url: database.url, schema: "newer_yet" }, tomorrow(true))
      assert.match((yield* Effect.flip(Effect.scoped(readOnly("newer_yet")))).message, /use the newer version/)
    })
  )

  it.effect("reads beside a writer, and writes nothing", () =>
    Effect.gen(function* () {
      const writer = yield* openStore({ url: database.url, schema: "read" })
      yield* writer.commit({ expectEmpty: true, records: [genesis] })
      const reader = yield* readOnly("read")
      yield* writer.commit({ records: [decision("a")] })
      assert.deepStrictEqual(yield* checkLine(reader), ["a"])
      for (const write of [
        reader.commit({ records: [decision("b")] }),
        reader.lease("signer", "me", 1000),
        reader.releaseLease("signer", "me")
      ]) {
        const fault = yield* Effect.flip(write)
        assert.instanceOf(fault, StorageUnavailable)
        assert.match(fault.message, /reading only.*Nothing was written/)
      }
    })
  )

  it.effect("needs no more than SELECT", () =>
    Effect.gen(function* () {
      const writer = yield* openStore({ url: database.url, schema: "granted" })
      yield* writer.commit({ expectEmpty: true, records: [genesis] })
      const url = new URL(database.url)
      url.username = `flyball_auditor_${url.pathname.slice(-16)}`
      url.password = "word"
      yield* ask(database.url, `CREATE ROLE ${url.username} LOGIN PASSWORD 'word'`)
      yield* Effect.gen(function* () {
        yield* ask(database.url, `GRANT USAGE ON SCHEMA granted TO ${url.username}`)
        yield* ask(database.url, `GRANT SELECT ON ALL TABLES IN SCHEMA granted TO ${url.username}`)
        const seen = yield* Effect.scoped(
          Effect.flatMap(openStore({ url: url.href, schema: "granted", readOnly: true }), (reader) => reader.head)
        )
        assert.strictEqual(seen?.seq, 0)
        // Roles belong to the whole server, which others use too.
      }).pipe(
        Effect.ensuring(
          Effect.orDie(
            Effect.andThen(
              ask(database.url, `DROP OWNED BY ${url.username}`),
              ask(database.url, `DROP ROLE ${url.username}`)
            )
          )
        )
      )
    })
  )
})
