import { assert, describe, it } from "@effect/vitest"
import { StorageCorrupt } from "@flyball/core/storage"
import { Effect, Exit, Fiber } from "effect"
import {
  ask,
  checkLine,
  connect,
  decision,
  genesis,
  givenDatabase,
  openStore,
  until
} from "./testing/given-database.ts"

const database = givenDatabase()

/** True while a session of this name waits for a lock. */
const waits = (applicationName: string) =>
  Effect.map(
    ask(database.url, "SELECT 1 FROM pg_stat_activity WHERE application_name = $1::text AND wait_event_type = 'Lock'", [
      applicationName
    ]),
    (rows) => rows.length > 0
  )

describe("a group", () => {
  it.effect("reads again under the lock when another process took a key since the first read", () =>
    Effect.gen(function* () {
      const [first, second] = [
        yield* openStore({ url: database.url, schema: "taken", applicationName: "first" }),
        yield* openStore({ url: database.url, schema: "taken", applicationName: "second" })
      ]
      yield* first.commit({ expectEmpty: true, records: [genesis] })
      const holder = yield* connect(database.url)
      yield* holder.query("BEGIN")
      yield* holder.query("SELECT * FROM taken.head FOR UPDATE")
      const winner = yield* Effect.forkChild(first.commit({ records: [decision("a")] }), { startImmediately: true })
      yield* until("the first store waits for the lock", waits("first"))
      const loser = yield* Effect.forkChild(second.commit({ records: [decision("a"), decision("b")] }), {
        startImmediately: true
      })
      yield* until("the second store waits for the lock", waits("second"))
      yield* holder.query("ROLLBACK")
      assert.deepStrictEqual(
        (yield* Fiber.join(winner)).records.map(({ seq, duplicate }) => [seq, duplicate]),
        [[1, false]]
      )
      assert.deepStrictEqual(
        (yield* Fiber.join(loser)).records.map(({ seq, duplicate }) => [seq, duplicate]),
        [
          [1, true],
          [2, false]
        ]
      )
      assert.deepStrictEqual(yield* checkLine(second), ["a", "b"])
    })
  )

  it.effect("gives each ChangeSet its own transaction when one fails unexpectedly", () =>
    Effect.gen(function* () {
      const store = yield* openStore({ url: database.url, schema: "guilty" })
      yield* store.commit({ expectEmpty: true, records: [genesis] })
      yield* ask(database.url, "ALTER TABLE guilty.once ADD CONSTRAINT unforeseen CHECK (key <> 'bad')")
      const exits = yield* Effect.all(
        ["a", "bad", "b"].map((key) => Effect.exit(store.commit({ records: [decision(key)] }))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        exits.map((exit) => Exit.isSuccess(exit)),
        [true, false, true]
      )
      const bad = exits[1]!
      assert.instanceOf(Exit.isFailure(bad) ? yield* Effect.flip(bad) : null, StorageCorrupt)
      assert.deepStrictEqual(yield* checkLine(store), ["a", "b"])
    })
  )

  it.effect("leaves no row with the bytes or the salt of an erased part", () =>
    Effect.gen(function* () {
      const store = yield* openStore({ url: database.url, schema: "erased" })
      yield* store.commit({ expectEmpty: true, records: [genesis, decision("a")] })
      yield* store.commit({
        records: [
          {
            kind: "part.erased",
            body: { name: "args", reason: "data_subject_request", seq: 1 },
            parts: [],
            agentId: null
          }
        ],
        erase: [{ seq: 1, name: "args" }]
      })
      assert.deepStrictEqual(
        yield* ask(database.url, "SELECT name, salt, bytes, erased_by::int4 AS erased_by FROM erased.parts"),
        [{ name: "args", salt: null, bytes: null, erased_by: 2 }]
      )
    })
  )
})
