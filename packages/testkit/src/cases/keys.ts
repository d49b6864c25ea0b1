/** Cases on look-up keys, unique and not. */
import assert from "node:assert/strict"
import type { KeyRange, StorageApi } from "@flyball/core/storage"
import { Effect } from "effect"
import { storageCase } from "../storage-case.ts"
import { put, refused } from "./given.ts"

const found = (storage: StorageApi, key: string, value: string, collection = "things") =>
  Effect.map(storage.find(collection, key, value), (documents) => documents.map(({ id }) => id))

/** Ids of a range of the key `rank`. */
const ranged = (storage: StorageApi, range: KeyRange, key = "rank", collection = "things") =>
  Effect.map(storage.range(collection, key, range), (documents) => documents.map(({ id }) => id))

/** Texts that UTF-8 or Postgres cannot hold, and one that no index row can. */
const unstorable = ["a\0b", "\0", "\ud800", "x\udc00", "y".repeat(5000)]

/** Look-up keys. */
export const keyCases = [
  storageCase(
    "documents are found by each of their keys, unique or not, in order of ids",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({
        puts: [
          put("\u{1f600}", {}, { keys: { colour: "red" } }),
          put("t2", { n: 2 }, { keys: { colour: "red", size: "s" }, unique: { name: "two" } }),
          put("T1", {}, { keys: { colour: "red" }, unique: { name: "one" } }),
          put("\uffee", {}, { keys: { colour: "red" } }),
          put("t3", {}, { keys: { colour: "blue" } })
        ]
      })
      assert.deepEqual(yield* found(storage, "colour", "red"), ["T1", "t2", "\uffee", "\u{1f600}"])
      assert.deepEqual(yield* found(storage, "size", "s"), ["t2"])
      assert.deepEqual(yield* found(storage, "name", "two"), ["t2"])
      assert.deepEqual((yield* storage.find("things", "name", "two"))[0]?.body, { n: 2 })
      assert.deepEqual(yield* found(storage, "colour", "green"), [])
      assert.deepEqual(yield* found(storage, "shape", "red"), [])
      assert.deepEqual(yield* found(storage, "colour", "red", "others"), [])
    })
  ),
  storageCase(
    "a put replaces the document's earlier keys",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("t1", {}, { keys: { colour: "red" }, unique: { name: "one" } })] })
      yield* storage.commit({
        puts: [put("t1", {}, { expectedVersion: 1, keys: { colour: "blue" }, unique: { name: "uno" } })]
      })
      assert.deepEqual([yield* found(storage, "colour", "red"), yield* found(storage, "name", "one")], [[], []])
      assert.deepEqual(
        [yield* found(storage, "colour", "blue"), yield* found(storage, "name", "uno")],
        [["t1"], ["t1"]]
      )
      yield* storage.commit({ puts: [put("t2", {}, { unique: { name: "one" } })] })
      yield* storage.commit({ puts: [put("t1", {}, { expectedVersion: 2 })] })
      assert.deepEqual([yield* found(storage, "colour", "blue"), yield* found(storage, "name", "uno")], [[], []])
      assert.deepEqual(yield* found(storage, "name", "one"), ["t2"])
    })
  ),
  storageCase(
    "keys are compared by bytes: case, normal form, spaces and length all count",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const values = ["caf\u00e9", "cafe\u0301", "Caf\u00e9", "caf", "caf\u00e9 ", "", "%", "caf_", "\u{1f600}"]
      yield* storage.commit({ puts: values.map((value, i) => put(`t${i}`, {}, { unique: { name: value } })) })
      for (const [i, value] of values.entries()) assert.deepEqual(yield* found(storage, "name", value), [`t${i}`])
    })
  ),
  storageCase(
    "a taken unique value is refused, and the conflict names its holder",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("t1", {}, { unique: { name: "one" } })] })
      assert.deepEqual(yield* refused(storage, { puts: [put("t2", {}, { unique: { name: "one" } })] }), [
        { _tag: "Unique", collection: "things", key: "name", value: "one", id: "t1" }
      ])
      assert.equal(yield* storage.get("things", "t2"), null)
    })
  ),
  storageCase(
    "a value is unique within its collection and key only",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("t1", {}, { unique: { name: "one" } })] })
      yield* storage.commit({
        puts: [
          put("t1", {}, { collection: "others", unique: { name: "one" } }),
          put("t2", {}, { unique: { alias: "one", name: "two" } }),
          put("t2", {}, { collection: "others", unique: { name: "two" } }),
          put("t3", {}, { keys: { name: "one" } })
        ]
      })
      assert.deepEqual(yield* found(storage, "alias", "one"), ["t2"])
      assert.deepEqual(yield* found(storage, "name", "one"), ["t1", "t3"])
      assert.deepEqual(yield* found(storage, "name", "one", "others"), ["t1"])
      assert.deepEqual(
        [yield* found(storage, "name", "two"), yield* found(storage, "name", "two", "others")],
        [["t2"], ["t2"]]
      )
    })
  ),
  storageCase(
    "a document may keep its own unique value in further puts",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("t1", {}, { unique: { name: "one" } })] })
      yield* storage.commit({ puts: [put("t1", { n: 2 }, { expectedVersion: 1, unique: { name: "one" } })] })
      assert.equal((yield* storage.find("things", "name", "one"))[0]?.version, 2)
    })
  ),
  storageCase(
    "unique values change hands within one ChangeSet, in either order",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({
        puts: [put("t1", {}, { unique: { name: "one" } }), put("t2", {}, { unique: { name: "two" } })]
      })
      yield* storage.commit({
        puts: [
          put("t1", {}, { expectedVersion: 1, unique: { name: "two" } }),
          put("t2", {}, { expectedVersion: 1, unique: { name: "one" } })
        ]
      })
      assert.deepEqual([yield* found(storage, "name", "one"), yield* found(storage, "name", "two")], [["t2"], ["t1"]])
      yield* storage.commit({
        puts: [put("t3", {}, { unique: { name: "one" } }), put("t2", {}, { expectedVersion: 2 })]
      })
      assert.deepEqual(yield* found(storage, "name", "one"), ["t3"])
    })
  ),
  storageCase(
    "two puts of one ChangeSet cannot have the same unique value",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const conflicts = yield* refused(storage, {
        puts: [
          put("t1", {}, { unique: { name: "one" } }),
          put("t2", {}, { unique: { name: "one" } }),
          put("t3", {}, { unique: { name: "one" } })
        ]
      })
      const conflict = { _tag: "Unique", collection: "things", key: "name", value: "one", id: "t1" }
      assert.deepEqual(conflicts, [conflict, conflict])
      assert.deepEqual(yield* storage.list("things"), [])
    })
  ),
  storageCase(
    "a look-up of text that no store can hold finds nothing, without a fault",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* storage.commit({ puts: [put("\ufffd", {}, { unique: { name: "\ufffd" } }), put("x\ufffd"), put("a")] })
      for (const text of unstorable) {
        assert.equal(yield* storage.get("things", text), null)
        assert.deepEqual(yield* found(storage, "name", text), [])
        assert.deepEqual(yield* storage.once("agt_1", [text]), [])
        assert.deepEqual(yield* storage.once(text, ["k"]), [])
        assert.deepEqual(yield* storage.records({ agentId: text, limit: 1 }), [])
      }
    })
  ),
  storageCase(
    "a range answers the documents that have a key, by its value in bytes and by id, both ways",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const ranks = { T1: "b", t2: "a", t3: "\u{1f600}", t4: "\uffee", t5: "b", t6: "", t7: "ab" }
      yield* storage.commit({
        puts: [
          ...Object.entries(ranks).map(([id, rank]) => put(id, { id }, { keys: { rank, colour: "red" } })),
          put("u1", {}, { unique: { rank: "aa" } }),
          put("none", {}, { keys: { colour: "b" } }),
          put("other", {}, { keys: { rank: "b" }, collection: "others" })
        ]
      })
      const all = ["t6", "t2", "u1", "t7", "T1", "t5", "t4", "t3"]
      assert.deepEqual(yield* ranged(storage, { limit: 9 }), all)
      assert.deepEqual(yield* ranged(storage, { limit: 9, order: "desc" }), all.toReversed())
      assert.deepEqual(yield* ranged(storage, { limit: 5 }), all.slice(0, 5))
      assert.deepEqual(yield* ranged(storage, { limit: 3, order: "desc" }), ["t3", "t4", "t5"])
      assert.deepEqual((yield* storage.range("things", "rank", { limit: 2 }))[1]?.body, { id: "t2" })
      assert.deepEqual(yield* ranged(storage, { limit: 9 }, "shape"), [])
      assert.deepEqual(yield* ranged(storage, { limit: 9 }, "rank", "elsewhere"), [])
      assert.deepEqual(yield* ranged(storage, { limit: 9 }, "rank", "others"), ["other"])
    })
  ),
  storageCase(
    "both bounds of a range are exclusive, whether a document has the value or not",
    Effect.fnUntraced(function* (storage: StorageApi) {
      const ranks = ["", "a", "a", "aa", "b", "b!", "c"]
      yield* storage.commit({ puts: ranks.map((rank, n) => put(`t${n}`, {}, { keys: { rank } })) })
      const both = ["asc", "desc"] as const
      const bounds = [
        [{}, ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]],
        [{ after: "" }, ["t1", "t2", "t3", "t4", "t5", "t6"]],
        [{ after: "a" }, ["t3", "t4", "t5", "t6"]],
        [{ after: "a0" }, ["t3", "t4", "t5", "t6"]],
        [{ before: "b" }, ["t0", "t1", "t2", "t3"]],
        [{ after: "a", before: "b!" }, ["t3", "t4"]],
        [{ after: "b", before: "b" }, []],
        [{ after: "c", before: "a" }, []],
        [{ before: "" }, []],
        [{ after: "c" }, []]
      ] as const
      for (const [bound, expected] of bounds)
        for (const order of both) {
          const inOrder = order === "asc" ? expected : expected.toReversed()
          assert.deepEqual(yield* ranged(storage, { ...bound, order, limit: 1000 }), inOrder, JSON.stringify(bound))
          assert.deepEqual(yield* ranged(storage, { ...bound, order, limit: 2 }), inOrder.slice(0, 2))
        }
    })
  ),
  storageCase(
    "a range follows puts and deletes: a document that lost its key is not in it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      assert.deepEqual(yield* ranged(storage, { limit: 9 }), [])
      yield* storage.commit({
        puts: ["t1", "t2", "t3", "t4"].map((id, n) => put(id, {}, { keys: { rank: String(n) } }))
      })
      assert.deepEqual(yield* ranged(storage, { limit: 9 }), ["t1", "t2", "t3", "t4"])
      yield* storage.commit({
        puts: [
          put("t1", {}, { expectedVersion: 1, keys: { rank: "9" } }),
          put("t2", {}, { expectedVersion: 1, keys: { colour: "red" } })
        ],
        deletes: [{ collection: "things", id: "t3", version: 1 }]
      })
      assert.deepEqual(yield* ranged(storage, { limit: 9 }), ["t4", "t1"])
      assert.deepEqual(
        (yield* storage.range("things", "rank", { limit: 9, order: "desc" })).map(({ version }) => version),
        [2, 1]
      )
    })
  )
]
