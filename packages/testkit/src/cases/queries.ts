/** Cases on reading records. */
import assert from "node:assert/strict"
import type { RecordQuery, StorageApi } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { storageCase } from "../storage-case.ts"
import { begin, dies, draft, drafts } from "./given.ts"

const seqs = (storage: StorageApi, query: RecordQuery) =>
  Effect.map(storage.records(query), (records) => records.map(({ seq }) => seq))

const kinds = ["decision.witnessed", "decision.settled", "capture.gap"]
const agents = ["agt_1", "agt_2", "AGT_1", null]

/** 25 records: kinds by seq % 3, agents by seq % 4. */
const furnish = Effect.fnUntraced(function* (storage: StorageApi) {
  yield* begin(storage)
  yield* storage.commit({
    records: Array.from({ length: 24 }, (_, i) =>
      draft({}, { kind: kinds[(i + 1) % 3]!, agentId: agents[(i + 1) % 4]! })
    )
  })
})

/** Every query against a plain filter of all records. */
const queries: ReadonlyArray<RecordQuery> = [
  { limit: 1000 },
  { limit: 1000, order: "desc" },
  { limit: 5, order: "asc" },
  { limit: 5, order: "desc" },
  { from: 3, to: 7, limit: 1000 },
  { from: 3, to: 7, limit: 2, order: "desc" },
  { from: 3, to: 3, limit: 10 },
  { from: 24, limit: 10 },
  { from: 25, limit: 10 },
  { to: 0, limit: 10 },
  { from: 7, to: 3, limit: 10 },
  { from: 0, to: 9_000_000_000, limit: 1000 },
  { kinds: ["capture.gap"], limit: 1000 },
  { kinds: ["capture.gap", "decision.settled", "capture.gap"], limit: 4, order: "desc" },
  { kinds: ["chain.genesis"], limit: 10 },
  { kinds: ["none.such"], limit: 10 },
  { kinds: [], limit: 10 },
  { agentId: "agt_1", limit: 1000 },
  { agentId: "agt_1", limit: 2, order: "desc" },
  { agentId: "AGT_1", limit: 1000 },
  { agentId: "agt_9", limit: 10 },
  { agentId: "agt_2", from: 5, to: 17, limit: 1000, order: "desc" },
  { agentId: "agt_2", kinds: ["capture.gap"], limit: 1000 },
  { agentId: "agt_2", kinds: ["capture.gap", "decision.witnessed"], from: 2, to: 22, limit: 1, order: "desc" }
]

const expected = (query: RecordQuery): ReadonlyArray<number> => {
  const matching = Array.from({ length: 25 }, (_, seq) => seq).filter(
    (seq) =>
      seq >= (query.from ?? 0) &&
      seq <= (query.to ?? 24) &&
      (query.kinds === undefined || query.kinds.includes(seq === 0 ? "chain.genesis" : kinds[seq % 3]!)) &&
      (query.agentId === undefined || (seq > 0 && agents[seq % 4] === query.agentId))
  )
  return (query.order === "desc" ? matching.toReversed() : matching).slice(0, query.limit)
}

/** Reading records back. */
export const queryCases = [
  storageCase(
    "a record is read by its seq; there is none before the first or after the last",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      const record = yield* storage.record(6)
      const [same] = yield* storage.records({ from: 6, limit: 1 })
      assert.deepEqual(
        [record!.seq, record!.kind, record!.agentId, toHex(record!.bytes)],
        [6, kinds[0], "AGT_1", toHex(same!.bytes)]
      )
      for (const seq of [25, -1, 9_000_000_000]) assert.equal(yield* storage.record(seq), null)
    })
  ),
  storageCase(
    "records are read by range, kinds, agent, order and limit, together",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* furnish(storage)
      for (const query of queries) assert.deepEqual(yield* seqs(storage, query), expected(query), JSON.stringify(query))
    })
  ),
  storageCase(
    "a page has at most 1,000 records, and the next begins where it ended",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      yield* storage.commit({ records: drafts(1000, { agentId: "agt_1" }) })
      yield* storage.commit({ records: drafts(5, { agentId: "agt_1" }) })
      assert.deepEqual(
        yield* seqs(storage, { limit: 1000 }),
        Array.from({ length: 1000 }, (_, n) => n)
      )
      assert.deepEqual(yield* seqs(storage, { from: 1000, limit: 1000 }), [1000, 1001, 1002, 1003, 1004, 1005])
      assert.deepEqual(
        yield* seqs(storage, { agentId: "agt_1", limit: 1000, order: "desc" }),
        Array.from({ length: 1000 }, (_, n) => 1005 - n)
      )
    })
  ),
  storageCase(
    "a limit outside 1 to 1,000 is a defect",
    Effect.fnUntraced(function* (storage: StorageApi) {
      yield* begin(storage)
      for (const limit of [0, -1, 1001, 1.5, Number.NaN]) {
        yield* dies(storage.records({ limit }), `records with limit ${limit}`)
        yield* dies(storage.outbox.events({ limit }), `events with limit ${limit}`)
        yield* dies(storage.outbox.deliveriesOf("whk_1", { limit }), `deliveries with limit ${limit}`)
      }
    })
  )
]
