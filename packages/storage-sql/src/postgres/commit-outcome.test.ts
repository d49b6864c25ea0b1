import { assert, describe, it } from "@effect/vitest"
import type { StorageApi } from "@flyball/core/storage"
import { StorageUnavailable } from "@flyball/core/storage"
import { Effect, Fiber, Queue } from "effect"
import { connect as connectSocket, createServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"
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

/** Ends the store's sessions that match; answers how many. */
const terminate = (applicationName: string, where = "true") =>
  Effect.map(
    ask(
      database.url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1::text AND ${where}`,
      [applicationName]
    ),
    (rows) => rows.length
  )

/** True while a session of the store waits for a lock. */
const waits = (applicationName: string) =>
  Effect.map(
    ask(database.url, "SELECT 1 FROM pg_stat_activity WHERE application_name = $1::text AND wait_event_type = 'Lock'", [
      applicationName
    ]),
    (rows) => rows.length > 0
  )

const unavailable = Effect.fnUntraced(function* (commit: ReturnType<StorageApi["commit"]>) {
  const fault = yield* Effect.flip(commit)
  assert.instanceOf(fault, StorageUnavailable)
  return fault as StorageUnavailable
})

const begun = Effect.fnUntraced(function* (schema: string, url = database.url) {
  const store = yield* openStore({ url, schema, applicationName: schema })
  yield* store.commit({ expectEmpty: true, records: [genesis] })
  return store
})

describe("a commit whose connection dies", () => {
  it.effect("before COMMIT was sent reports that nothing was written", () =>
    Effect.gen(function* () {
      const store = yield* begun("before")
      const holder = yield* connect(database.url)
      yield* holder.query("BEGIN")
      yield* holder.query("SELECT * FROM before.head FOR UPDATE")
      const fiber = yield* Effect.forkChild(unavailable(store.commit({ records: [decision("a")] })), {
        startImmediately: true
      })
      // It tries once more on a new connection, since nothing was written; that one dies too.
      yield* until("the commit waits for the lock", waits("before"))
      yield* terminate("before", "wait_event_type = 'Lock'")
      yield* until("the commit waits for the lock", waits("before"))
      yield* terminate("before", "wait_event_type = 'Lock'")
      assert.strictEqual((yield* Fiber.join(fiber)).wrote, "no")
      yield* holder.query("ROLLBACK")
      assert.strictEqual((yield* store.commit({ records: [decision("a")] })).records[0]!.duplicate, false)
      assert.deepStrictEqual(yield* checkLine(store), ["a"])
    })
  )

  it.effect("during COMMIT reports an unknown outcome, here of a commit that was lost", () =>
    Effect.gen(function* () {
      const store = yield* begun("during")
      // A deferred trigger runs inside COMMIT, and this one waits there.
      yield* ask(
        database.url,
        "CREATE FUNCTION during.wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM " +
          "pg_advisory_xact_lock(77); RETURN NULL; END'"
      )
      yield* ask(
        database.url,
        "CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON during.records DEFERRABLE INITIALLY DEFERRED FOR EACH " +
          "ROW EXECUTE FUNCTION during.wait()"
      )
      const holder = yield* connect(database.url)
      yield* holder.query("SELECT pg_advisory_lock(77)")
      const fiber = yield* Effect.forkChild(unavailable(store.commit({ records: [decision("a")] })), {
        startImmediately: true
      })
      yield* until("the commit waits for the lock", waits("during"))
      yield* terminate("during", "wait_event_type = 'Lock'")
      assert.strictEqual((yield* Fiber.join(fiber)).wrote, "unknown")
      yield* holder.query("SELECT pg_advisory_unlock(77)")
      assert.deepStrictEqual(yield* checkLine(store), [])
      assert.strictEqual((yield* store.commit({ records: [decision("a")] })).records[0]!.duplicate, false)
      assert.deepStrictEqual(yield* checkLine(store), ["a"])
    })
  )

  it.effect("during COMMIT reports an unknown outcome, here of a commit that was written", () =>
    Effect.gen(function* () {
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => startProxy(database.url)),
        ({ close }) => Effect.promise(close)
      )
      const store = yield* begun("answered", proxy.url)
      proxy.dropNextCommit()
      const fault = yield* unavailable(store.commit({ records: [decision("a"), decision("b")] }))
      assert.strictEqual(fault.wrote, "unknown")
      assert.deepStrictEqual(yield* checkLine(store), ["a", "b"])
      const again = yield* store.commit({ records: [decision("a"), decision("b")] })
      assert.deepStrictEqual(
        again.records.map(({ seq, duplicate }) => [seq, duplicate]),
        [
          [1, true],
          [2, true]
        ]
      )
      assert.deepStrictEqual(yield* checkLine(store), ["a", "b"])
    })
  )

  it.effect("is neither lost nor doubled when sessions end at random under 200 commits and more", () =>
    Effect.gen(function* () {
      const store = yield* begun("random")
      const done: Array<readonly [key: string, seq: number]> = []
      const broken = { no: 0, unknown: 0 }
      const ended = yield* Queue.unbounded<string>()
      /**
       * Ends when enough commits were acknowledged and enough were cut off: how many that takes is the machine's
       * business.
       */
      const goesOn = () => done.length < 200 || broken.unknown < 5

      const witness: (key: string) => Effect.Effect<number, unknown> = Effect.fnUntraced(function* (key: string) {
        const outcome = yield* Effect.result(store.commit({ records: [decision(key)] }))
        yield* Queue.offer(ended, key)
        if (outcome._tag === "Success") return outcome.success.records[0]!.seq
        assert.instanceOf(outcome.failure, StorageUnavailable)
        broken[(outcome.failure as StorageUnavailable).wrote] += 1
        return yield* witness(key)
      })
      const caller = Effect.fnUntraced(function* (name: number) {
        for (let n = 0; goesOn(); n++) done.push([`${name}/${n}`, yield* witness(`${name}/${n}`)])
      })
      // Once after commits have ended: on a slow machine no larger share of them is cut off.
      const end = Effect.fnUntraced(function* () {
        const connection = yield* connect(database.url)
        while (goesOn()) {
          yield* Queue.takeAll(ended)
          yield* connection.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'random' AND " +
              "state <> 'idle' AND random() < 0.3"
          )
        }
      })
      yield* Effect.all([end(), ...Array.from({ length: 10 }, (_, name) => caller(name))], { concurrency: "unbounded" })

      const keys = yield* checkLine(store)
      assert.deepStrictEqual([...keys].sort(), done.map(([key]) => key).sort())
      for (const [key, seq] of done) assert.strictEqual(keys[seq - 1], key)
    })
  )
})

/** A way to Postgres that can cut the line at the answer to COMMIT. */
const startProxy = (
  url: string
): Promise<{ readonly url: string; readonly dropNextCommit: () => void; readonly close: () => Promise<void> }> => {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let dropping = false
  const server = createServer((client) => {
    const upstream = connectSocket(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on("error", () => {})
    }
    client.pipe(upstream)
    upstream.on("data", (chunk) => {
      if (dropping && chunk.includes("COMMIT\0")) {
        dropping = false
        client.destroy()
        upstream.destroy()
      } else client.write(chunk)
    })
    upstream.on("close", () => client.destroy())
    client.on("close", () => upstream.destroy())
  })
  const through = new URL(url)
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      through.port = String((server.address() as AddressInfo).port)
      resolve({
        url: through.href,
        dropNextCommit: () => {
          dropping = true
        },
        close: () =>
          new Promise((done) => {
            for (const socket of sockets) socket.destroy()
            server.close(() => done())
          })
      })
    })
  )
}
