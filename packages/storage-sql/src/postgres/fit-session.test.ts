import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { StorageUnavailable } from "@flyball/core/storage"
import { type DemotablePostgres, startDemotablePostgres } from "@flyball/testkit/postgres"
import { Effect, Logger } from "effect"
import { ask, connect, decision, genesis, givenDatabase, openStore, until } from "./testing/given-database.ts"
import { parameterDroppingPooler } from "./testing/pooler.ts"

const database = givenDatabase()

/** Why a call failed, where it wrote nothing. */
const refusal = <R>(call: Effect.Effect<unknown, unknown, R>): Effect.Effect<string, unknown, R> =>
  Effect.map(Effect.flip(call), (fault) => {
    assert.instanceOf(fault, StorageUnavailable)
    assert.strictEqual((fault as StorageUnavailable).wrote, "no")
    return (fault as StorageUnavailable).reason
  })

/** It becomes a standby in the second test. */
let own: DemotablePostgres | null = null
beforeAll(async () => void (own = await startDemotablePostgres()))
afterAll(async () => void (await own?.stop()))

describe("a server that may lose what it acknowledges", () => {
  it.live("is warned of when a store is opened", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logger = Logger.layer([
        Logger.make(({ logLevel, message }) => void said.push(`${logLevel} ${String([message].flat()[0])}`))
      ])
      const { url } = own!
      const open = Effect.scoped(openStore({ url, schema: "lossy" })).pipe(Effect.provide(logger))
      yield* open
      assert.deepStrictEqual(said, [])
      yield* ask(url, "ALTER SYSTEM SET fsync = off")
      yield* ask(url, "SELECT pg_reload_conf()")
      const off = Effect.map(ask(url, "SHOW fsync"), ([row]) => row!["fsync"] === "off")
      yield* until("fsync is off", off)
      yield* open
      assert.lengthOf(said, 1)
      assert.match(said[0]!, /^Warn Postgres runs with fsync off: a crash of its host may lose/)
    })
  )
})

describe("a server that became a standby", () => {
  it.live("is neither read nor written any more, and is read by those that only read", () =>
    Effect.gen(function* () {
      const { demote, url } = own!
      const { commit, get, head, lease, outbox } = yield* openStore({ url, maxConnections: 3 })
      yield* commit({ expectEmpty: true, records: [genesis, decision("a")] })
      yield* Effect.promise(demote)
      // The first may still find the end of an old session.
      yield* until(
        "a read finds the standby",
        Effect.map(refusal(head), (reason) => reason.includes("standby"))
      )
      for (const call of [
        head,
        get("agents", "a"),
        commit({ records: [decision("b")] }),
        lease("a", "b", 1_000),
        outbox.claim({ leaseMs: 1_000, limit: 1, perEndpoint: 1 }),
        openStore({ url })
      ])
        assert.include(yield* refusal(call), "Postgres is a standby at this address")
      const copy = yield* openStore({ url, readOnly: true })
      assert.strictEqual((yield* copy.head)?.seq, 1)
    })
  )
})

describe("a pooler that drops start-up parameters", () => {
  it.effect("is refused, with the settings that are missing", () =>
    Effect.gen(function* () {
      const { url } = yield* parameterDroppingPooler(database.url)
      const reason = yield* refusal(openStore({ url, schema: "pooled" }))
      assert.include(reason, "a pooler in between drops them")
      assert.include(reason, "enable_seqscan is on")
      assert.deepStrictEqual(yield* ask(database.url, "SELECT 1 FROM pg_namespace WHERE nspname = 'pooled'"), [])
    })
  )
})

describe("settings of the database", () => {
  it.effect("end no session of a store", () =>
    Effect.gen(function* () {
      const name = new URL(database.url).pathname.slice(1)
      // Begun before, so that they do not end it.
      const connection = yield* connect(database.url)
      for (const setting of [
        "idle_in_transaction_session_timeout = '1ms'",
        "idle_session_timeout = '1ms'",
        "synchronous_commit = off"
      ])
        yield* connection.query(`ALTER DATABASE ${name} SET ${setting}`, [], false)
      const store = yield* openStore({ url: database.url, schema: "hasty" })
      yield* store.commit({ expectEmpty: true, records: [genesis] })
      assert.strictEqual((yield* store.head)?.seq, 0)
    })
  )
})
