/** Cases on state documents. */
import assert from "node:assert/strict"
import type { JsonObject, StorageApi } from "@flyball/core/storage"
import { emptyHead } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { storageCase } from "../storage-case.ts"
import { begin, draft, put } from "./given.ts"

const ids = (documents: ReadonlyArray<{ readonly id: string }>): ReadonlyArray<string> => documents.map(({ id }) => id)

/** Every JSON value that a store might spoil. */
const awkwardBody: JsonObject = JSON.parse(
  String.raw`{"z":1,"a":{"deep":[[],{},[null,true,false]]},"nul":"a\u0000b","lone":"\ud800",
  "emoji":"😀","nfc":"é","nfd":"é",
  "":"empty name","10":1,"9":2,
  "__proto__":{"own":1},"quote":"\"\\\/\b\f\n\r\t\u2028","half":0.5,"big":1e300,"tiny":5e-324,
  "max":9007199254740991,"min":-9007199254740991,"constructor":"c"}`
) as JsonObject

/** In order of their UTF-8 bytes; JavaScript's own order puts the last two the other way round. */
const orderedIds = ["A", "B", "a", "a!", "a0", "aa", "b", "e\u0301", "z", "\u00e9", "\uffee", "\u{1f600}"]

/** State documents: versions, bodies, collections, order. */
export const documentCases = [
  storageCase(
    "a document that was never put is null",
    Effect.fnUntraced(function* (storage: StorageApi) {
      assert.equal(yield* storage.get("things", "t1"), null)
      assert.deepEqual(yield* storage.list("things"), [])
    })
  ),
  storageCase(
    "a put creates version 1; each further put increments it and replaces the whole body",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ puts: [put("t1", { a: 1, b: 2 })], records: [draft()] })
      assert.deepEqual(
        { ...(yield* storage.get("things", "t1")) },
        { collection: "things", id: "t1", version: 1, body: { a: 1, b: 2 } }
      )
      yield* storage.commit({ puts: [put("t1", { c: 3 }, { expectedVersion: 1 })] })
      yield* storage.commit({ puts: [put("t1", {}, { expectedVersion: 2 })] })
      assert.deepEqual(
        { ...(yield* storage.get("things", "t1")) },
        { collection: "things", id: "t1", version: 3, body: {} }
      )
    })
  ),
  storageCase(
    "a body keeps every JSON value and the order of its names",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ puts: [put("t1", awkwardBody)] })
      const body = (yield* storage.get("things", "t1"))?.body
      assert.equal(JSON.stringify(body), JSON.stringify(awkwardBody))
      assert.equal(JSON.stringify((yield* storage.list("things"))[0]?.body), JSON.stringify(awkwardBody))
    })
  ),
  storageCase(
    "a body of one megabyte is read back",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const text = "é0123456".repeat(131_072)
      yield* storage.commit({ puts: [put("t1", { text })] })
      assert.equal((yield* storage.get("things", "t1"))?.body["text"], text)
    })
  ),
  storageCase(
    "a list of long bodies has as many documents as requested",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const text = "é0123456".repeat(32_768)
      const all = Array.from({ length: 12 }, (_, n) => `t${String(n).padStart(2, "0")}`)
      for (const id of all) yield* storage.commit({ puts: [put(id, { text })] })
      assert.deepEqual(ids(yield* storage.list("things")), all)
      for (const limit of [1, 4, 5, 11, 12, 100])
        assert.deepEqual(ids(yield* storage.list("things", { limit })), all.slice(0, limit))
      assert.deepEqual(ids(yield* storage.list("things", { after: "t03", limit: 6 })), all.slice(4, 10))
    })
  ),
  storageCase(
    "a caller cannot change a document that it read",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("t1", { list: [1], deep: { a: {} } }, { keys: { unit: "u" } })] })
      const found = yield* storage.find("things", "unit", "u")
      assert.throws(() => (found as Array<unknown>).pop(), TypeError)
      for (const read of [yield* storage.get("things", "t1"), (yield* storage.list("things"))[0], found[0]]) {
        assert.throws(() => Object.assign(read!, { version: 2 }), TypeError)
        const { deep, list } = read!.body as { readonly list: Array<number>; readonly deep: { readonly a: object } }
        assert.throws(() => list.push(2), TypeError)
        assert.throws(() => Object.assign(deep.a, { b: 1 }), TypeError)
        assert.throws(() => Object.assign(read!.body, { more: 1 }), TypeError)
      }
    })
  ),
  storageCase(
    "a caller cannot change a stored body through the object that it put",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const body = { list: [1] }
      yield* storage.commit({ puts: [put("t1", body)] })
      body.list.push(2)
      assert.deepEqual((yield* storage.get("things", "t1"))?.body, { list: [1] })
    })
  ),
  storageCase(
    "collections are separate",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({
        puts: [put("t1", { in: "things" }), put("t1", { in: "others" }, { collection: "others" })]
      })
      assert.deepEqual((yield* storage.get("things", "t1"))?.body, { in: "things" })
      assert.deepEqual(
        (yield* storage.list("others")).map(({ body }) => body),
        [{ in: "others" }]
      )
      assert.equal(yield* storage.get("elsewhere", "t1"), null)
    })
  ),
  storageCase(
    "ids differ by case and by normal form, and list in order of their bytes",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const shuffled = orderedIds
        .filter((_, i) => i % 2 === 1)
        .concat(orderedIds.filter((_, i) => i % 2 === 0).toReversed())
      yield* storage.commit({ puts: shuffled.map((id) => put(id, { id })) })
      assert.deepEqual(ids(yield* storage.list("things")), orderedIds)
      for (const id of orderedIds) assert.deepEqual((yield* storage.get("things", id))?.body, { id })
    })
  ),
  storageCase(
    "a list continues after an id, whether it exists or not, and stops at its limit",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: orderedIds.map((id) => put(id)) })
      assert.deepEqual(ids(yield* storage.list("things", { limit: 3 })), orderedIds.slice(0, 3))
      assert.deepEqual(ids(yield* storage.list("things", { after: "a", limit: 2 })), ["a!", "a0"])
      assert.deepEqual(ids(yield* storage.list("things", { after: "ab" })), orderedIds.slice(6))
      assert.deepEqual(ids(yield* storage.list("things", { after: "\uffee" })), ["\u{1f600}"])
      assert.deepEqual(ids(yield* storage.list("things", { after: "\u{1f600}" })), [])
      assert.deepEqual(ids(yield* storage.list("things", { limit: 1000 })), orderedIds)
    })
  ),
  storageCase(
    "documents may be put before there is a chain; the returned head is null",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const receipt = yield* storage.commit({ puts: [put("t1")] })
      assert.deepEqual(receipt.records, [])
      assert.deepEqual({ ...receipt.head, hash: toHex(receipt.head.hash) }, { ...emptyHead(), hash: "0".repeat(64) })
      assert.equal(yield* storage.head, null)
      assert.equal((yield* storage.get("things", "t1"))?.version, 1)
    })
  ),
  storageCase(
    "an empty ChangeSet changes nothing and returns the head",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const first = yield* begin(storage)
      const receipt = yield* storage.commit({})
      assert.deepEqual(receipt.records, [])
      assert.equal(toHex(receipt.head.hash), toHex(first.head.hash))
      assert.equal((yield* storage.asOf).seq, 0)
    })
  )
]
