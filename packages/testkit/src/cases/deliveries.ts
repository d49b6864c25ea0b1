/** Cases on the outbox. */
import assert from "node:assert/strict"
import type { DeliveryDraft, JsonObject, StorageApi } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { storageCase } from "../storage-case.ts"
import { begin, draft, drafts, put, refused } from "./given.ts"

const delivery = (id: string, body: JsonObject = {}): DeliveryDraft => ({ id, eventType: "agent.suspended", body })

/** Deliveries. */
export const deliveryCases = [
  storageCase("a delivery is stored with the head of the commit that caused it", Effect.fnUntraced(function*(storage: StorageApi) {
    yield* begin(storage)
    const first = yield* storage.commit({ records: drafts(3), deliveries: [delivery("d1", { agent_id: "é", n: [1, 0.5, "\u0000"] }), delivery("d2")] })
    const second = yield* storage.commit({ puts: [put("t1")], deliveries: [{ id: "d3", eventType: "chain.checkpoint", body: {} }] })
    yield* storage.commit({ records: [draft()] })
    const found = yield* storage.deliveries({ limit: 10 })
    assert.deepEqual(found.map(({ id, eventType, seq }) => [id, eventType, seq]), [["d1", "agent.suspended", 3], ["d2", "agent.suspended", 3], ["d3", "chain.checkpoint", 3]])
    assert.deepEqual(found[0]!.body, { agent_id: "é", n: [1, 0.5, "\u0000"] })
    for (const { hash } of found) assert.equal(toHex(hash), toHex(first.head.hash))
    assert.equal(toHex(second.head.hash), toHex(first.head.hash))
  })),
  storageCase("an act that comes again with its delivery is refused by its conflict, like any other", Effect.fnUntraced(function*(storage: StorageApi) {
    yield* begin(storage)
    const act = { puts: [put("t1")], deliveries: [delivery("d1")] }
    yield* storage.commit(act)
    assert.deepEqual((yield* refused(storage, act)).map(({ _tag }) => _tag), ["Version"])
    assert.equal((yield* storage.deliveries({ limit: 10 })).length, 1)
  })),
  storageCase("deliveries come in order of their ids' bytes, a page at a time", Effect.fnUntraced(function*(storage: StorageApi) {
    yield* begin(storage)
    yield* storage.commit({ deliveries: [delivery("c"), delivery("a"), delivery("\u{1f600}")] })
    yield* storage.commit({ deliveries: [delivery("B"), delivery("\uffee")] })
    const ids = (page: { readonly after?: string; readonly limit: number }) => Effect.map(storage.deliveries(page), (found) => found.map(({ id }) => id))
    assert.deepEqual(yield* ids({ limit: 1000 }), ["B", "a", "c", "\uffee", "\u{1f600}"])
    assert.deepEqual(yield* ids({ limit: 2 }), ["B", "a"])
    assert.deepEqual(yield* ids({ after: "a", limit: 2 }), ["c", "\uffee"])
    assert.deepEqual(yield* ids({ after: "b", limit: 1 }), ["c"])
    assert.deepEqual(yield* ids({ after: "\u{1f600}", limit: 1 }), [])
  }))
]
