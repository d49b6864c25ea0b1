import { assert, describe, it } from "@effect/vitest"
import type { ReadFault, StorageApi } from "@flyball/core/storage"
import { retirementOf, StorageUnavailable } from "@flyball/core/storage"
import { seededEntropy } from "@flyball/testkit"
import { Effect, Exit, Fiber, Scope } from "effect"
import { SqlError } from "effect/sql/SqlError"
import { AnswerTime } from "./in-time.ts"
import { addressOf } from "./lines.ts"
import { migrate } from "./migrate.ts"
import { migrations } from "./migrations.ts"
import { postgresStorage } from "./postgres-choice.ts"
import { faultOf } from "./postgres-fault.ts"
import { inRealTime } from "./real-time.ts"
import { openSessions } from "./sessions.ts"
import { ask, decision, genesis, givenDatabase, openStore, until } from "./testing/given-database.ts"
import { silentProxy } from "./testing/silent-proxy.ts"

const database = givenDatabase()

/** As 90 seconds are to a store in use: far more than an answer takes here. */
const answerMs = 1_000
const soon = Effect.provideService(AnswerTime, answerMs)

/** A store behind a proxy, with a record. */
const behindProxy = Effect.fnUntraced(function* (schema: string, maxConnections = 4) {
  const proxy = yield* silentProxy(database.url)
  const store = yield* soon(openStore({ url: proxy.url, schema, maxConnections, applicationName: schema }))
  yield* store.commit({ expectEmpty: true, records: [genesis] })
  return { proxy, store }
})

/** Returns whether a call that gets no answer reports that it wrote. */
const wrote = Effect.fnUntraced(function* (call: Effect.Effect<unknown, unknown>) {
  const fault = yield* Effect.flip(soon(call))
  assert.instanceOf(fault, StorageUnavailable)
  assert.include((fault as StorageUnavailable).reason, "Postgres did not answer")
  return (fault as StorageUnavailable).wrote
})

const reads = ({
  asOf,
  get,
  hashes,
  head,
  list,
  once,
  outbox,
  parts,
  record,
  records
}: StorageApi): ReadonlyArray<Effect.Effect<unknown, ReadFault>> => [
  asOf,
  head,
  get("agents", "a"),
  list("agents"),
  record(0),
  records({ limit: 1 }),
  parts([0]),
  once("a", ["a"]),
  hashes(0, 0, 1),
  outbox.event("evt_none")
]

describe("a server that falls silent", () => {
  it.effect("fails reads after a timeout, and no later read gets a silent connection", () =>
    Effect.gen(function* () {
      const { proxy, store } = yield* behindProxy("reads")
      yield* Effect.all(reads(store), { concurrency: "unbounded" })
      proxy.silence()
      // More than there are connections: some wait for one.
      assert.deepStrictEqual(
        yield* Effect.forEach(reads(store), wrote, { concurrency: "unbounded" }),
        reads(store).map(() => "no")
      )
      proxy.heal()
      assert.strictEqual((yield* store.head)?.seq, 0)
      yield* Effect.all(reads(store), { concurrency: "unbounded" })
    })
  )

  it.effect("leaves no read waiting that cannot be interrupted", () =>
    Effect.gen(function* () {
      const { proxy, store } = yield* behindProxy("uninterruptible")
      proxy.silence()
      assert.strictEqual(yield* Effect.uninterruptible(wrote(store.head)), "no")
    })
  )

  it.effect("fails an unsent commit, and reports that nothing was written", () =>
    Effect.gen(function* () {
      const { proxy, store } = yield* behindProxy("unsent")
      proxy.silence()
      assert.strictEqual(yield* wrote(store.commit({ records: [decision("a")] })), "no")
      proxy.heal()
      assert.strictEqual((yield* store.commit({ records: [decision("a")] })).records[0]!.duplicate, false)
    })
  )

  it.effect("fails a sent commit with an unknown outcome", () =>
    Effect.gen(function* () {
      const { proxy, store } = yield* behindProxy("answer")
      proxy.silenceAt("server", "COMMIT\0")
      assert.strictEqual(yield* wrote(store.commit({ records: [decision("a")] })), "unknown")
      proxy.heal()
      assert.strictEqual((yield* store.commit({ records: [decision("a")] })).records[0]!.duplicate, true)
    })
  )

  it.effect("does not block later commits after a commit of duplicates only", () =>
    Effect.gen(function* () {
      const { proxy, store } = yield* behindProxy("empty")
      yield* store.commit({ records: [decision("a")] })
      proxy.silenceAt("client", "ROLLBACK")
      assert.strictEqual((yield* store.commit({ records: [decision("a")] })).records[0]!.duplicate, true)
      proxy.heal()
      assert.strictEqual((yield* store.commit({ records: [decision("b")] })).records[0]!.duplicate, false)
    })
  )

  it.effect("fails a lease, a claim and a deletion with an unknown outcome", () =>
    Effect.gen(function* () {
      const {
        proxy,
        store: { lease, outbox, releaseLease }
      } = yield* behindProxy("others", 8)
      const forget = (what: "deliveries" | "events") => outbox.forget({ what, beforeMs: 1, limit: 1 })
      const calls = [
        lease("a", "b", 1_000),
        releaseLease("a", "b"),
        outbox.claim({ leaseMs: 1_000, limit: 1, perEndpoint: 1 }),
        forget("deliveries"),
        forget("events")
      ]
      yield* Effect.all(calls, { concurrency: "unbounded" })
      proxy.silence()
      assert.deepStrictEqual(
        yield* Effect.forEach(calls, wrote, { concurrency: "unbounded" }),
        calls.map(() => "unknown")
      )
    })
  )

  it.effect("does not prevent closing the store, and leaves no connection open", () =>
    Effect.gen(function* () {
      const proxy = yield* silentProxy(database.url)
      const scope = yield* Scope.make()
      const store = yield* Scope.provide(soon(openStore({ url: proxy.url, schema: "closed" })), scope)
      yield* store.commit({ expectEmpty: true, records: [genesis] })
      proxy.silence()
      const calls = yield* Effect.forkChild(
        Effect.forEach([store.head, store.commit({ records: [decision("a")] })], wrote, { concurrency: "unbounded" }),
        { startImmediately: true }
      )
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Fiber.join(calls), ["no", "no"])
      yield* until(
        "no connection is open",
        Effect.sync(() => proxy.open() === 0)
      )
    })
  )

  it.effect("fails the opening of a store after a timeout", () =>
    Effect.gen(function* () {
      const proxy = yield* silentProxy(database.url)
      for (const readOnly of [false, true]) {
        proxy.heal()
        proxy.silenceAt("client", "server_version_num")
        assert.strictEqual(yield* wrote(Effect.scoped(openStore({ url: proxy.url, schema: "opened", readOnly }))), "no")
      }
    })
  )
})

describe("a migration or a recovery", () => {
  /** Runs this version's migrations, and then one more step. */
  const migrating = (url: string, schema: string, ...statements: ReadonlyArray<string>) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { readers, writer } = yield* openSessions({ url, maxConnections: 2 })
        const step = { id: migrations.length + 1, name: "of tomorrow", olderMayRun: true, statements }
        return (yield* inRealTime(migrate(readers, writer, schema, [...migrations, step]))).length
      })
    )

  it.effect("may run long while the server reports that it is working", () =>
    Effect.gen(function* () {
      const statement = `SELECT pg_sleep(${(answerMs * 2.5) / 1_000})`
      assert.strictEqual(yield* soon(migrating(database.url, "at_work", statement)), migrations.length + 1)
    })
  )

  it.effect("may run long when the server does not track the activity of sessions", () =>
    Effect.gen(function* () {
      const statement = `SELECT pg_sleep(${(answerMs * 2.5) / 1_000})`
      assert.strictEqual(
        yield* soon(migrating(database.url, "no_account", "SET LOCAL track_activities = off", statement)),
        migrations.length + 1
      )
    })
  )

  it.effect.each(["pg_backend_pid", "pg_advisory_xact_lock", "CREATE SCHEMA", "pg_sleep"])(
    "does not wait for a server that is silent from %s on",
    (text) =>
      Effect.gen(function* () {
        const proxy = yield* silentProxy(database.url)
        proxy.silenceAt("client", text)
        const error = yield* Effect.flip(
          soon(migrating(proxy.url, `silent_${text.toLowerCase().replace(" ", "_")}`, "SELECT pg_sleep(0)"))
        )
        assert.instanceOf(error, SqlError)
        assert.include(faultOf(error as SqlError).message, "Postgres did not answer")
      })
  )

  it.effect("does not wait for a server that finished but whose answer was lost", () =>
    Effect.gen(function* () {
      const proxy = yield* silentProxy(database.url)
      proxy.silenceAt("server", "lost word")
      assert.instanceOf(yield* Effect.flip(soon(migrating(proxy.url, "lost_word", "SELECT 'lost word'"))), SqlError)
    })
  )

  it.effect.each(["LOCK TABLE", "ALTER SCHEMA", "COMMIT"])(
    "of a store does not wait for a server that is silent from %s on",
    (text) =>
      Effect.gen(function* () {
        const schema = `retired_${text.toLowerCase().replace(" ", "_")}`
        const { proxy, store } = yield* behindProxy(schema)
        const head = yield* store.head
        proxy.silenceAt("client", text)
        const retire = retirementOf(postgresStorage({ url: proxy.url, schema, maxConnections: 2 }))!.retire({
          head,
          genesis,
          leave: []
        })
        assert.strictEqual(yield* wrote(Effect.provide(retire, seededEntropy(1))), "unknown")
      })
  )
})

describe("closing a store", () => {
  it.effect("ends once the server has closed all its sessions", () =>
    Effect.gen(function* () {
      const sessions = Effect.map(
        ask(database.url, "SELECT 1 FROM pg_stat_activity WHERE application_name = 'farewell'"),
        (rows) => rows.length
      )
      const scope = yield* Scope.make()
      const store = yield* Scope.provide(
        openStore({ url: database.url, schema: "farewell", applicationName: "farewell" }),
        scope
      )
      yield* Effect.all(reads(store), { concurrency: "unbounded" })
      assert.isAtLeast(yield* sessions, 2)
      yield* Scope.close(scope, Exit.void)
      yield* until(
        "no session is left",
        Effect.map(sessions, (count) => count === 0)
      )
    })
  )
})

describe("the address of a server", () => {
  it("is parsed as the driver parses it", () => {
    assert.deepStrictEqual(addressOf("postgres://u:p@db.example/app"), { host: "db.example", port: 5432 })
    assert.deepStrictEqual(addressOf("postgres://[::1]:6000/app?sslmode=disable"), { host: "::1", port: 6000 })
    assert.deepStrictEqual(addressOf("postgres://db.example:1/app?port=6001&host=other&host=last"), {
      host: "last",
      port: 6001
    })
    assert.deepStrictEqual(addressOf("postgres:///app"), { host: "localhost", port: 5432 })
    assert.deepStrictEqual(addressOf("postgres://%2Frun%2Fpg/app"), { path: "/run/pg/.s.PGSQL.5432" })
  })
})
