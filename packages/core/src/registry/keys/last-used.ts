/**
 * When a key was used last. Working state, kept coarse: it is a hint for people who tidy up keys, and must not cost a
 * write per request.
 */
import { Effect } from "effect"
import type { StorageApi } from "../../storage/port.ts"
import { instantMs } from "../../storage/store-time.ts"

/** How stale the noted time may be: one minute, so a busy key costs one write a minute. */
export const USE_RESOLUTION_MS = 60_000

/**
 * Notes and reads the last use of keys; null where nothing need be noted, as nearly always. A note that does not get
 * through is dropped: authentication does not fail for it.
 */
export const lastUses = (storage: StorageApi, collection: "ingest_key_uses" | "platform_key_uses") => {
  const noted = new Map<string, number>()

  const write = Effect.fnUntraced(function* (keyId: string, nowMs: number) {
    const document = yield* storage.get(collection, keyId)
    if (document !== null && Number(document.body["lastUsedAtMs"]) > nowMs - USE_RESOLUTION_MS) return
    yield* storage.commit({
      puts: [
        {
          collection,
          id: keyId,
          expectedVersion: document?.version ?? 0,
          body: { lastUsedAtMs: instantMs(nowMs) }
        }
      ]
    })
  })

  return {
    note: (keyId: string, nowMs: number): Effect.Effect<void> | null => {
      if (nowMs - (noted.get(keyId) ?? Number.NEGATIVE_INFINITY) < USE_RESOLUTION_MS) return null
      noted.set(keyId, nowMs)
      return Effect.ignore(write(keyId, nowMs))
    },
    read: (keyId: string) =>
      Effect.map(storage.get(collection, keyId), (document) =>
        document === null ? null : Number(document.body["lastUsedAtMs"])
      )
  }
}
