/** Cases on leases. */
import assert from "node:assert/strict"
import type { StorageApi } from "@flyball/core/storage"
import { Effect } from "effect"
import { CaseTime } from "../case-time.ts"
import { storageCase } from "../storage-case.ts"

const start = Date.UTC(2026, 2, 1)
const ttlMs = 10_000
const takers = 20

/** Leases, by the store's clock. */
export const leaseCases = [
  storageCase(
    "a lease is one holder's until it has run out",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      assert.equal(yield* storage.lease("signer", "a", ttlMs), true)
      assert.equal(yield* storage.lease("signer", "b", ttlMs), false)
      yield* time.set(start + ttlMs - 1)
      assert.equal(yield* storage.lease("signer", "b", ttlMs), false)
      yield* time.set(start + ttlMs)
      assert.equal(yield* storage.lease("signer", "b", ttlMs), true)
      assert.equal(yield* storage.lease("signer", "a", ttlMs), false)
    })
  ),
  storageCase(
    "a holder renews its lease from now on, for a longer or shorter time",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* storage.lease("signer", "a", ttlMs)
      yield* time.set(start + ttlMs - 1)
      assert.equal(yield* storage.lease("signer", "a", ttlMs), true)
      yield* time.set(start + 2 * ttlMs - 2)
      assert.equal(yield* storage.lease("signer", "b", ttlMs), false)
      assert.equal(yield* storage.lease("signer", "a", 1), true)
      yield* time.set(start + 2 * ttlMs - 1)
      assert.equal(yield* storage.lease("signer", "b", ttlMs), true)
    })
  ),
  storageCase(
    "a holder whose lease expired takes it again if no other holder did",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* storage.lease("signer", "a", ttlMs)
      yield* time.set(start + 5 * ttlMs)
      assert.equal(yield* storage.lease("signer", "a", ttlMs), true)
      assert.equal(yield* storage.lease("signer", "b", ttlMs), false)
    })
  ),
  storageCase(
    "a lease given back is free at once; only its holder can give it back",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      yield* storage.releaseLease("signer", "a")
      yield* storage.lease("signer", "a", ttlMs)
      yield* storage.releaseLease("signer", "b")
      assert.equal(yield* storage.lease("signer", "b", ttlMs), false)
      yield* storage.releaseLease("signer", "a")
      yield* storage.releaseLease("signer", "a")
      assert.equal(yield* storage.lease("signer", "b", ttlMs), true)
    })
  ),
  storageCase(
    "a clock that steps back does not lengthen a lease beyond twice its time",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const time = yield* CaseTime
      yield* time.set(start)
      yield* storage.lease("signer", "a", ttlMs)
      yield* time.set(start - ttlMs)
      assert.equal(yield* storage.lease("signer", "b", ttlMs), false)
      yield* time.set(start - ttlMs - 1)
      assert.equal(yield* storage.lease("signer", "b", ttlMs), true)
      assert.equal(yield* storage.lease("signer", "a", ttlMs), false)
    })
  ),
  storageCase(
    "leases of different names are independent",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      assert.equal(yield* storage.lease("signer", "a", ttlMs), true)
      assert.equal(yield* storage.lease("Signer", "b", ttlMs), true)
      assert.equal(yield* storage.lease("sender", "b", ttlMs), true)
      yield* storage.releaseLease("sender", "b")
      assert.equal(yield* storage.lease("signer", "b", ttlMs), false)
    })
  ),
  storageCase(
    `of ${takers} takers at once exactly one gets the lease`,
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* (yield* CaseTime).set(start)
      const got = yield* Effect.all(
        Array.from({ length: takers }, (_, n) => storage.lease("signer", `holder ${n}`, ttlMs)),
        { concurrency: "unbounded" }
      )
      assert.equal(got.filter((taken) => taken).length, 1)
      assert.equal(yield* storage.lease("signer", `holder ${got.indexOf(true)}`, ttlMs), true)
    })
  ),
  storageCase(
    "leases write no record",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.lease("signer", "a", ttlMs)
      assert.equal(yield* storage.head, null)
    })
  )
]
