/** Cases on the empty store and the first record. */
import assert from "node:assert/strict"
import type { StorageApi } from "@flyball/core/storage"
import { fromUtf8, portableCrypto, toHex } from "@flyball/evidence"
import { Effect, Exit } from "effect"
import { CaseTime } from "../case-time.ts"
import { storageCase } from "../storage-case.ts"
import { begin, checkChain, dies, draft, event, genesis, put, refused } from "./given.ts"

/** Callers that open the chain at once. */
const openers = 10

/** The start of a chain. */
export const genesisCases = [
  storageCase(
    "an empty store answers every query with an empty result",
    Effect.fnUntraced(function* (storage: StorageApi) {
      assert.equal(yield* storage.head, null)
      assert.equal((yield* storage.asOf).seq, -1)
      assert.equal(yield* storage.record(0), null)
      assert.deepEqual(yield* storage.records({ limit: 10 }), [])
      assert.deepEqual(yield* storage.parts([0, 1]), [])
      assert.deepEqual(yield* storage.parts([]), [])
      assert.deepEqual(yield* storage.once("agt_1", ["k1"]), [])
      assert.deepEqual(yield* storage.once("agt_1", []), [])
      assert.deepEqual(yield* storage.find("things", "name", "one"), [])
      assert.deepEqual(yield* storage.outbox.events({ limit: 10 }), [])
      assert.equal((yield* storage.hashes(0, 0, 256)).length, 0)
      assert.match(storage.backend, /^[a-z]+$/)
    })
  ),
  storageCase(
    "genesis is record 0, in its canonical bytes",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(Date.UTC(2026, 0, 2, 3, 4, 5, 678))
      const receipt = yield* begin(storage)
      const record = yield* storage.record(0)
      assert.ok(record !== null)
      assert.equal(
        fromUtf8(record.bytes),
        `{"at":"2026-01-02T03:04:05.678Z","body":{"hash":"sha256-rfc6962","origin":"flyball.test/cases",` +
          `"vkeys":[]},"kind":"chain.genesis","parts":[],"prev":"${"0".repeat(64)}","seq":0,"v":1}`
      )
      const hash = toHex(portableCrypto.leafHash(record.bytes))
      assert.deepEqual(
        [toHex(record.hash), toHex(receipt.head.hash), toHex(receipt.records[0]!.hash)],
        [hash, hash, hash]
      )
      assert.deepEqual(
        [record.seq, record.kind, record.agentId, record.atMs],
        [0, "chain.genesis", null, Date.UTC(2026, 0, 2, 3, 4, 5, 678)]
      )
      assert.deepEqual(
        [receipt.records[0]!.seq, receipt.records[0]!.duplicate, receipt.head.seq, receipt.head.atMs],
        [0, false, 0, record.atMs]
      )
    })
  ),
  storageCase(
    "genesis commits documents, events and further records with it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const receipt = yield* storage.commit({
        expectEmpty: true,
        puts: [put("t1")],
        records: [genesis, draft({ n: 1 })],
        events: [event({}, "chain.opened")]
      })
      assert.deepEqual(
        receipt.records.map(({ seq }) => seq),
        [0, 1]
      )
      assert.equal((yield* storage.outbox.events({ limit: 1 }))[0]?.seq, 1)
      assert.equal(yield* checkChain(storage), 2)
    })
  ),
  storageCase(
    "a chain has one genesis",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      assert.deepEqual(yield* refused(storage, { expectEmpty: true, records: [genesis] }), [{ _tag: "NotEmpty" }])
      assert.equal((yield* storage.asOf).seq, 0)
    })
  ),
  storageCase(
    `exactly one of ${openers} commits of a genesis at once opens the chain`,
    Effect.fnUntraced(function* (storage: StorageApi) {
      const exits = yield* Effect.all(
        Array.from({ length: openers }, () => Effect.exit(begin(storage))),
        { concurrency: "unbounded" }
      )
      assert.equal(exits.filter(Exit.isSuccess).length, 1)
      assert.equal(yield* checkChain(storage), 1)
    })
  ),
  storageCase(
    "genesis that is not the first record of an empty chain is a defect",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* dies(storage.commit({ records: [genesis] }), "genesis that does not expect an empty chain")
      yield* dies(storage.commit({ expectEmpty: true, records: [draft(), genesis] }), "genesis as a second record")
      yield* dies(storage.commit({ expectEmpty: true, records: [genesis, genesis] }), "genesis twice")
      yield* dies(storage.commit({ expectEmpty: true }), "an empty chain expected without genesis")
      assert.equal(yield* storage.head, null)
    })
  )
]
