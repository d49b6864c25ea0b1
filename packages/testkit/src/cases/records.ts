/** Cases on sealing and on time. */
import assert from "node:assert/strict"
import { type ChangeSet, type StorageApi, StorageUnavailable } from "@flyball/core/storage"
import { fromUtf8, LAST_INSTANT_MS, readRecord, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { CaseTime } from "../case-time.ts"
import { observe } from "../observe.ts"
import { storageCase } from "../storage-case.ts"
import { begin, checkChain, dies, draft, drafts, endpoint, event, genesis, part, put } from "./given.ts"

/** 2026-03-01. */
const march = Date.UTC(2026, 2, 1)
/** More than a record may have. Spec: chain-format section 1. */
const tooLong = "x".repeat(65_536)

/** Records: bytes, order, bounds, time. */
export const recordCases = [
  storageCase(
    "a receipt has an entry for each draft, in order, and the new head",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const receipt = yield* storage.commit({ records: drafts(5) })
      assert.deepEqual(
        receipt.records.map(({ seq, duplicate }) => [seq, duplicate]),
        [
          [1, false],
          [2, false],
          [3, false],
          [4, false],
          [5, false]
        ]
      )
      for (const { seq, hash, atMs } of receipt.records) {
        const record = yield* storage.record(seq)
        assert.deepEqual([toHex(hash), atMs], [toHex(record!.hash), record!.atMs])
      }
      const last = receipt.records.at(-1)!
      assert.deepEqual(
        [receipt.head.seq, toHex(receipt.head.hash), receipt.head.atMs],
        [last.seq, toHex(last.hash), last.atMs]
      )
      assert.equal((yield* storage.asOf).seq, 5)
    })
  ),
  storageCase(
    "records of many commits form one chain",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      for (let n = 1; n <= 12; n++) {
        yield* storage.commit({
          records: drafts(n % 4, { parts: [part("args", `args of ${n}`), part("result", "")] }),
          puts: [put(`t${n}`)]
        })
      }
      assert.equal(yield* checkChain(storage), 19)
    })
  ),
  storageCase(
    "a body is written in canonical form, for any order of members and any characters",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const body = JSON.parse(
        `{"z":-1,"\uffee":1,"\u{1f600}":2,"\u00e9":"\u00e9\u2028\\u0000\\"","e\u0301":` +
          `[3,{"b":true,"a":null}],"A":0,"__proto__":9007199254740991}`
      )
      yield* storage.commit({ records: [draft(body)] })
      const text = fromUtf8((yield* storage.record(1))!.bytes)!
      assert.equal(
        text.slice(text.indexOf(`"body":`) + 7, text.indexOf(`,"kind"`)),
        `{"A":0,"__proto__":9007199254740991,"e\u0301":[3,{"a":null,"b":true}],` +
          `"z":-1,"\u00e9":"\u00e9\u2028\\u0000\\"","\u{1f600}":2,"\uffee":1}`
      )
      assert.equal(yield* checkChain(storage), 2)
    })
  ),
  storageCase(
    "a commit of 1,000 drafts with parts is atomic",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const receipt = yield* storage.commit({
        records: drafts(1000).map((each, n) => ({
          ...each,
          agentId: `agt_${n % 3}`,
          parts: [part("args", `{"n":${n}}`), part("result", "null")]
        }))
      })
      assert.deepEqual(
        receipt.records.map(({ seq }) => seq),
        Array.from({ length: 1000 }, (_, n) => n + 1)
      )
      assert.equal((yield* storage.parts(receipt.records.map(({ seq }) => seq))).length, 2000)
      assert.equal((yield* storage.hashes(0, 0, 2000)).length, 1001 * 32)
    })
  ),
  storageCase(
    "nothing is written or claimed past the year 9999, and writing resumes when the clock is corrected",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const clock = yield* CaseTime
      yield* clock.set(march)
      yield* begin(storage)
      const owed = [put("t1"), endpoint("whk_1")]
      yield* storage.commit({ puts: owed, events: [event()] })
      for (const atMs of [LAST_INSTANT_MS + 1, 300_000_000_000_000]) {
        yield* clock.set(atMs)
        const late: ReadonlyArray<ChangeSet> = [
          { records: [draft()] },
          { records: [draft()], puts: [put("t2")] },
          { events: [event()] }
        ]
        const writes: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          ...late.map((change) => storage.commit(change)),
          storage.outbox.claim({ leaseMs: 1_000, limit: 1, perEndpoint: 1 })
        ]
        for (const write of writes) {
          const fault = yield* Effect.flip(write)
          assert.ok(fault instanceof StorageUnavailable, String(fault))
          assert.equal(fault.wrote, "no")
          assert.match(fault.message, /past the year 9999, and a record cannot have such a time; correct the clock/)
        }
        // Working state gets no time, so a store can be opened. Reads continue, at a time that a record can have.
        yield* storage.commit({ puts: [put(`state ${atMs}`)] })
        assert.deepEqual(yield* storage.asOf, { ms: LAST_INSTANT_MS, seq: 0 })
        assert.deepEqual([(yield* storage.get("things", "t1"))?.version, yield* storage.get("things", "t2")], [1, null])
      }
      yield* clock.set(march)
      assert.equal((yield* storage.outbox.claim({ leaseMs: 1_000, limit: 9, perEndpoint: 9 })).claimed.length, 1)
      yield* storage.commit({ records: [draft()] })
      yield* clock.set(LAST_INSTANT_MS)
      yield* storage.commit({ records: [draft()] })
      // Times never decrease: what comes after has the last one.
      yield* clock.set(march)
      yield* storage.commit({ records: [draft()] })
      const times = (yield* storage.records({ limit: 9 })).map(({ atMs }) => atMs)
      assert.deepEqual(times, [march, march, LAST_INSTANT_MS, LAST_INSTANT_MS])
      assert.equal(yield* checkChain(storage), 4)
    })
  ),
  storageCase(
    "a record of 65,536 bytes is accepted; one byte more is a defect that writes nothing",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(march)
      yield* begin(storage)
      yield* storage.commit({ records: [draft({ text: "" })] })
      const room = 65_536 - (yield* storage.record(1))!.bytes.length
      yield* storage.commit({ records: [draft({ text: "x".repeat(room) })] })
      assert.equal((yield* storage.record(2))!.bytes.length, 65_536)
      const before = yield* observe(storage, { collections: ["things"], once: [] })
      yield* dies(
        storage.commit({ puts: [put("t1")], records: [draft(), draft({ text: "x".repeat(room + 1) })] }),
        "a record of 65,537 bytes"
      )
      assert.deepEqual(yield* observe(storage, { collections: ["things"], once: [] }), before)
    })
  ),
  storageCase(
    "a draft that format 1 cannot hold is a defect, and writes nothing",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const before = yield* observe(storage, { collections: ["things"], once: [] })
      const bodies = [
        { n: 0.5 },
        { n: Number.NaN },
        { n: 2 ** 53 },
        { text: "\ud800" },
        { text: tooLong },
        { "\udc00": 1 }
      ]
      for (const body of bodies) {
        yield* dies(
          storage.commit({ puts: [put("t1")], records: [draft({ n: 1 }), draft(body)] }),
          `a body such as ${JSON.stringify(body).slice(0, 40)}`
        )
      }
      assert.deepEqual(yield* observe(storage, { collections: ["things"], once: [] }), before)
      yield* storage.commit({ records: [draft()] })
      assert.equal(yield* checkChain(storage), 2)
    })
  ),
  storageCase(
    "a record's time is the store's, and never decreases when the clock steps back",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(march)
      yield* begin(storage)
      yield* time.set(march + 1)
      yield* storage.commit({ records: drafts(2) })
      yield* time.set(march - 3_600_000)
      const receipt = yield* storage.commit({ records: drafts(1) })
      assert.equal(receipt.head.atMs, march + 1)
      yield* time.set(march + 2)
      yield* storage.commit({ records: drafts(1) })
      assert.deepEqual(
        (yield* storage.records({ limit: 10 })).map(({ atMs }) => atMs - march),
        [0, 1, 1, 1, 2]
      )
      const read = readRecord((yield* storage.record(3))!.bytes)
      assert.ok(read.ok)
      assert.equal(read.record.at, "2026-03-01T00:00:00.001Z")
      yield* checkChain(storage)
    })
  ),
  storageCase(
    "asOf is the store's time and last seq, and never before the head",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(march)
      assert.deepEqual({ ...(yield* storage.asOf) }, { ms: march, seq: -1 })
      yield* storage.commit({ expectEmpty: true, records: [genesis, draft()] })
      yield* time.set(march + 1234)
      assert.deepEqual({ ...(yield* storage.asOf) }, { ms: march + 1234, seq: 1 })
      yield* time.set(march - 1)
      assert.deepEqual({ ...(yield* storage.asOf) }, { ms: march, seq: 1 })
    })
  ),
  storageCase(
    "bytes are copied on their way in and out",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const given = new Uint8Array([1, 2, 3])
      const receipt = yield* storage.commit({
        records: [draft({}, { parts: [{ name: "args", bytes: given }] })],
        events: [event()]
      })
      given.fill(9)
      const before = yield* observe(storage, { collections: [], once: [] })
      receipt.head.hash.fill(9)
      receipt.records[0]!.hash.fill(9)
      ;(yield* storage.head)!.hash.fill(9)
      const record = (yield* storage.record(1))!
      record.bytes.fill(9)
      record.hash.fill(9)
      for (const each of yield* storage.records({ limit: 10 })) each.bytes.fill(9)
      for (const each of yield* storage.parts([1])) each.bytes?.fill(9)
      ;(yield* storage.hashes(0, 0, 2)).fill(9)
      for (const each of yield* storage.outbox.events({ limit: 1 })) each.hash.fill(9)
      assert.deepEqual(yield* observe(storage, { collections: [], once: [] }), before)
      assert.equal(before.parts[0]?.bytes, "010203")
      yield* checkChain(storage)
    })
  )
]
