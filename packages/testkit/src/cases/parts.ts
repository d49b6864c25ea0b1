/** Cases on parts and their erasure. */
import assert from "node:assert/strict"
import type { StorageApi } from "@flyball/core/storage"
import { portableCrypto, readRecord, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { storageCase } from "../storage-case.ts"
import { begin, checkChain, dies, draft, drafts, erasedDraft, part, refused } from "./given.ts"

const addresses = (storage: StorageApi, seqs: ReadonlyArray<number>) =>
  Effect.map(storage.parts(seqs), (parts) => parts.map(({ seq, name, erasedBy }) => [seq, name, erasedBy]))

/** Records 1 to 3 with parts args, labels, result. */
const furnish = Effect.fnUntraced(function* (storage: StorageApi) {
  yield* begin(storage)
  yield* storage.commit({
    records: drafts(3).map((each) => ({
      ...each,
      parts: [part("args", "same"), part("labels", "same"), part("result", "same")]
    }))
  })
})

/** Parts: bytes, salts, order, erasure. */
export const partCases = [
  storageCase(
    "a part is read back unchanged, with a salt that opens the record's commitment",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const all = Uint8Array.from({ length: 256 }, (_, n) => n)
      yield* storage.commit({
        records: [
          draft(
            {},
            {
              parts: [
                { name: "args", bytes: all },
                { name: "empty", bytes: new Uint8Array(0) },
                part("text", "\u0000 é 😀")
              ]
            }
          )
        ]
      })
      const parts = yield* storage.parts([1])
      assert.deepEqual(
        parts.map(({ name, bytes }) => [name, toHex(bytes!)]),
        [
          ["args", toHex(all)],
          ["empty", ""],
          ["text", "0020c3a920f09f9880"]
        ]
      )
      const read = readRecord((yield* storage.record(1))!.bytes)
      assert.ok(read.ok)
      assert.deepEqual(
        read.record.parts.map(({ name, c }) => ({ name, c })),
        parts.map(({ name, salt, bytes }) => ({ name, c: toHex(portableCrypto.commitment(salt!, name, bytes!)) }))
      )
    })
  ),
  storageCase(
    "every part has its own 32 salt bytes, so equal contents have different commitments",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      yield* furnishMore(storage)
      const parts = yield* storage.parts([1, 2, 3, 4])
      const salts = parts.map(({ salt }) => toHex(salt!))
      assert.equal(new Set(salts).size, 10)
      assert.ok(salts.every((salt) => salt.length === 64 && salt !== "0".repeat(64)))
    })
  ),
  storageCase(
    "parts are returned by seq, then name, each once, for any order of the request",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      assert.deepEqual(yield* addresses(storage, [3, 0, 99, 1, 3]), [
        [1, "args", null],
        [1, "labels", null],
        [1, "result", null],
        [3, "args", null],
        [3, "labels", null],
        [3, "result", null]
      ])
      assert.deepEqual(yield* addresses(storage, [0]), [])
    })
  ),
  storageCase(
    "a part of 1 MiB is read back, and 32 parts fit into one record",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      const big = Uint8Array.from({ length: 1_048_576 }, (_, n) => (n * 31) & 0xff)
      const many = Array.from({ length: 32 }, (_, n) => part(`p${String(n).padStart(2, "0")}`, `part ${n}`))
      yield* storage.commit({
        records: [draft({}, { parts: [{ name: "args", bytes: big }] }), draft({}, { parts: many })]
      })
      assert.equal(Buffer.compare((yield* storage.parts([1]))[0]!.bytes!, big), 0)
      assert.deepEqual(
        (yield* addresses(storage, [2])).map(([, name]) => name),
        many.map(({ name }) => name)
      )
      yield* checkChain(storage)
    })
  ),
  storageCase(
    "parts of 1,000 records are read at once; more is a defect",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ records: drafts(1000, { parts: [part("args", "x")] }) })
      const seqs = Array.from({ length: 1001 }, (_, n) => n)
      assert.equal((yield* storage.parts(seqs.slice(1))).length, 1000)
      yield* dies(storage.parts(seqs), "parts of 1,001 records")
    })
  ),
  storageCase(
    "erasing takes bytes and salt, names its record, and leaves everything else",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      const before = yield* storage.record(2)
      const receipt = yield* storage.commit({ records: [erasedDraft(2, "args")], erase: [{ seq: 2, name: "args" }] })
      assert.equal(receipt.head.seq, 4)
      const parts = yield* storage.parts([2])
      assert.deepEqual({ ...parts[0] }, { seq: 2, name: "args", salt: null, bytes: null, erasedBy: 4 })
      assert.deepEqual(
        parts.slice(1).map(({ name, bytes }) => [name, toHex(bytes!)]),
        [
          ["labels", "73616d65"],
          ["result", "73616d65"]
        ]
      )
      assert.equal(toHex((yield* storage.record(2))!.bytes), toHex(before!.bytes))
      assert.deepEqual(yield* addresses(storage, [1]), [
        [1, "args", null],
        [1, "labels", null],
        [1, "result", null]
      ])
      yield* checkChain(storage)
    })
  ),
  storageCase(
    "several parts are erased at once, each by the last record that names it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      yield* storage.commit({
        records: [
          erasedDraft(1, "args"),
          erasedDraft(3, "result"),
          erasedDraft(1, "args"),
          draft(),
          erasedDraft(1, "labels")
        ],
        erase: [
          { seq: 3, name: "result" },
          { seq: 1, name: "args" },
          { seq: 1, name: "labels" }
        ]
      })
      assert.deepEqual(yield* addresses(storage, [1, 3]), [
        [1, "args", 6],
        [1, "labels", 8],
        [1, "result", null],
        [3, "args", null],
        [3, "labels", null],
        [3, "result", 5]
      ])
    })
  ),
  storageCase(
    "a part that is missing or erased cannot be erased",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      yield* storage.commit({ records: [erasedDraft(1, "args")], erase: [{ seq: 1, name: "args" }] })
      for (const [seq, name, found] of [
        [1, "args", "erased"],
        [1, "none", "missing"],
        [0, "args", "missing"],
        [99, "args", "missing"]
      ] as const) {
        assert.deepEqual(yield* refused(storage, { records: [erasedDraft(seq, name)], erase: [{ seq, name }] }), [
          { _tag: "Part", seq, name, found }
        ])
      }
      assert.equal((yield* storage.asOf).seq, 4)
    })
  ),
  storageCase(
    "a part cannot be erased by the commit that makes it",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      assert.deepEqual(
        yield* refused(storage, {
          records: [draft({}, { parts: [part("args", "x")] }), erasedDraft(4, "args")],
          erase: [{ seq: 4, name: "args" }]
        }),
        [{ _tag: "Part", seq: 4, name: "args", found: "missing" }]
      )
    })
  )
]

const furnishMore = (storage: StorageApi) => storage.commit({ records: [draft({}, { parts: [part("args", "same")] })] })
