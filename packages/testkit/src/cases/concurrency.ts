/** Cases on many callers at once: group commit must not show. */
import assert from "node:assert/strict"
import type { ChangeSet, StorageApi } from "@flyball/core/storage"
import { fromUtf8, readRecord, toHex } from "@flyball/evidence"
import { Cause, Effect, Exit, Fiber } from "effect"
import { storageCase } from "../storage-case.ts"
import { allRecords, begin, checkChain, digest, draft, drafts, event, idempotentDraft, part, put } from "./given.ts"

const callers = 50

const together = <A, E>(make: (n: number) => Effect.Effect<A, E>, count = callers) =>
  Effect.all(
    Array.from({ length: count }, (_, n) => Effect.exit(make(n))),
    { concurrency: "unbounded" }
  )

const wins = (exits: ReadonlyArray<Exit.Exit<unknown, unknown>>): ReadonlyArray<number> =>
  exits.flatMap((exit, n) => (Exit.isSuccess(exit) ? [n] : []))

/** Everything one caller writes: a document, two records with a part and a once key, an event. */
const whole = (n: number): ChangeSet => ({
  puts: [put(`mine ${n}`, { n }, { unique: { name: `mine ${n}` } })],
  records: [
    { ...idempotentDraft(`mine ${n}`, "a", { n }), agentId: `agt_${n}`, parts: [part("args", `mine ${n}`)] },
    draft({ n }, { agentId: `agt_${n}` })
  ],
  events: [event({ n }, "caller.wrote")]
})

/** Checks that caller `n`'s commit is there whole, or not at all; answers which. */
const wholeOrNone = Effect.fnUntraced(function* (storage: StorageApi, n: number) {
  const records = yield* storage.records({ agentId: `agt_${n}`, limit: 10 })
  const seen = [
    (yield* storage.get("things", `mine ${n}`)) === null ? 0 : 1,
    (yield* storage.find("things", "name", `mine ${n}`)).length,
    records.length / 2,
    (yield* storage.parts(records.map(({ seq }) => seq))).length,
    (yield* storage.once("agt_1", [`mine ${n}`])).length,
    (yield* storage.outbox.events({ limit: 1000 })).filter(({ data }) => data["n"] === n).length
  ]
  assert.ok(
    seen.every((count) => count === seen[0]) && (seen[0] === 0 || seen[0] === 1),
    `caller ${n} is half written: ${seen.join(" ")}`
  )
  return seen[0] === 1
})

/** Many callers. */
export const concurrencyCases = [
  storageCase(
    `of ${callers} puts of one document at one version exactly one wins`,
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ puts: [put("t1")] })
      const exits = yield* together((n) =>
        storage.commit({ puts: [put("t1", { n }, { expectedVersion: 1 })], records: [draft({ n })] })
      )
      const [winner, ...others] = wins(exits)
      assert.deepEqual(others, [])
      const document = yield* storage.get("things", "t1")
      assert.deepEqual([document?.version, document?.body], [2, { n: winner }])
      assert.equal(yield* checkChain(storage), 2)
    })
  ),
  storageCase(
    "of many takers of one unique value exactly one wins",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const exits = yield* together((n) => storage.commit({ puts: [put(`t${n}`, {}, { unique: { name: "one" } })] }))
      const [winner, ...others] = wins(exits)
      assert.deepEqual(others, [])
      assert.deepEqual(
        (yield* storage.list("things")).map(({ id }) => id),
        [`t${winner}`]
      )
      for (const exit of exits) {
        if (Exit.isSuccess(exit)) continue
        assert.equal((Cause.squash(exit.cause) as { _tag?: string })._tag, "StorageConflict")
      }
    })
  ),
  storageCase(
    "writers that plan again on a conflict all succeed",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ puts: [put("counter", { count: 0 })] })
      const increment: Effect.Effect<unknown, unknown> = Effect.gen(function* () {
        const document = (yield* storage.get("things", "counter"))!
        const count = (document.body["count"] as number) + 1
        return yield* storage.commit({
          puts: [put("counter", { count }, { expectedVersion: document.version })],
          records: [draft({ count })]
        })
      }).pipe(Effect.retry({ while: (error) => error._tag === "StorageConflict" }))
      yield* Effect.all(
        Array.from({ length: 12 }, () => increment),
        { concurrency: "unbounded" }
      )
      assert.deepEqual((yield* storage.get("things", "counter"))?.body, { count: 12 })
      const counts = (yield* allRecords(storage)).slice(1).map(({ bytes }) => {
        const read = readRecord(bytes)
        return read.ok ? read.record.body["count"] : null
      })
      assert.deepEqual(
        counts,
        Array.from({ length: 12 }, (_, n) => n + 1)
      )
    })
  ),
  storageCase(
    `one refused commit among ${callers} does not fail the others`,
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const exits = yield* together((n) =>
        storage.commit(
          n === 17 ? { ...whole(n), expects: [{ collection: "things", id: "none", version: 1 }] } : whole(n)
        )
      )
      assert.deepEqual(
        wins(exits),
        Array.from({ length: callers }, (_, n) => n).filter((n) => n !== 17)
      )
      for (let n = 0; n < callers; n++) assert.equal(yield* wholeOrNone(storage, n), n !== 17)
      assert.equal(yield* checkChain(storage), 2 * callers - 1)
    })
  ),
  storageCase(
    `one commit among ${callers} that cannot be sealed does not fail the others`,
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const exits = yield* together((n) =>
        storage.commit(n === 31 ? { ...whole(n), records: [...whole(n).records!, draft({ n: 0.5 })] } : whole(n))
      )
      assert.deepEqual(
        wins(exits),
        Array.from({ length: callers }, (_, n) => n).filter((n) => n !== 31)
      )
      for (let n = 0; n < callers; n++) assert.equal(yield* wholeOrNone(storage, n), n !== 31)
      assert.equal(yield* checkChain(storage), 2 * callers - 1)
    })
  ),
  storageCase(
    "commits that depend on each other inside one group are judged one after the other",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const exits = yield* together(
        (n) =>
          storage.commit({
            puts: [
              put("t1", { n }, { expectedVersion: n, unique: { name: `name ${n}` } }),
              put(`t1/${n}`, {}, { unique: { name: `name ${n - 1}` } })
            ],
            records: [idempotentDraft("shared", "a", { n }), draft({ n })]
          }),
        10
      )
      // Who comes first is the store's business: each winner must have met the version that it expected, and freed the
      // name that the next one took.
      const version = (yield* storage.get("things", "t1"))?.version ?? 0
      assert.deepEqual(
        wins(exits),
        Array.from({ length: version }, (_, n) => n)
      )
      assert.equal(yield* checkChain(storage), 1 + (version === 0 ? 0 : version + 1))
    })
  ),
  storageCase(
    "a hundred concurrent callers append to one chain, and each receipt names its own records",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const receipts = yield* Effect.all(
        Array.from({ length: 100 }, (_, n) =>
          storage.commit({ records: drafts(1 + (n % 3)).map((each) => ({ ...each, body: { caller: n } })) })
        ),
        { concurrency: "unbounded" }
      )
      for (const [n, { records, head }] of receipts.entries()) {
        assert.equal(records.length, 1 + (n % 3))
        for (const [i, { seq, hash }] of records.entries()) {
          const record = (yield* storage.record(seq))!
          assert.equal(seq, records[0]!.seq + i)
          assert.equal(toHex(record.hash), toHex(hash))
          assert.ok(fromUtf8(record.bytes)!.includes(`"body":{"caller":${n}}`))
        }
        assert.deepEqual([head.seq, toHex(head.hash)], [records.at(-1)!.seq, toHex(records.at(-1)!.hash)])
      }
      assert.equal(yield* checkChain(storage), 1 + receipts.reduce((sum, { records }) => sum + records.length, 0))
    })
  ),
  storageCase(
    "an act waits for what is being written, and not for the capture that waits before it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const [batches, records] = [30, 200]
      const capture = (n: number): ChangeSet => ({
        turn: { class: "capture", key: `key ${n % 2}` },
        records: drafts(records).map((each) => ({ ...each, body: { n } }))
      })
      const flood = yield* Effect.forEach(
        Array.from({ length: batches }, (_, n) => n),
        (n) => Effect.forkChild(storage.commit(capture(n)), { startImmediately: true })
      )
      const written = (yield* storage.head)!.seq
      const act = yield* storage.commit({ records: [draft()] })
      // Two groups of up to 500 records may be on their way, and a third shares its transaction with the act.
      const before = act.records[0]!.seq - written - 1
      assert.ok(before <= 3 * 500, `${before} records of capture went before the act`)
      for (const fiber of flood) assert.equal((yield* Fiber.join(fiber)).records.length, records)
      assert.equal(yield* checkChain(storage), batches * records + 2)
    })
  ),
  storageCase(
    "an interrupted caller leaves its whole commit or none of it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const fibers = []
      for (let n = 0; n < callers; n++) {
        const fiber = yield* Effect.forkChild(storage.commit(whole(n)), { startImmediately: n % 2 === 0 })
        fibers.push(fiber)
        if (n % 3 === 0) yield* Fiber.interrupt(fiber)
        if (n % 5 === 0) yield* Effect.yieldNow
      }
      const exits = yield* Effect.forEach(fibers, Fiber.await)
      // What was handed over before this commit is settled when it is.
      yield* storage.commit({ records: [draft()] })
      let landed = 0
      for (const [n, exit] of exits.entries()) {
        const there = yield* wholeOrNone(storage, n)
        if (there) landed += 1
        if (Exit.isSuccess(exit)) assert.ok(there, `caller ${n} got an answer that it is durable, and it is not there`)
        else assert.ok(Cause.hasInterruptsOnly(exit.cause), `caller ${n} failed: ${Cause.pretty(exit.cause)}`)
      }
      assert.equal(yield* checkChain(storage), 2 + 2 * landed)
    })
  ),
  storageCase(
    "the records of a receipt can be read at once, even while others write",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* Effect.all(
        Array.from({ length: 20 }, (_, n) =>
          Effect.gen(function* () {
            const { records, head } = yield* storage.commit(whole(n))
            assert.ok((yield* storage.head)!.seq >= head.seq)
            assert.ok((yield* storage.asOf).seq >= head.seq)
            assert.equal(toHex((yield* storage.record(records[0]!.seq))!.hash), toHex(records[0]!.hash))
            assert.equal((yield* storage.get("things", `mine ${n}`))?.version, 1)
            assert.deepEqual(yield* storage.once("agt_1", [`mine ${n}`]), [
              { key: `mine ${n}`, seq: records[0]!.seq, digest: digest("a") }
            ])
            assert.equal((yield* storage.hashes(0, records[0]!.seq, 1)).length, 32)
          })
        ),
        { concurrency: "unbounded" }
      )
    })
  )
]
