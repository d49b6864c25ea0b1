/** Everything that can be seen of a store, as plain data. */
import type { Delivery, StorageApi, StoredEvent } from "@flyball/core/storage"
import { WEBHOOKS } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"

/** Names that an observer needs, because the port cannot list them. */
export interface Scene {
  readonly collections: ReadonlyArray<string>
  /** Names of counters; none where it leaves them out. */
  readonly counters?: ReadonlyArray<string>
  /** Idempotency keys that may be taken. */
  readonly once: ReadonlyArray<{ readonly scope: string; readonly keys: ReadonlyArray<string> }>
}

/** Rows of one page. The port's bound. */
const page = 1000

/**
 * Reads a whole store: two stores are the same when these are deeply equal. Bytes are hex.
 *
 * Not in it: leases, limits, the time of `asOf`, whose turn it is to be claimed, and what is owed to an endpoint that
 * has no document.
 */
export const observe = Effect.fnUntraced(function* (storage: StorageApi, scene: Scene) {
  const asOf = yield* storage.asOf
  const head = yield* storage.head
  const records = []
  const parts = []
  for (let from = 0; from <= asOf.seq; from += page) {
    const found = yield* storage.records({ from, to: from + page - 1, limit: page })
    records.push(...found.map((record) => ({ ...record, bytes: toHex(record.bytes), hash: toHex(record.hash) })))
    const seqs = found.map(({ seq }) => seq)
    for (const { seq, name, salt, bytes, erasedBy } of yield* storage.parts(seqs)) {
      parts.push({
        seq,
        name,
        salt: salt === null ? null : toHex(salt),
        bytes: bytes === null ? null : toHex(bytes),
        erasedBy
      })
    }
  }
  const documents = yield* Effect.forEach(scene.collections, (collection) => storage.list(collection))
  const once = yield* Effect.forEach(scene.once, ({ scope, keys }) =>
    Effect.map(storage.once(scope, keys), (taken) =>
      taken.map(({ key, seq, digest }) => ({ scope, key, seq, digest })).sort((a, b) => a.seq - b.seq)
    )
  )
  const hashes = yield* Effect.forEach([0, 1, 2], (level) =>
    Effect.map(storage.hashes(level, 0, records.length + 1), toHex)
  )
  const events = yield* allEvents(storage)
  const deliveries = yield* Effect.forEach(yield* storage.list(WEBHOOKS), ({ id }) => deliveriesOf(storage, id))
  return {
    seq: asOf.seq,
    head: head === null ? null : { seq: head.seq, hash: toHex(head.hash), atMs: head.atMs },
    records,
    parts,
    documents: documents.flat().map(({ collection, id, version, body }) => ({ collection, id, version, body })),
    once: once.flat(),
    counters: yield* storage.counters(scene.counters ?? []),
    hashes,
    events: events.map((event) => ({ ...event, hash: toHex(event.hash) })),
    deliveries: deliveries.flat()
  }
})

const allEvents = Effect.fnUntraced(function* (storage: StorageApi) {
  const out: Array<StoredEvent> = []
  for (let after: string | undefined; ;) {
    const found: ReadonlyArray<StoredEvent> = yield* storage.outbox.events(
      after === undefined ? { limit: page } : { after, limit: page }
    )
    out.push(...found)
    if (found.length < page) return out
    after = found.at(-1)?.id
  }
})

/** Reads all deliveries to one endpoint, with every attempt. */
const deliveriesOf = Effect.fnUntraced(function* (storage: StorageApi, endpointId: string) {
  const out: Array<Delivery> = []
  for (let before: number | undefined; ;) {
    const found: ReadonlyArray<Delivery> = yield* storage.outbox.deliveriesOf(
      endpointId,
      before === undefined ? { limit: page } : { before, limit: page }
    )
    out.push(...found)
    before = found.at(-1)?.sequence
    if (found.length < page) return yield* Effect.forEach(out, ({ id }) => storage.outbox.delivery(id))
  }
})
