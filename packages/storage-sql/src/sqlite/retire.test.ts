import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
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
  type Head,
  layerOf,
  type RecordDraft,
  type Retirement,
  type RetirePlan,
  retirementOf,
  Storage,
  type StorageApi
} from "@flyball/core/storage"
import { Clock, Effect, Layer } from "effect"
import { afterEach, beforeEach } from "vitest"
import { type RetireStep, sqliteRetirement } from "./retire.ts"
import { sqliteLayer, sqliteStorage } from "./storage.ts"

let folder: string
let file: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "flyball-retire-")))
  file = join(folder, "store.db")
})
afterEach(() => rmSync(folder, { recursive: true }))

const genesis = (origin: string): RecordDraft => ({
  kind: "chain.genesis",
  agentId: null,
  body: { hash: "sha256-rfc6962", origin, vkeys: ["x"] },
  parts: origin === "new" ? [{ name: "previous", bytes: new Uint8Array([1]) }] : []
})

const using = <A, E>(use: (storage: StorageApi) => Effect.Effect<A, E>, layer = sqliteLayer({ file })) =>
  Effect.flatMap(Storage, use).pipe(Effect.provide(Layer.fresh(layer)))

/**
 * A store with a chain, documents with keys, an idempotency key and an endpoint that is owed an event; answers its
 * head.
 */
const filled = Effect.suspend(() =>
  using(
    Effect.fnUntraced(function* (storage) {
      yield* storage.commit({
        expectEmpty: true,
        records: [genesis("old")],
        puts: [{ collection: "checkpoints", id: "1", expectedVersion: 0, body: {} }],
        counts: [{ name: "used", add: 7 }]
      })
      yield* storage.commit({
        puts: [
          { collection: "webhooks", id: "whk_1", expectedVersion: 0, body: {}, keys: { "on:agent.registered": "yes" } }
        ]
      })
      yield* storage.commit({
        records: [
          {
            kind: "capture.gap",
            agentId: "agt_1",
            body: {},
            parts: [],
            once: { scope: "agt_1", key: "k", digest: "00".repeat(32) }
          }
        ],
        puts: [
          {
            collection: "agents",
            id: "a1",
            expectedVersion: 0,
            body: { name: "first" },
            unique: { name: "first" },
            keys: { unit: "ops" }
          }
        ],
        events: [{ type: "agent.registered", data: {} }]
      })
      yield* storage.commit({
        puts: [
          { collection: "webhooks", id: "whk_2", expectedVersion: 0, body: {}, keys: { "on:agent.registered": "yes" } }
        ]
      })
      yield* storage.commit({
        puts: [
          {
            collection: "agents",
            id: "a1",
            expectedVersion: 1,
            body: { name: "second" },
            unique: { name: "second" },
            keys: { unit: "ops" }
          }
        ]
      })
      return (yield* storage.head)!
    })
  )
)

const planFor = (head: Head | null): RetirePlan => ({ head, genesis: genesis("new"), leave: ["checkpoints"] })

const reasonOf = (retirement: Retirement, head: Head | null) =>
  Effect.match(retirement.retire(planFor(head)), { onFailure: (error) => error.message, onSuccess: () => "done" })

const originOf = Effect.fnUntraced(function* (storage: StorageApi) {
  const record = yield* storage.record(0)
  return /"origin":"(\w+)"/.exec(Buffer.from(record!.bytes).toString())?.[1]
})

const retirement = (after?: (step: RetireStep) => void): Retirement => sqliteRetirement({ file }, sqliteLayer, after)

/** Origins of the retired stores, oldest first. */
const retiredOrigins = Effect.flatMap(
  Effect.suspend(() => retirement().retired),
  (stores) => Effect.forEach(stores, (store) => using(originOf, layerOf(store)))
)

describe("retiring a SQLite file", () => {
  it.live("keeps the old file whole under another name, and creates a new one with the documents", () =>
    Effect.gen(function* () {
      const head = yield* filled
      const before = readFileSync(file)
      yield* retirement().retire(planFor(head))
      assert.deepStrictEqual(readdirSync(folder).sort(), ["store.db", "store.db.lock", "store.db.retired-1"])
      assert.isTrue(before.equals(readFileSync(`${file}.retired-1`)), "not a byte of it changed")
      assert.strictEqual(statSync(`${file}.retired-1`).mode & 0o777, 0o400)
      yield* using(
        Effect.fnUntraced(function* (storage) {
          assert.strictEqual((yield* storage.head)?.seq, 0)
          assert.strictEqual(yield* originOf(storage), "new")
          assert.deepStrictEqual(yield* storage.counters(["used"]), [7])
          assert.deepStrictEqual(yield* storage.get("agents", "a1"), {
            collection: "agents",
            id: "a1",
            version: 2,
            body: { name: "second" }
          })
          assert.deepStrictEqual(
            (yield* storage.find("agents", "unit", "ops")).map(({ id }) => id),
            ["a1"]
          )
          assert.deepStrictEqual(
            [
              (yield* storage.find("agents", "name", "first")).length,
              (yield* storage.find("agents", "name", "second")).length
            ],
            [0, 1]
          )
          assert.deepStrictEqual(
            [
              yield* storage.list("checkpoints"),
              yield* storage.once("agt_1", ["k"]),
              yield* storage.outbox.events({ limit: 9 })
            ],
            [[], [], []]
          )
          yield* storage.commit({ events: [{ type: "agent.registered", data: {} }] })
          const { claimed } = yield* storage.outbox.claim({ leaseMs: 1000, limit: 9, perEndpoint: 9 })
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
          const twice = yield* Effect.flip(
            storage.commit({
              puts: [{ collection: "agents", id: "a2", expectedVersion: 0, body: {}, unique: { name: "second" } }]
            })
          )
          assert.strictEqual(twice._tag, "StorageConflict", "a unique key is still one")
        })
      )
      const [retired] = yield* retirement().retired
      yield* using(
        Effect.fnUntraced(function* (storage) {
          assert.deepStrictEqual(
            [
              yield* originOf(storage),
              (yield* storage.head)?.seq,
              (yield* storage.outbox.deliveriesOf("whk_1", { limit: 9 })).length
            ],
            ["old", 1, 1]
          )
          assert.strictEqual((yield* Effect.flip(storage.commit({ puts: [] })))._tag, "StorageUnavailable")
        }),
        layerOf(retired!)
      )
      assert.deepStrictEqual(
        readdirSync(folder).sort(),
        ["store.db", "store.db.lock", "store.db.retired-1"],
        "reading it leaves nothing beside it"
      )
    })
  )

  it.live("begins the new chain no earlier than the old one ended, even when the host's clock is a day behind", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const aDayOn = {
        ...clock,
        sleep: clock.sleep.bind(clock),
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (ms) => ms + 86_400_000)
      }
      const head = yield* Effect.provideService(filled, Clock.Clock, aDayOn)
      assert.isAbove(head.atMs, clock.currentTimeMillisUnsafe())
      yield* retirement().retire(planFor(head))
      yield* using(
        Effect.fnUntraced(function* (storage) {
          assert.strictEqual((yield* storage.head)?.atMs, head.atMs)
          assert.strictEqual((yield* storage.asOf).ms, head.atMs)
        })
      )
    })
  )

  it.live.each(["settled", "built", "linked", "replaced"] as const)(
    "leaves the old store or the new one when stopped after it was %s, and can be repeated",
    (last) =>
      Effect.gen(function* () {
        const head = yield* filled
        const stopped = retirement((step) => {
          if (step === last) throw new Error("stopped")
        })
        assert.isTrue((yield* Effect.exit(stopped.retire(planFor(head))))._tag === "Failure")
        const replaced = last === "replaced"
        assert.strictEqual(yield* using(originOf), replaced ? "new" : "old")
        assert.deepStrictEqual(yield* retiredOrigins, replaced ? ["old"] : [])
        if (!replaced) yield* retirement().retire(planFor(head))
        assert.strictEqual(yield* using(originOf), "new")
        assert.deepStrictEqual(yield* retiredOrigins, ["old"])
        assert.deepStrictEqual(
          readdirSync(folder).filter((name) => name.includes("retired")),
          ["store.db.retired-1"]
        )
        yield* retirement().retire(planFor(yield* using((storage) => storage.head)))
        assert.deepStrictEqual(
          readdirSync(folder).sort(),
          ["store.db", "store.db.lock", "store.db.retired-1", "store.db.retired-2"],
          "what was left of the attempts is gone"
        )
        assert.deepStrictEqual(yield* retiredOrigins, ["old", "new"])
      })
  )

  it.live("is refused without a change while others have the file open, or for another store than planned", () =>
    Effect.gen(function* () {
      const head = yield* filled
      const before = readFileSync(file)
      assert.match(yield* using(() => reasonOf(retirement(), head)), /open for writing; stop it/)
      const reader = new DatabaseSync(file, { readOnly: true })
      reader.prepare("SELECT 1 FROM record").get()
      assert.match(yield* reasonOf(retirement(), head), /open for reading; end it, and recover again/)
      reader.close()
      for (const other of [null, { ...head, seq: 7 }, { ...head, hash: new Uint8Array(32) }])
        assert.match(yield* reasonOf(retirement(), other), /written to since the recovery was planned/)
      assert.match(yield* reasonOf(sqliteRetirement({ file, readOnly: true }, sqliteLayer), head), /reading only/)
      assert.isTrue(before.equals(readFileSync(file)))
      assert.deepStrictEqual(
        readdirSync(folder)
          .filter((name) => !name.endsWith("-wal") && !name.endsWith("-shm"))
          .sort(),
        ["store.db", "store.db.lock"]
      )
      assert.strictEqual(yield* reasonOf(retirement(), head), "done")
    })
  )

  it.live("checkpoints the log first, and removes files that a reader left", () =>
    Effect.gen(function* () {
      const head = yield* filled
      const live = new DatabaseSync(file)
      live.exec(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE document SET body = " +
          "'{\"name\":\"third\"}' WHERE id = 'a1'"
      )
      for (const name of ["", "-wal", "-shm"]) copyFileSync(file + name, join(folder, `crashed.db${name}`))
      live.close()
      file = join(folder, "crashed.db")
      assert.isAbove(statSync(`${file}-wal`).size, 0)
      yield* retirement().retire(planFor(head))
      assert.deepStrictEqual(
        readdirSync(folder)
          .filter((name) => name.startsWith("crashed"))
          .sort(),
        ["crashed.db", "crashed.db.lock", "crashed.db.retired-1"]
      )
      const [retired] = yield* retirement().retired
      for (const layer of [sqliteLayer({ file }), layerOf(retired!)]) {
        assert.deepStrictEqual((yield* using((storage) => storage.get("agents", "a1"), layer))?.body, { name: "third" })
      }
    })
  )

  it.live("follows a link to the file, and ignores files that only resemble retired ones", () =>
    Effect.gen(function* () {
      const head = yield* filled
      const link = join(folder, "link.db")
      symlinkSync(file, link)
      for (const name of ["store.db.retired-01", "store.db.retired-x", "store.db.retired-1.bak"])
        writeFileSync(join(folder, name), "")
      const throughLink = sqliteRetirement({ file: link }, sqliteLayer)
      yield* throughLink.retire(planFor(head))
      assert.isTrue(existsSync(`${file}.retired-1`))
      assert.lengthOf(yield* throughLink.retired, 1)
      assert.strictEqual(yield* using(originOf, sqliteLayer({ file: link })), "new")
    })
  )

  it("is not supported by a store in memory", () => assert.isNull(retirementOf(sqliteStorage({ file: ":memory:" }))))
})
