import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import type { StorageApi, StorageChoice } from "@flyball/core/storage"
import { layerOf, Storage } from "@flyball/core/storage"
import { observe } from "@flyball/testkit"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { postgresStorage } from "../postgres/postgres-choice.ts"
import { ask, checkLine, decision, genesis, givenDatabase } from "../postgres/testing/given-database.ts"
import { sqliteStorage } from "../sqlite/storage.ts"
import type { StoreLocation } from "../store-location.ts"
import { copyFromFile, copyToFile } from "./copy-store.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-copy-"))
afterAll(() => rmSync(folder, { recursive: true }))
const database = givenDatabase()
let made = 0
const newFile = (): string => join(folder, `${made++}.db`)
const newSchema = (): StoreLocation => ({ kind: "postgres", url: database.url, schema: `copy_${made++}` })
const newSqlite = (): StoreLocation => ({ kind: "sqlite", file: newFile() })

const choiceOf = (store: StoreLocation): StorageChoice =>
  store.kind === "sqlite" ? sqliteStorage(store) : postgresStorage(store)
const using = <A, E>(store: StoreLocation, use: (storage: StorageApi) => Effect.Effect<A, E>) =>
  Effect.flatMap(Storage, use).pipe(Effect.provide(layerOf(choiceOf(store))))

/** Longer than a page of rows, so that every walk takes more than one step. */
const decisions = 1300

/**
 * Ids as agents have them, behind all others, more than one call of a statement takes, and not all in their order: how
 * their numbers are stored depends on that.
 */
const agents = Array.from({ length: 27 }, (_, n) => `agt_z${String(n % 5 === 4 ? n - 4 : n + 1).padStart(25, "0")}`)

/** Everything that a store can hold, in the order of texts that stores tend to confuse. */
const fill = Effect.fnUntraced(function* (storage: StorageApi) {
  yield* storage.commit({
    expectEmpty: true,
    records: [genesis],
    puts: [{ collection: "checkpoints", id: "latest", expectedVersion: 0, body: { size: 1 } }]
  })
  for (let from = 0; from < decisions; from += 100)
    yield* storage.commit({ records: Array.from({ length: 100 }, (_, n) => decision(`key ${from + n}`)) })
  const texts = ["a", "A", "é", "\u{1f600}", "ﾮ"]
  yield* storage.commit({
    records: [
      {
        ...decision("large"),
        parts: [
          { name: "args", bytes: new Uint8Array(200_000).fill(7) },
          { name: "labels", bytes: new Uint8Array(0) },
          { name: "result", bytes: Buffer.from("x") }
        ]
      },
      ...texts.map((text) => ({
        ...decision(text),
        agentId: text,
        once: { scope: text, key: text, digest: "ab".repeat(32) }
      })),
      ...agents.map((agentId) => ({ ...decision(`of ${agentId}`), agentId }))
    ],
    puts: texts.map((id, n) => ({
      collection: "things",
      id,
      expectedVersion: 0,
      body: { text: `\u0000 ${id}` },
      keys: { colour: "red" },
      unique: { name: `${n}` }
    }))
  })
  yield* storage.commit({
    puts: [{ collection: "webhooks", id: "whk_1", expectedVersion: 0, body: {}, keys: { "on:thing.made": "yes" } }],
    events: texts.map((text) => ({ type: "thing.made", data: { text: `\u0000 ${text}` } }))
  })
  const {
    claimed: [done, waiting]
  } = yield* storage.outbox.claim({ leaseMs: 1000, limit: 3, perEndpoint: 3 })
  const ended = { endedAtMs: 5, statusCode: null, errorCode: "tls", responseExcerpt: "\u0000\ud800" } as const
  yield* storage.commit({
    moves: [
      { id: done!.delivery.id, from: { state: "in_flight", attempts: 1 }, to: { state: "failed" }, ended },
      {
        id: waiting!.delivery.id,
        from: { state: "in_flight", attempts: 1 },
        to: { state: "pending", nextAttemptAtMs: Date.UTC(2100, 0, 1) },
        ended
      }
    ]
  })
  yield* storage.commit({
    puts: [{ collection: "things", id: "a", expectedVersion: 1, body: { later: true }, unique: { name: "again" } }]
  })
  yield* storage.commit({
    records: [
      {
        kind: "part.erased",
        body: { name: "args", reason: "data_subject_request", seq: decisions + 1 },
        parts: [],
        agentId: null
      }
    ],
    erase: [{ seq: decisions + 1, name: "args" }],
    forget: [{ scope: "agt_1", key: "large" }]
  })
  yield* storage.commit({ counts: [{ name: "used", add: 2 ** 40 }] })
  yield* storage.lease("signer", "somebody", 60_000)
})

const scene = {
  counters: ["used"],
  collections: ["things", "checkpoints", "webhooks"],
  once: [
    { scope: "agt_1", keys: ["key 0", "key 1299", "large"] },
    ...["a", "A", "é"].map((text) => ({ scope: text, keys: [text] }))
  ]
}
const contents = (store: StoreLocation) =>
  using(store, (storage) =>
    Effect.all({
      seen: observe(storage, scene),
      red: storage.find("things", "colour", "red"),
      again: storage.find("things", "name", "again"),
      freed: storage.find("things", "name", "0"),
      ofAgent: storage.records({ limit: 1000, agentId: "é" }),
      ofAgents: Effect.forEach(agents, (agentId) =>
        Effect.map(storage.records({ limit: 1000, agentId }), (found) => found.length)
      )
    })
  )

describe.each<[string, () => StoreLocation]>([
  ["SQLite", newSqlite],
  ["Postgres", newSchema]
])("a store on %s", (_name, place) => {
  it.effect.each<[string, () => StoreLocation]>([
    ["SQLite", newSqlite],
    ["Postgres", newSchema]
  ])("is copied into a file and back into %s with all that can be read, and continues", ([, other]) =>
    Effect.gen(function* () {
      const from = place()
      yield* using(from, fill)
      const file = newFile()
      yield* copyToFile(from, file)
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => join(folder, name).startsWith(`${file}-`)),
        [],
        "one file, without a log"
      )
      const to = other()
      yield* copyFromFile(file, to)
      assert.deepStrictEqual(yield* contents(to), yield* contents(from))
      const again = newFile()
      yield* copyToFile(to, again)
      assert.deepStrictEqual(yield* contents({ kind: "sqlite", file: again }), yield* contents(from))
      yield* using(
        to,
        Effect.fnUntraced(function* (storage) {
          assert.strictEqual(
            (yield* storage.commit({ records: [decision("key 3")] })).records[0]?.duplicate,
            true,
            "an idempotency key is still taken"
          )
          assert.strictEqual(
            (yield* storage.commit({
              records: [{ ...decision("large"), once: { scope: "agt_1", key: "large", digest: "00".repeat(32) } }]
            })).records[0]?.duplicate,
            true,
            "and one that was forgotten"
          )
          yield* storage.commit({ events: [{ type: "thing.made", data: {} }] })
          assert.deepStrictEqual(
            (yield* storage.outbox.claim({ leaseMs: 1000, limit: 9, perEndpoint: 9 })).claimed.map(
              ({ delivery }) => delivery.sequence
            ),
            [4, 5, 6],
            "what is owed is still owed, and sequences go on"
          )
          for (let n = 0; n < 300; n += 100)
            yield* storage.commit({ records: Array.from({ length: 100 }, (_, i) => decision(`after ${n + i}`)) })
          assert.isTrue(yield* storage.lease("signer", "somebody else", 1000), "no lease came along")
          yield* checkLine(storage)
        })
      )
    })
  )

  it.effect("is not copied to a target that holds a store, which stays unchanged", () =>
    Effect.gen(function* () {
      const from = place()
      yield* using(from, (storage) => storage.commit({ expectEmpty: true, records: [genesis] }))
      const file = newFile()
      yield* copyToFile(from, file)
      const fault = yield* Effect.flip(copyToFile(from, file))
      assert.match(fault.message, /exists already; name another/)
      assert.strictEqual(
        (yield* using({ kind: "sqlite", file }, (storage) => storage.head))?.seq,
        0,
        "the one that is there is not touched"
      )
      const taken = place()
      yield* using(taken, (storage) =>
        storage.commit({ puts: [{ collection: "things", id: "mine", expectedVersion: 0, body: {} }] })
      )
      assert.match(
        (yield* Effect.flip(copyFromFile(file, taken))).message,
        /exists already; move it away|holds a store already/
      )
      assert.deepStrictEqual(
        yield* using(taken, (storage) => Effect.map(storage.list("things"), (all) => all.map(({ id }) => id))),
        ["mine"]
      )
    })
  )
})

describe("copying", () => {
  it.effect("copies one snapshot of a Postgres store while others write", () =>
    Effect.gen(function* () {
      const from = newSchema()
      yield* using(
        from,
        Effect.fnUntraced(function* (storage) {
          yield* storage.commit({ expectEmpty: true, records: [genesis] })
          let done = false
          const write = (n: number): Effect.Effect<void, unknown> =>
            Effect.suspend(() =>
              done
                ? Effect.void
                : Effect.andThen(
                    storage.commit({
                      records: [decision(`${n}`)],
                      puts: [{ collection: "counts", id: "last", expectedVersion: n, body: { n: n + 1 } }]
                    }),
                    write(n + 1)
                  )
            )
          yield* Effect.all(
            [
              write(0),
              Effect.forEach(
                [1, 2, 3, 4, 5],
                Effect.fnUntraced(function* () {
                  const file = newFile()
                  yield* copyToFile(from, file)
                  yield* using(
                    { kind: "sqlite", file },
                    Effect.fnUntraced(function* (copy) {
                      const keys = yield* checkLine(copy)
                      assert.strictEqual((yield* copy.get("counts", "last"))?.body["n"] ?? 0, keys.length)
                    })
                  )
                })
              ).pipe(
                Effect.ensuring(
                  Effect.sync(() => {
                    done = true
                  })
                )
              )
            ],
            { concurrency: "unbounded" }
          )
        })
      )
    })
  )

  it.effect("copies nothing that was erased or overwritten", () =>
    Effect.gen(function* () {
      const from = newSqlite()
      const file = newFile()
      yield* using(
        from,
        Effect.fnUntraced(function* (storage) {
          yield* storage.commit({
            expectEmpty: true,
            records: [
              genesis,
              { ...decision("k"), parts: [{ name: "args", bytes: Buffer.from("a person's own words ".repeat(9000)) }] }
            ],
            puts: [
              { collection: "agents", id: "a1", expectedVersion: 0, body: { owner: "Erika" }, keys: { owner: "Erika" } }
            ]
          })
          yield* storage.commit({
            records: [
              {
                kind: "part.erased",
                body: { name: "args", reason: "data_subject_request", seq: 1 },
                parts: [],
                agentId: null
              }
            ],
            erase: [{ seq: 1, name: "args" }],
            puts: [{ collection: "agents", id: "a1", expectedVersion: 1, body: { owner: null } }]
          })
          yield* copyToFile(from, file)
        })
      )
      const bytes = readFileSync(file)
      assert.isTrue(bytes.includes("data_subject_request"))
      assert.isFalse(bytes.includes("own words") || bytes.includes("Erika"))
    })
  )

  it.effect("leaves nothing behind when it fails", () =>
    Effect.gen(function* () {
      const before = readdirSync(folder)
      const file = newFile()
      const lost = join(folder, "no-such.db")
      assert.strictEqual(
        (yield* Effect.flip(copyToFile({ kind: "sqlite", file: lost }, file)))._tag,
        "StorageUnavailable"
      )
      assert.match(
        (yield* Effect.flip(copyToFile({ kind: "postgres", url: database.url, schema: "nobody" }, file))).message,
        /no store in its schema nobody/
      )
      assert.deepStrictEqual(yield* ask(database.url, "SELECT 1 FROM pg_namespace WHERE nspname = 'nobody'"), [])
      writeFileSync(lost, "this is a letter, not a database. ".repeat(100))
      for (const to of [newSqlite(), newSchema()])
        assert.strictEqual((yield* Effect.flip(copyFromFile(lost, to)))._tag, "StorageCorrupt")
      rmSync(lost)
      assert.deepStrictEqual(readdirSync(folder), before)
    })
  )

  it.effect("finds a torn source, and rolls back a half-written target", () =>
    Effect.gen(function* () {
      const from = newSqlite()
      const file = newFile()
      yield* using(from, fill)
      yield* copyToFile(from, file)
      const db = new DatabaseSync(file)
      db.exec("UPDATE part SET salt = NULL, bytes = NULL WHERE id = 5 * 32")
      db.close()
      const to = newSchema()
      assert.match((yield* Effect.flip(copyFromFile(file, to))).message, /rows of parts to be whole/)
      assert.isNull(yield* using(to, (storage) => storage.head))
    })
  )
})
