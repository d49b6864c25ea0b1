/** Cases on the stored nodes of the Merkle tree. */
import assert from "node:assert/strict"
import type { StorageApi } from "@flyball/core/storage"
import { portableCrypto, rootOfHashes, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { storageCase } from "../storage-case.ts"
import { allRecords, begin, drafts } from "./given.ts"

/** Records of one commit while a chain is made long. */
const step = 1000

/** Makes the chain `size` long, in commits of at most 1,000. */
const grow = Effect.fnUntraced(function* (storage: StorageApi, size: number) {
  let length = (yield* storage.asOf).seq + 1
  while (length < size) {
    yield* storage.commit({ records: drafts(Math.min(step, size - length)) })
    length = (yield* storage.asOf).seq + 1
  }
})

const count = (storage: StorageApi, tileLevel: number) =>
  Effect.map(storage.hashes(tileLevel, 0, 100_000), (hashes) => hashes.length / 32)

/** The node above leaves `from` to `to`, by the plain recursion of RFC 6962. */
const rootBetween = (leaves: ReadonlyArray<Uint8Array>, from: number, to: number): string =>
  toHex(rootOfHashes(portableCrypto, leaves.slice(from, to)))

/** Tile hashes. */
export const hashCases = [
  storageCase(
    "level 0 returns the record hashes in slices, and ends with the chain",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* grow(storage, 10)
      const leaves = (yield* allRecords(storage)).map(({ hash }) => toHex(hash))
      assert.equal(toHex(yield* storage.hashes(0, 0, 10)), leaves.join(""))
      assert.equal(toHex(yield* storage.hashes(0, 3, 4)), leaves.slice(3, 7).join(""))
      assert.equal(toHex(yield* storage.hashes(0, 8, 256)), leaves.slice(8).join(""))
      assert.equal((yield* storage.hashes(0, 10, 1)).length, 0)
      assert.equal((yield* storage.hashes(0, 5, 0)).length, 0)
      assert.equal((yield* storage.hashes(1, 0, 1)).length, 0)
      assert.equal((yield* storage.hashes(7, 0, 1)).length, 0)
    })
  ),
  storageCase(
    "level 1 has a node for each 256 records that are complete",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      for (const [size, nodes] of [
        [255, 0],
        [256, 1],
        [257, 1],
        [511, 1],
        [512, 2],
        [513, 2]
      ] as const) {
        yield* grow(storage, size)
        assert.equal(yield* count(storage, 0), size)
        assert.equal(yield* count(storage, 1), nodes, `${size} records`)
      }
      const leaves = (yield* allRecords(storage)).map(({ hash }) => hash)
      assert.equal(toHex(yield* storage.hashes(1, 0, 5)), rootBetween(leaves, 0, 256) + rootBetween(leaves, 256, 512))
      assert.equal(toHex(yield* storage.hashes(1, 1, 5)), rootBetween(leaves, 256, 512))
    })
  ),
  storageCase(
    "one commit may complete several tiles, and leave one open",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* grow(storage, 200)
      yield* storage.commit({ records: drafts(1000) })
      const leaves = (yield* allRecords(storage)).map(({ hash }) => hash)
      assert.equal(leaves.length, 1200)
      assert.equal(
        toHex(yield* storage.hashes(1, 0, 100)),
        [0, 1, 2, 3].map((tile) => rootBetween(leaves, tile * 256, tile * 256 + 256)).join("")
      )
      assert.equal(toHex(yield* storage.hashes(0, 0, 2000)), leaves.map(toHex).join(""))
    })
  ),
  storageCase(
    "commits of one and of many records complete a tile at its edge",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* grow(storage, 250)
      yield* Effect.all(
        Array.from({ length: 12 }, (_, n) => storage.commit({ records: drafts(1 + (n % 2)) })),
        { concurrency: "unbounded" }
      )
      const leaves = (yield* allRecords(storage)).map(({ hash }) => hash)
      assert.equal(leaves.length, 268)
      assert.equal(toHex(yield* storage.hashes(1, 0, 2)), rootBetween(leaves, 0, 256))
      assert.equal(toHex(yield* storage.hashes(0, 250, 100)), leaves.slice(250).map(toHex).join(""))
    })
  ),
  storageCase(
    "level 2 begins with record 65,536",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* grow(storage, 65_535)
      assert.deepEqual([yield* count(storage, 0), yield* count(storage, 1), yield* count(storage, 2)], [65_535, 255, 0])
      yield* grow(storage, 65_537)
      assert.deepEqual([yield* count(storage, 0), yield* count(storage, 1), yield* count(storage, 2)], [65_537, 256, 1])
      const joined = yield* storage.hashes(0, 0, 65_536)
      const leaves = Array.from({ length: 65_536 }, (_, n) => joined.subarray(n * 32, n * 32 + 32))
      assert.equal(toHex(yield* storage.hashes(2, 0, 2)), rootBetween(leaves, 0, 65_536))
      const tops = yield* storage.hashes(1, 0, 256)
      assert.equal(toHex(tops.subarray(255 * 32)), rootBetween(leaves, 255 * 256, 65_536))
      assert.equal(toHex((yield* storage.record(65_536))!.hash), toHex(yield* storage.hashes(0, 65_536, 10)))
    })
  )
]
