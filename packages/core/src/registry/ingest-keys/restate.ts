/** Restates at the start the ingest keys of which an earlier version kept characters. Decision 0037. */
import { readRecord } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { Chain } from "../../chain/chain.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { INGEST_KEYS, storedKey } from "./document.ts"
import { holdsCharacters, planRestate } from "./plan-restate.ts"

/** Documents, or records, read at a time. */
const PAGE = 500

const UNDONE =
  "An earlier version stored the first characters of some ingest keys, and they could not be erased. The next " +
  "start tries again."

/**
 * Restates each key once, before anybody is served. Costs one list of the keys where nothing has to be done; with
 * `readOnly` nothing.
 *
 * What fails is logged and keeps nothing from starting: the keys are as good as before.
 */
export const restateIngestKeys = (options: {
  readonly readOnly?: boolean
}): Layer.Layer<never, never, Storage | Chain> =>
  Layer.effectDiscard(
    options.readOnly === true
      ? Effect.void
      : Effect.gen(function* () {
          // A store whose chain cannot be opened is not written to.
          yield* Chain
          const storage = yield* Storage
          yield* restateKeys(storage).pipe(Effect.catch((fault) => Effect.logError(UNDONE, fault)))
        })
  )

/** Restates what has to be, one key in each commit. */
export const restateKeys = Effect.fnUntraced(function* (storage: StorageApi): Effect.fn.Return<void, ReadFault> {
  const ids = yield* keysWithCharacters(storage)
  if (ids.length === 0) return
  const minted = yield* mintedBy(storage)
  for (const id of ids) yield* commitWithRetry(storage, restateOne(storage, id, minted.get(id) ?? null))
  yield* Effect.logInfo(
    `The first characters of ${ids.length} ingest keys, which an earlier version stored, are erased.`
  )
})

const restateOne = Effect.fnUntraced(function* (storage: StorageApi, id: string, seq: number | null) {
  const document = yield* storage.get(INGEST_KEYS, id)
  if (document === null) return
  const profile = seq === null ? undefined : (yield* storage.parts([seq])).find(({ name }) => name === "profile")
  const mintedSeq = profile === undefined || profile.erasedBy !== null ? null : seq
  const change = planRestate({ keyId: id, key: storedKey(document), version: document.version, mintedSeq })
  if (change !== null) yield* storage.commit(change)
})

const keysWithCharacters = Effect.fnUntraced(function* (
  storage: StorageApi
): Effect.fn.Return<ReadonlyArray<string>, ReadFault> {
  const ids: Array<string> = []
  for (let after: string | undefined; ;) {
    const page = yield* storage.list(INGEST_KEYS, after === undefined ? { limit: PAGE } : { after, limit: PAGE })
    for (const document of page) if (holdsCharacters(storedKey(document))) ids.push(document.id)
    if (page.length < PAGE) return ids
    after = page.at(-1)!.id
  }
})

/** The record that minted each key of this chain. */
const mintedBy = Effect.fnUntraced(function* (
  storage: StorageApi
): Effect.fn.Return<ReadonlyMap<string, number>, ReadFault> {
  const seqs = new Map<string, number>()
  for (let from = 0; ;) {
    const page = yield* storage.records({ kinds: ["ingest_key.minted"], from, limit: PAGE })
    for (const { bytes, seq } of page) {
      const read = readRecord(bytes)
      if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
      seqs.set(String(read.record.body["key_id"]), seq)
    }
    if (page.length < PAGE) return seqs
    from = page.at(-1)!.seq + 1
  }
})
