/** Everything that can be seen of a store, as plain data. */
import type { StorageApi } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"

/** What an observer has to know, because the port cannot list it. */
export interface Scene {
  readonly collections: ReadonlyArray<string>
  /** Once keys that may be taken. */
  readonly once: ReadonlyArray<{ readonly scope: string; readonly keys: ReadonlyArray<string> }>
}

/** Rows of one page. The port's bound. */
const page = 1000

/**
 * Reads a whole store: two stores are the same when these are deeply equal. Bytes are hex.
 *
 * Not in it: leases, and the time of `asOf`.
 */
export const observe = Effect.fnUntraced(function*(storage: StorageApi, scene: Scene) {
  const asOf = yield* storage.asOf
  const head = yield* storage.head
  const records = []
  const parts = []
  for (let from = 0; from <= asOf.seq; from += page) {
    const found = yield* storage.records({ from, to: from + page - 1, limit: page })
    records.push(...found.map((record) => ({ ...record, bytes: toHex(record.bytes), hash: toHex(record.hash) })))
    const seqs = found.map(({ seq }) => seq)
    for (const { seq, name, salt, bytes, erasedBy } of yield* storage.parts(seqs)) {
      parts.push({ seq, name, salt: salt === null ? null : toHex(salt), bytes: bytes === null ? null : toHex(bytes), erasedBy })
    }
  }
  const documents = yield* Effect.forEach(scene.collections, (collection) => storage.list(collection))
  const once = yield* Effect.forEach(scene.once, ({ scope, keys }) =>
    Effect.map(storage.once(scope, keys), (taken) => taken.map(({ key, seq, digest }) => ({ scope, key, seq, digest })).sort((a, b) => a.seq - b.seq)))
  const hashes = yield* Effect.forEach([0, 1, 2], (level) => Effect.map(storage.hashes(level, 0, records.length + 1), toHex))
  const deliveries = yield* allDeliveries(storage)
  return {
    seq: asOf.seq,
    head: head === null ? null : { seq: head.seq, hash: toHex(head.hash), atMs: head.atMs },
    records,
    parts,
    documents: documents.flat().map(({ collection, id, version, body }) => ({ collection, id, version, body })),
    once: once.flat(),
    hashes,
    deliveries: deliveries.map(({ id, eventType, body, seq, hash }) => ({ id, eventType, body, seq, hash: toHex(hash) }))
  }
})

const allDeliveries = Effect.fnUntraced(function*(storage: StorageApi) {
  const out = []
  for (let after: string | undefined;;) {
    const found = yield* storage.deliveries(after === undefined ? { limit: page } : { after, limit: page })
    out.push(...found)
    if (found.length < page) return out
    after = found.at(-1)?.id
  }
})
