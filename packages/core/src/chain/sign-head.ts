/**
 * Signs for the current head: guard first, then the signature, then the document.
 *
 * Spec: chain-format section 4, "Signing guard". A crash before the guard moved leaves nothing. A crash after it, before the document is stored, leaves a guard
 * ahead of the documents: the next signing is for the same state (Ed25519 gives the same bytes again) or for a later, consistent one.
 */
import type { Crypto } from "@flyball/evidence"
import { formatCheckpoint, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { MAX_ATTEMPTS } from "../commit-planned.ts"
import { StorageCorrupt, StorageUnavailable } from "../storage/faults.ts"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import { type Checkpoint, latestCheckpoint, storeCheckpoint } from "./checkpoints.ts"
import type { GuardApi, SignedState } from "./guard.ts"
import { rehashedRoot } from "./rehash.ts"
import type { SignerApi } from "./signer.ts"
import { signedNote } from "./signed-note.ts"
import { GuardBehindStore, GuardRefused, StoreBehindGuard } from "./start-errors.ts"

/** What signing needs. */
export interface SigningParts {
  readonly storage: StorageApi
  readonly signer: SignerApi
  readonly guard: GuardApi
  readonly crypto: Crypto
  readonly origin: string
}

/**
 * Makes the checkpoint of the head as it is now, or answers the stored one when nothing is new.
 *
 * - Fails: `StorageCorrupt` where store and guard contradict each other: what stops a start stops a signature too, and a person must look.
 */
export const signHead = (parts: SigningParts): Effect.Effect<Checkpoint, ReadFault> =>
  Effect.gen(function*() {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const made = yield* attemptOnce(parts)
      if (made !== null) return made
    }
    return yield* new StorageUnavailable({ reason: `other processes moved the signing guard ${MAX_ATTEMPTS} times in a row`, wrote: "no" })
  }).pipe(Effect.catchTag(["GuardBehindStore", "GuardRefused", "GuardDisagrees", "StoreBehindGuard"], (refusal) =>
    Effect.fail(new StorageCorrupt({ reason: `nothing can be signed. ${refusal.message}`, cause: refusal }))))

/** One attempt; null when another holder moved the guard meanwhile. */
const attemptOnce = Effect.fnUntraced(function*({ crypto, guard, origin, signer, storage }: SigningParts) {
  // In this order: checkpoint, guard and head only go forward, each at or behind the next.
  const latest = yield* latestCheckpoint(storage)
  const signed = yield* guard.read
  const head = yield* storage.head
  const size = (head?.seq ?? -1) + 1
  if (signed !== null && signed.origin !== origin) return yield* new GuardRefused({ expected: origin, found: signed.origin })
  if (latest !== null && latest.size > (signed?.size ?? 0)) return yield* new GuardBehindStore({ origin, signed: latest.size, guarded: signed?.size ?? 0 })
  if (signed !== null && size < signed.size) return yield* new StoreBehindGuard({ origin, signed: signed.size, stored: size })
  if (size === 0) return yield* new StorageCorrupt({ reason: "there is no record to sign for" })
  const root = yield* rehashedRoot(storage, crypto, signed, origin, size)
  if (latest !== null && latest.size === size && latest.rootHex === toHex(root)) return latest
  const next: SignedState = { origin, size, rootHex: toHex(root) }
  if (!(yield* guard.advance(signed, next))) return null
  const note = yield* signedNote(crypto, signer, origin, formatCheckpoint({ origin, size, root }))
  const checkpoint: Checkpoint = { size, rootHex: next.rootHex, note }
  yield* storeCheckpoint(storage, checkpoint)
  return checkpoint
})
