/** Cases on idempotent records. */
import assert from "node:assert/strict"
import type { StorageApi, TakenKey } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { storageCase } from "../storage-case.ts"
import { begin, checkChain, digest, draft, erasedDraft, idempotentDraft, part, put, refused } from "./given.ts"

const callers = 20

/** Idempotency keys. */
export const idempotencyCases = [
  storageCase(
    "a repeat with the same digest appends nothing and returns the first receipt",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const first = yield* storage.commit({ records: [idempotentDraft("k1", "a", { n: 1 })] })
      yield* storage.commit({ records: [draft()] })
      const again = yield* storage.commit({
        records: [{ ...idempotentDraft("k1", "a", { n: 2 }), parts: [part("args", "other")] }]
      })
      const receipt = { ...again.records[0]!, hash: toHex(again.records[0]!.hash) }
      assert.deepEqual(receipt, { ...first.records[0]!, hash: toHex(first.records[0]!.hash), duplicate: true })
      assert.equal(again.head.seq, 2)
      assert.deepEqual(yield* storage.parts([1, 2]), [])
      assert.equal(yield* checkChain(storage), 3)
    })
  ),
  storageCase(
    "another digest is a conflict that names the draft and the first record",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ records: [idempotentDraft("k1", "a"), idempotentDraft("k2", "b")] })
      const conflicts = yield* refused(storage, {
        records: [
          idempotentDraft("k3", "c"),
          idempotentDraft("k2", "a"),
          idempotentDraft("k1", "a"),
          idempotentDraft("k1", "b")
        ]
      })
      assert.deepEqual(conflicts, [
        { _tag: "IdempotencyKey", index: 1, scope: "agt_1", key: "k2", seq: 2 },
        { _tag: "IdempotencyKey", index: 3, scope: "agt_1", key: "k1", seq: 1 }
      ])
      assert.deepEqual(yield* storage.once("agt_1", ["k3"]), [])
    })
  ),
  storageCase(
    "a repeat inside one ChangeSet is a duplicate of the earlier draft",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const { records, head } = yield* storage.commit({
        records: [
          idempotentDraft("k1", "a", { n: 1 }),
          idempotentDraft("k2", "b"),
          idempotentDraft("k1", "a", { n: 2 }),
          idempotentDraft("k1", "a"),
          draft()
        ]
      })
      assert.deepEqual(
        records.map(({ seq, duplicate }) => [seq, duplicate]),
        [
          [1, false],
          [2, false],
          [1, true],
          [1, true],
          [3, false]
        ]
      )
      assert.equal(toHex(records[2]!.hash), toHex(records[0]!.hash))
      assert.equal(head.seq, 3)
      assert.equal(yield* checkChain(storage), 4)
    })
  ),
  storageCase(
    "a repeat inside one ChangeSet with another digest is a conflict without a seq",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const conflicts = yield* refused(storage, {
        records: [
          idempotentDraft("k1", "a"),
          draft(),
          idempotentDraft("k1", "b"),
          idempotentDraft("k1", "a"),
          idempotentDraft("k1", "c")
        ]
      })
      assert.deepEqual(conflicts, [
        { _tag: "IdempotencyKey", index: 2, scope: "agt_1", key: "k1", seq: -1 },
        { _tag: "IdempotencyKey", index: 4, scope: "agt_1", key: "k1", seq: -1 }
      ])
      assert.equal((yield* storage.asOf).seq, 0)
    })
  ),
  storageCase(
    "when every record must be new, a taken key is a conflict under the same digest too",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({
        expectNew: true,
        records: [idempotentDraft("k1", "a"), idempotentDraft("k2", "b"), draft()]
      })
      const conflicts = yield* refused(storage, {
        expectNew: true,
        records: [
          idempotentDraft("k3", "c"),
          idempotentDraft("k2", "b"),
          idempotentDraft("k1", "c"),
          idempotentDraft("k3", "c")
        ],
        puts: [put("t1")]
      })
      assert.deepEqual(conflicts, [
        { _tag: "IdempotencyKey", index: 1, scope: "agt_1", key: "k2", seq: 2 },
        { _tag: "IdempotencyKey", index: 2, scope: "agt_1", key: "k1", seq: 1 },
        { _tag: "IdempotencyKey", index: 3, scope: "agt_1", key: "k3", seq: -1 }
      ])
      assert.deepEqual([yield* storage.once("agt_1", ["k3"]), yield* storage.get("things", "t1")], [[], null])
      yield* storage.commit({ forget: [{ scope: "agt_1", key: "k1" }] })
      assert.deepEqual(yield* refused(storage, { expectNew: true, records: [idempotentDraft("k1", "a")] }), [
        { _tag: "IdempotencyKey", index: 0, scope: "agt_1", key: "k1", seq: 1 }
      ])
      // Two at once: whichever comes second is refused, in one group or not.
      const both = yield* Effect.all(
        ["x", "y"].map((k) =>
          Effect.result(
            storage.commit({ expectNew: true, records: [idempotentDraft("shared", "a"), idempotentDraft(k, "a")] })
          )
        ),
        { concurrency: "unbounded" }
      )
      assert.equal(both.filter(({ _tag }) => _tag === "Success").length, 1)
      assert.equal(yield* checkChain(storage), 6)
    })
  ),
  storageCase(
    "fresh drafts and duplicates mix, and the chain has no gap",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const batch = (from: number, to: number) =>
        Array.from({ length: to - from }, (_, i) => ({
          ...idempotentDraft(`k${from + i}`, "a", { n: from + i }),
          parts: [part("args", `n ${from + i}`)]
        }))
      yield* storage.commit({ records: batch(10, 20) })
      const { records } = yield* storage.commit({ records: batch(5, 25) })
      const expected = Array.from({ length: 20 }, (_, i) =>
        i < 5 ? [11 + i, false] : i < 15 ? [i - 4, true] : [i + 1, false]
      )
      assert.deepEqual(
        records.map(({ seq, duplicate }) => [seq, duplicate]),
        expected
      )
      assert.equal(yield* checkChain(storage), 21)
      const parts = yield* storage.parts([11, 15, 16, 20])
      assert.deepEqual(
        parts.map(({ bytes }) => Buffer.from(bytes!).toString()),
        ["n 5", "n 9", "n 20", "n 24"]
      )
    })
  ),
  storageCase(
    "the rest of a ChangeSet is applied although all its drafts are duplicates",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ records: [idempotentDraft("k1", "a")] })
      const receipt = yield* storage.commit({
        records: [idempotentDraft("k1", "a")],
        puts: [put("t1")],
        moves: [],
        cancel: [{ endpointId: "whk_1" }]
      })
      assert.deepEqual([receipt.records[0]!.duplicate, receipt.head.seq], [true, 1])
      assert.equal((yield* storage.get("things", "t1"))?.version, 1)
      assert.equal(
        (yield* refused(storage, { records: [idempotentDraft("k1", "a")], puts: [put("t1")] }))[0]?._tag,
        "Version"
      )
    })
  ),
  storageCase(
    "scopes are separate, and keys are compared by bytes",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const at = (scope: string, key: string) => draft({}, { once: { scope, key, digest: digest("a") } })
      const { records } = yield* storage.commit({
        records: [
          at("s", "k"),
          at("S", "k"),
          at("s", "K"),
          at("s", "caf\u00e9"),
          at("s", "cafe\u0301"),
          at("sk", "k"),
          at("s", "kk"),
          at("", "k")
        ]
      })
      assert.ok(records.every(({ duplicate }) => !duplicate))
      assert.deepEqual(yield* storage.once("s", ["cafe\u0301"]), [{ key: "cafe\u0301", seq: 5, digest: digest("a") }])
      assert.deepEqual(yield* storage.once("", ["k", "K"]), [{ key: "k", seq: 8, digest: digest("a") }])
    })
  ),
  storageCase(
    "a forgotten digest leaves the key taken: any repeat is a duplicate",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({
        records: [{ ...idempotentDraft("k1", "a"), parts: [part("args", "x")] }, idempotentDraft("k2", "b")]
      })
      yield* storage.commit({
        records: [erasedDraft(1, "args")],
        erase: [{ seq: 1, name: "args" }],
        forget: [
          { scope: "agt_1", key: "k1" },
          { scope: "agt_1", key: "none" },
          { scope: "nobody", key: "k1" }
        ]
      })
      assert.deepEqual(yield* storage.once("agt_1", ["k1", "k2", "none"]), [
        { key: "k1", seq: 1, digest: null },
        { key: "k2", seq: 2, digest: digest("b") }
      ])
      const { records } = yield* storage.commit({
        records: [idempotentDraft("k1", "a"), idempotentDraft("k1", "c"), idempotentDraft("none", "d")]
      })
      assert.deepEqual(
        records.map(({ seq, duplicate }) => [seq, duplicate]),
        [
          [1, true],
          [1, true],
          [4, false]
        ]
      )
      assert.deepEqual((yield* refused(storage, { records: [idempotentDraft("k2", "a")] }))[0]?._tag, "IdempotencyKey")
      assert.equal((yield* storage.parts([1]))[0]!.bytes, null)
    })
  ),
  storageCase(
    "forgetting is part of its ChangeSet: a refused one forgets nothing",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ records: [idempotentDraft("k1", "a")] })
      yield* refused(storage, {
        puts: [put("t1", {}, { expectedVersion: 3 })],
        forget: [{ scope: "agt_1", key: "k1" }]
      })
      assert.deepEqual(yield* storage.once("agt_1", ["k1"]), [{ key: "k1", seq: 1, digest: digest("a") }])
      const [, again] = yield* Effect.all(
        [
          storage.commit({ forget: [{ scope: "agt_1", key: "k1" }] }),
          storage.commit({ records: [idempotentDraft("k1", "b")] })
        ],
        { concurrency: "unbounded" }
      )
      assert.equal(again.records[0]!.seq, 1)
      // Side by side in one group: what is taken after the forgetting keeps its digest, what was taken before loses it.
      yield* Effect.all(
        [
          storage.commit({ records: [idempotentDraft("before", "c")] }),
          storage.commit({
            forget: [
              { scope: "agt_1", key: "before" },
              { scope: "agt_1", key: "after" }
            ]
          }),
          storage.commit({ records: [idempotentDraft("after", "d")] })
        ],
        { concurrency: "unbounded" }
      )
      assert.deepEqual(
        (yield* storage.once("agt_1", ["before", "after"])).map(({ key, digest: seen }) => [key, seen]),
        [
          ["before", null],
          ["after", digest("d")]
        ]
      )
    })
  ),
  storageCase(
    "once returns which of the keys are taken, each once",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const keys = Array.from({ length: 1000 }, (_, n) => `run/${n}`)
      yield* storage.commit({ records: keys.map((key, n) => idempotentDraft(key, n % 2 === 0 ? "a" : "b")) })
      const taken = yield* storage.once("agt_1", [...keys, "run/1000", "run/7"])
      assert.equal(taken.length, 1000)
      assert.deepEqual(
        [...taken].sort((a, b) => a.seq - b.seq).map(({ key, seq, digest: seen }) => [key, seq, seen?.[0]]),
        keys.map((key, n) => [key, n + 1, n % 2 === 0 ? "a" : "b"])
      )
      assert.deepEqual(yield* storage.once("agt_2", keys), [])
    })
  ),
  storageCase(
    "all once keys are listed page by page, each once, forgotten ones too",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      assert.deepEqual(yield* storage.idempotencyKeys(null, 10), [])
      const at = (scope: string, key: string) => draft({}, { once: { scope, key, digest: digest("a") } })
      const keys = ["", "b", "a", "caf\u00e9", "\u{1F600}", "\uFFFD"].flatMap((scope) =>
        ["k2", "k1", "z"].map((key) => [scope, key] as const)
      )
      yield* storage.commit({ records: keys.map(([scope, key]) => at(scope, key)) })
      yield* storage.commit({ forget: [{ scope: "a", key: "k1" }] })
      const found: Array<TakenKey> = []
      for (;;) {
        const page = yield* storage.idempotencyKeys(found.at(-1) ?? null, 4)
        found.push(...page)
        if (page.length < 4) break
      }
      const bySeq = found
        .toSorted((one, other) => one.seq - other.seq)
        .map((one) => [one.scope, one.key, one.seq, one.digest])
      assert.deepEqual(
        bySeq,
        keys.map(([scope, key], index) => [scope, key, index + 1, scope === "a" && key === "k1" ? null : digest("a")])
      )
    })
  ),
  storageCase(
    `of ${callers} callers with one key at once, exactly one appends`,
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const receipts = yield* Effect.all(
        Array.from({ length: callers }, (_, n) =>
          storage.commit({ records: [idempotentDraft("k1", "a", { n }), idempotentDraft(`mine/${n}`, "b")] })
        ),
        { concurrency: "unbounded" }
      )
      assert.equal(receipts.filter(({ records }) => !records[0]!.duplicate).length, 1)
      assert.equal(new Set(receipts.map(({ records }) => toHex(records[0]!.hash))).size, 1)
      assert.ok(receipts.every(({ records }) => !records[1]!.duplicate))
      assert.equal(yield* checkChain(storage), callers + 2)
    })
  )
]
