/**
 * Checkpoints as documents: every one by its size, and the last one under a fixed name. Not governed: the replay
 * checker ignores them.
 */
import { formatInstant } from "@flyball/evidence"
import { Clock, Effect } from "effect"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import type { StorageUnavailable } from "../../storage/faults.ts"
import type { Document, ReadFault, StorageApi } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import { instantMs } from "../../storage/store-time.ts"

/** A signed tree head. Spec: format 1 section 4. */
export interface Checkpoint {
  readonly size: number
  /** 64 lower-case hex digits. */
  readonly rootHex: string
  /** The signed note. Spec: chain-format section 4. */
  readonly note: string
}

/** Collection of the checkpoints. */
export const CHECKPOINTS = "checkpoints"

/** Id of the copy of the last one; it sorts after all sizes. */
const LATEST = "latest"

/** Id of the checkpoint of this size: 16 digits, so that ids sort by size. */
export const checkpointId = (size: number): string => String(size).padStart(16, "0")

/** The checkpoint of the greatest size; null before the first. Spec: format 1 section 4. */
export const latestCheckpoint = (storage: StorageApi): Effect.Effect<Checkpoint | null, ReadFault> =>
  Effect.map(storage.get(CHECKPOINTS, LATEST), readDocument)

/** The checkpoint of exactly this size; null when none was made there. */
export const checkpointOf = (storage: StorageApi, size: number): Effect.Effect<Checkpoint | null, ReadFault> =>
  Effect.map(storage.get(CHECKPOINTS, checkpointId(size)), readDocument)

/** The checkpoint of the smallest size that covers this record; null when none does. */
export const firstCovering = (storage: StorageApi, seq: number): Effect.Effect<Checkpoint | null, ReadFault> =>
  Effect.map(storage.list(CHECKPOINTS, { after: checkpointId(seq), limit: 1 }), ([document]) => {
    // Behind the last size comes the copy of the last one, which may not reach that far.
    const checkpoint = readDocument(document ?? null)
    return checkpoint !== null && checkpoint.size > seq ? checkpoint : null
  })

/**
 * Stores a checkpoint and queues its event once. Another process may have stored a later one meanwhile: then `latest`
 * stays.
 *
 * It writes no record, and neither do the deliveries of its event: a checkpoint never makes another one due.
 */
export const storeCheckpoint = (
  storage: StorageApi,
  checkpoint: Checkpoint
): Effect.Effect<void, ReadFault | StorageUnavailable> =>
  commitWithRetry(
    storage,
    Effect.gen(function* () {
      const latest = yield* storage.get(CHECKPOINTS, LATEST)
      const same = yield* storage.get(CHECKPOINTS, checkpointId(checkpoint.size))
      const isLater = latest === null || Number(latest.body["size"]) < checkpoint.size
      const body = { size: checkpoint.size, root: checkpoint.rootHex, note: checkpoint.note }
      const puts = [
        ...(same === null
          ? [{ collection: CHECKPOINTS, id: checkpointId(checkpoint.size), expectedVersion: 0, body }]
          : []),
        ...(isLater ? [{ collection: CHECKPOINTS, id: LATEST, expectedVersion: latest?.version ?? 0, body }] : [])
      ]
      const signedAt = formatInstant(instantMs(Math.floor(yield* Clock.currentTimeMillis)))
      const events =
        same === null
          ? [
              event("chain.checkpoint", {
                tree_size: checkpoint.size,
                root_hash: `sha256:${checkpoint.rootHex}`,
                signed_at: signedAt,
                note: checkpoint.note
              })
            ]
          : []
      if (puts.length > 0) yield* storage.commit({ puts, events })
    })
  )

const readDocument = (document: Document | null): Checkpoint | null => {
  if (document === null) return null
  const { note, root, size } = document.body
  return { size: Number(size), rootHex: String(root), note: String(note) }
}
