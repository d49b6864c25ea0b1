/** Cases on what a planner must not ask. */
import assert from "node:assert/strict"
import type { ChangeSet, DeliveryMove, DocumentPut, RecordDraft, StorageApi } from "@flyball/core/storage"
import { Effect } from "effect"
import { observe } from "../observe.ts"
import { storageCase } from "../storage-case.ts"
import { begin, dies, digest, draft, erasedDraft, event, idempotentDraft, part, put } from "./given.ts"

const withPut = (id: string, more: Partial<DocumentPut> = {}): ChangeSet => ({ puts: [put(id, {}, more)] })
const withRecord = (more: Partial<RecordDraft>): ChangeSet => ({ records: [draft({}, more)] })

const ended = { endedAtMs: 1, statusCode: 200, errorCode: null, responseExcerpt: "" }
const move = (more: Partial<DeliveryMove>): DeliveryMove => ({
  id: "dlv_1",
  from: { state: "pending", attempts: 0 },
  to: { state: "cancelled" },
  ...more
})

/** ChangeSets that no state of a store makes right. */
const wrong: ReadonlyArray<readonly [what: string, change: ChangeSet]> = [
  ["a document put twice", { puts: [put("t1"), put("t1", {}, { expectedVersion: 1 })] }],
  ["an id with U+0000", withPut("a\0b")],
  ["an id with a lone surrogate", withPut("\ud800")],
  ["an empty id", withPut("")],
  ["an id of 1,025 bytes", withPut("é".repeat(512) + "x")],
  ["a negative version", withPut("t1", { expectedVersion: -1 })],
  ["a version that is no whole number", withPut("t1", { expectedVersion: 0.5 })],
  ["a collection's name with a space", withPut("t1", { collection: "my things" })],
  ["a key's value with U+0000", withPut("t1", { keys: { name: "\0" } })],
  ["a unique value with a lone surrogate", withPut("t1", { unique: { name: "\udfff" } })],
  ["a key that is unique and not", withPut("t1", { keys: { name: "a" }, unique: { name: "b" } })],
  ["an expectation with an empty id", { expects: [{ collection: "things", id: "", version: 0 }] }],
  ["a kind in capitals", withRecord({ kind: "Decision" })],
  ["a kind of two letters", withRecord({ kind: "ab" })],
  ["parts out of order", withRecord({ parts: [part("result", ""), part("args", "")] })],
  ["two parts of one name", withRecord({ parts: [part("args", ""), part("args", "")] })],
  ["33 parts", withRecord({ parts: Array.from({ length: 33 }, (_, n) => part(`p${String(n).padStart(2, "0")}`, "")) })],
  ["a part's name in capitals", withRecord({ parts: [part("Args", "")] })],
  ["a part over 16 MiB", withRecord({ parts: [{ name: "args", bytes: new Uint8Array(16 * 1024 * 1024 + 1) }] })],
  ["an agent's id with U+0000", withRecord({ agentId: "\0" })],
  ["a once key with U+0000", { records: [idempotentDraft("a\0", "a")] }],
  ["a document that is not there to go", { deletes: [{ collection: "things", id: "t1", version: 0 }] }],
  ["a document both put and deleted", { puts: [put("t1")], deletes: [{ collection: "things", id: "t1", version: 1 }] }],
  ["an endpoint that goes", { deletes: [{ collection: "webhooks", id: "whk_1", version: 1 }] }],
  ["an empty once key", { records: [idempotentDraft("", "a")] }],
  ["a once digest in capitals", withRecord({ once: { scope: "s", key: "k", digest: digest("A") } })],
  ["an erasure that no record says", { records: [erasedDraft(1, "result")], erase: [{ seq: 1, name: "args" }] }],
  [
    "an erasure twice",
    {
      records: [erasedDraft(1, "args")],
      erase: [
        { seq: 1, name: "args" },
        { seq: 1, name: "args" }
      ]
    }
  ],
  ["a look-up key's name with a space", withPut("t1", { keys: { "my key": "a" } })],
  ["an event's type in capitals", { events: [event({}, "Thing.made")] }],
  ["an event's type of 61 characters", { events: [event({}, "a".repeat(61))] }],
  ["an event's data over 64 KiB", { events: [event({ text: "\u00e9".repeat(32 * 1024) })] }],
  ["a delivery moved twice", { moves: [move({}), move({})] }],
  ["a delivery's id with U+0000", { moves: [move({ id: "\0" })] }],
  ["a move of what is finished", { moves: [move({ from: { state: "succeeded", attempts: 1 } })] }],
  ["a move with half an attempt", { moves: [move({ from: { state: "pending", attempts: 0.5 } })] }],
  ["a next attempt at no whole millisecond", { moves: [move({ to: { state: "pending", nextAttemptAtMs: 0.5 } })] }],
  ["an attempt that nobody began", { moves: [move({ ended })] }],
  ["an attempt that does not end", { moves: [move({ from: { state: "in_flight", attempts: 1 } })] }],
  [
    "an excerpt of 4,097 bytes",
    {
      moves: [
        move({
          from: { state: "in_flight", attempts: 1 },
          ended: { ...ended, responseExcerpt: `x${"\u00e9".repeat(2048)}` }
        })
      ]
    }
  ],
  [
    "a status of four digits",
    { moves: [move({ from: { state: "in_flight", attempts: 1 }, ended: { ...ended, statusCode: 1000 } })] }
  ],
  ["an endpoint's id with U+0000", { cancel: [{ endpointId: "\0" }] }],
  ["an event's id with a lone surrogate", { again: [{ eventId: "\ud800", endpointId: "whk_1" }] }]
]

/** Bugs of planners. */
export const boundCases = [
  storageCase(
    "a ChangeSet that no store can write is a defect, and leaves no trace",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ records: [draft({}, { parts: [part("args", "x")] })] })
      const scene = { collections: ["things"], once: [{ scope: "agt_1", keys: ["k"] }] }
      const before = yield* observe(storage, scene)
      for (const [what, change] of wrong) {
        yield* dies(storage.commit({ ...change, puts: [put("other"), ...(change.puts ?? [])] }), what)
      }
      assert.deepEqual(yield* observe(storage, scene), before)
      yield* storage.commit({ puts: [put("é".repeat(512))], records: [draft()] })
    })
  )
]
