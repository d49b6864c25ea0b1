import { assert, describe, it } from "@effect/vitest"
import type { RecordDraft, RetirePlan, StorageApi } from "@flyball/core/storage"
import { layerOf, retirementOf, Storage } from "@flyball/core/storage"
import { Effect, Fiber } from "effect"
import { postgresStorage } from "./postgres-choice.ts"
import { inRealTime } from "./real-time.ts"
import { ask, connect, decision, genesis, givenDatabase, openStore, until } from "./testing/given-database.ts"

const database = givenDatabase()

const next: RecordDraft = {
  ...genesis,
  body: { hash: "sha256-rfc6962", origin: "flyball.test/next", vkeys: [] },
  parts: [{ name: "previous", bytes: new Uint8Array([1]) }]
}

/** A store in a schema of its own, with a chain and a document. */
const given = Effect.fnUntraced(function* (schema: string) {
  const options = { url: database.url, schema, maxConnections: 4 }
  const storage = yield* openStore(options)
  yield* storage.commit({
    expectEmpty: true,
    records: [genesis],
    puts: [{ collection: "checkpoints", id: "1", expectedVersion: 0, body: {} }]
  })
  yield* storage.commit({
    records: [decision("one")],
    puts: [{ collection: "agents", id: "a1", expectedVersion: 0, body: { name: "first" }, unique: { name: "first" } }]
  })
  const retirement = retirementOf(postgresStorage(options))!
  const plan: RetirePlan = { head: yield* storage.head, genesis: next, leave: ["checkpoints"] }
  return { options, storage, retirement, plan }
})

const keysIn = Effect.fnUntraced(function* (storage: StorageApi) {
  return (yield* storage.records({ limit: 100 })).map(
    ({ bytes }) => /"(?:key|origin)":"([^"]+)"/.exec(Buffer.from(bytes).toString())?.[1]
  )
})

/** How many sessions wait for a lock of a table in this database. */
const waiting = Effect.map(
  Effect.suspend(() =>
    ask(
      database.url,
      "SELECT count(*)::int4 AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = " +
        "current_database() AND NOT l.granted"
    )
  ),
  ([row]) => row!["n"] as number
)

describe("retiring a store on Postgres", () => {
  it.live("renames its schema, and creates another with the documents", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { options, plan, retirement, storage } = yield* given("aside")
        const reported = { events: [{ type: "thing.made", data: {} }] }
        yield* storage.commit({
          ...reported,
          counts: [{ name: "used", add: 7 }],
          puts: [
            { collection: "webhooks", id: "whk_1", expectedVersion: 0, body: {}, keys: { "on:thing.made": "yes" } }
          ]
        })
        yield* storage.commit({
          puts: [
            { collection: "webhooks", id: "whk_2", expectedVersion: 0, body: {}, keys: { "on:thing.made": "yes" } }
          ]
        })
        yield* retirement.retire(plan)
        const after = yield* openStore(options)
        assert.deepStrictEqual(yield* after.counters(["used"]), [7])
        yield* after.commit(reported)
        const { claimed } = yield* after.outbox.claim({ leaseMs: 1000, limit: 9, perEndpoint: 9 })
        assert.deepStrictEqual(
          claimed
            .map(({ delivery }) => [delivery.endpointId, delivery.sequence] as const)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
          [
            ["whk_1", 1_000_000_000_001],
            ["whk_2", 1_000_000_000_001]
          ],
          "no number of the old chain comes again, not to an endpoint that it first wrote to after the copy either"
        )
        assert.deepStrictEqual(yield* keysIn(after), ["flyball.test/next"])
        assert.deepStrictEqual(
          [
            (yield* after.find("agents", "name", "first")).length,
            yield* after.list("checkpoints"),
            yield* after.once("agt_1", ["one"])
          ],
          [1, [], []]
        )
        assert.strictEqual((yield* after.parts([0])).length, 1)
        const [retired, ...more] = yield* retirement.retired
        assert.lengthOf(more, 0)
        yield* Effect.flatMap(
          Storage,
          Effect.fnUntraced(function* (old) {
            assert.deepStrictEqual(yield* keysIn(old), ["flyball.test/postgres", "one"])
            assert.deepStrictEqual(
              (yield* old.outbox.deliveriesOf("whk_1", { limit: 9 })).map(({ sequence }) => sequence),
              [1]
            )
            assert.strictEqual((yield* Effect.flip(old.commit({ puts: [] })))._tag, "StorageUnavailable")
          })
        ).pipe(Effect.provide(layerOf(retired!)))
        yield* retirement.retire({ ...plan, head: yield* after.head })
        assert.lengthOf(yield* retirement.retired, 2)
        assert.deepStrictEqual(
          yield* ask(database.url, "SELECT endpoint_id, sequence::float8 AS n FROM aside.sequences ORDER BY 1"),
          [
            { endpoint_id: "whk_1", n: 2_000_000_000_000 },
            { endpoint_id: "whk_2", n: 2_000_000_000_000 }
          ]
        )
      })
    )
  )

  it.live("begins the new chain no earlier than the old one ended, even when the server's clock is a day behind", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { options, plan, retirement } = yield* given("behind")
        const endedAtMs = plan.head!.atMs + 86_400_000
        yield* retirement.retire({ ...plan, head: { ...plan.head!, atMs: endedAtMs } })
        const after = yield* openStore(options)
        assert.deepStrictEqual([(yield* after.head)?.atMs, (yield* after.asOf).ms], [endedAtMs, endedAtMs])
      })
    )
  )

  it.live("stops a process that had the old chain open from writing, with the reason", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { options, plan, retirement, storage } = yield* given("running")
        yield* retirement.retire(plan)
        for (const call of [
          storage.commit({ records: [decision("late")] }),
          storage.head,
          storage.asOf,
          storage.outbox.claim({ leaseMs: 1, limit: 1, perEndpoint: 1 }),
          storage.commit({ puts: [{ collection: "agents", id: "a2", expectedVersion: 0, body: {} }] })
        ]) {
          assert.match(
            (yield* Effect.flip(call as Effect.Effect<unknown, Error>)).message,
            /recovery has put the chain aside .* start the process again/
          )
        }
        const after = yield* openStore(options)
        assert.deepStrictEqual(yield* keysIn(after), ["flyball.test/next"])
        assert.deepStrictEqual(
          (yield* after.list("agents")).map(({ id }) => id),
          ["a1"]
        )
      })
    )
  )

  it.live("leaves a commit that arrives meanwhile in neither chain", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { options, plan, retirement, storage } = yield* given("meanwhile")
        const blocker = yield* connect(database.url)
        yield* inRealTime(
          Effect.andThen(blocker.query("BEGIN"), blocker.query('LOCK TABLE "meanwhile".head IN ROW SHARE MODE'))
        )
        const retiring = yield* Effect.forkChild(retirement.retire(plan))
        yield* until(
          "one session waits",
          Effect.map(waiting, (n) => n >= 1)
        )
        const late = yield* Effect.forkChild(Effect.flip(storage.commit({ records: [decision("late")] })))
        yield* until(
          "two sessions wait",
          Effect.map(waiting, (n) => n >= 2)
        )
        yield* inRealTime(blocker.query("COMMIT"))
        yield* Fiber.join(retiring)
        assert.match((yield* Fiber.join(late)).message, /recovery has put the chain aside/)
        assert.deepStrictEqual(yield* keysIn(yield* openStore(options)), ["flyball.test/next"])
        const [retired] = yield* retirement.retired
        assert.deepStrictEqual(
          (yield* ask(database.url, 'SELECT count(*)::int4 AS n FROM "meanwhile_retired_1".records'))[0]?.["n"],
          2
        )
        assert.strictEqual(retired?.backend, "postgres")
      })
    )
  )

  it.live("keeps an earlier commit in the old chain, and makes the plan again", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { options, plan, retirement, storage } = yield* given("before")
        yield* storage.commit({ records: [decision("two")] })
        assert.match(
          (yield* Effect.flip(retirement.retire(plan))).message,
          /written to since the recovery was planned; recover again/
        )
        assert.deepStrictEqual(yield* retirement.retired, [])
        yield* retirement.retire({ ...plan, head: yield* storage.head })
        assert.deepStrictEqual(yield* keysIn(yield* openStore(options)), ["flyball.test/next"])
      })
    )
  )

  it.live("is refused for a schema name that is too long, and for a store opened for reading only", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { plan, retirement } = yield* given(`long_${"x".repeat(50)}`)
        assert.match((yield* Effect.flip(retirement.retire(plan))).message, /longer than a name of Postgres may be/)
        assert.match(
          (yield* Effect.flip(retirementOf(postgresStorage({ url: database.url, readOnly: true }))!.retire(plan)))
            .message,
          /reading only/
        )
      })
    )
  )
})
