/**
 * Signs for the current head: guard first, then the signature, then the document.
 *
 * Spec: chain-format section 4, "Signing guard". A crash before the guard moved leaves nothing. A crash after it,
 * before the document is stored, leaves a guard
 * ahead of the documents: the next signing is for the same state (Ed25519 gives the same bytes again) or for a later,
 * consistent one.
 *
 * Who must sign is read from the records that the head covers and the last stored checkpoint: where a rotation lies
 * between them, both keys. All of them must be
 * here before the guard moves; none signs without the others.
 */
import type { Crypto } from "@flyball/evidence"
import { formatCheckpoint, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { counterBy } from "../foundation/metrics.ts"
import { MAX_ATTEMPTS } from "../storage/commit-with-retry.ts"
import { StorageCorrupt, StorageUnavailable } from "../storage/faults.ts"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import { alarmOfSigning } from "./alarm.ts"
import { chainKeys, signingKeys, vkeysToSign } from "./keys/chain-keys.ts"
import { type Checkpoint, latestCheckpoint, storeCheckpoint } from "./check/checkpoints.ts"
import type { GuardApi, SignedState } from "./keys/guard.ts"
import { rehashedRoot } from "./check/rehash.ts"
import { settleRotation } from "./settle-rotation.ts"
import type { SignerApi } from "./keys/signer.ts"
import { signedNote } from "./keys/signed-note.ts"
import { GuardBehindStore, GuardRefused, StoreBehindGuard } from "./keys/start-errors.ts"

const checkpoints = counterBy(
  "flyball_checkpoints_total",
  "Checkpoints that this process signed and stored, and attempts that failed.",
  "outcome",
  ["signed", "failed"]
)

/** Services that signing uses. */
export interface SigningParts {
  readonly storage: StorageApi
  readonly signer: SignerApi
  readonly guard: GuardApi
  readonly crypto: Crypto
  readonly origin: string
}

const UNSETTLED =
  "The signing key was rotated and both keys have signed, but the old one could not be destroyed. It is tried " +
  "again at the next checkpoint."

/**
 * Makes the checkpoint of the head as it is now, or answers the stored one when nothing is new.
 *
 * - Fails: `StorageCorrupt` where store and guard contradict each other. What stops a start stops a signature too, and
 *   an operator must intervene.
 */
export const signHead = (parts: SigningParts): Effect.Effect<Checkpoint, ReadFault> =>
  Effect.gen(function* () {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const made = yield* attemptOnce(parts)
      if (made !== null) return made
    }
    return yield* new StorageUnavailable({
      reason: `other processes moved the signing guard ${MAX_ATTEMPTS} times in a row`,
      wrote: "no"
    })
  }).pipe(
    Effect.catchTag(["GuardBehindStore", "GuardRefused", "GuardDisagrees", "StoreBehindGuard"], (refusal) =>
      Effect.fail(new StorageCorrupt({ reason: `nothing can be signed. ${refusal.message}`, cause: refusal }))
    ),
    Effect.tapError((fault) => Effect.andThen(checkpoints.failed.one, alarmOfSigning(parts.storage, fault)))
  )

/** One attempt; null when another holder moved the guard meanwhile. */
const attemptOnce = Effect.fnUntraced(function* ({ crypto, guard, origin, signer, storage }: SigningParts) {
  // In this order: checkpoint, guard and head only go forward, each at or behind the next.
  const latest = yield* latestCheckpoint(storage)
  const signed = yield* guard.read
  const head = yield* storage.head
  const size = (head?.seq ?? -1) + 1
  if (signed !== null && signed.origin !== origin)
    return yield* new GuardRefused({ expected: origin, found: signed.origin })
  if (latest !== null && latest.size > (signed?.size ?? 0))
    return yield* new GuardBehindStore({ origin, signed: latest.size, guarded: signed?.size ?? 0 })
  if (signed !== null && size < signed.size)
    return yield* new StoreBehindGuard({ origin, signed: signed.size, stored: size })
  if (size === 0) return yield* new StorageCorrupt({ reason: "there is no record to sign for" })
  const root = yield* rehashedRoot(storage, crypto, signed, origin, size)
  if (latest !== null && latest.size === size && latest.rootHex === toHex(root)) return latest
  const keys = yield* signingKeys(
    signer,
    origin,
    vkeysToSign(yield* chainKeys(storage, crypto), latest?.size ?? 0, size)
  ).pipe(
    // Another process may have finished a rotation since the last checkpoint was read; the old key is then gone, and no
    // longer needed.
    Effect.catchTag("StorageUnavailable", (missing) =>
      Effect.flatMap(latestCheckpoint(storage), (now) =>
        (now?.size ?? 0) === (latest?.size ?? 0) ? Effect.fail(missing) : Effect.succeed(null)
      )
    )
  )
  if (keys === null) return null
  const next: SignedState = { origin, size, rootHex: toHex(root) }
  if (!(yield* guard.advance(signed, next))) return null
  const note = yield* signedNote(crypto, keys, origin, formatCheckpoint({ origin, size, root }))
  const checkpoint: Checkpoint = { size, rootHex: next.rootHex, note }
  yield* storeCheckpoint(storage, checkpoint)
  yield* checkpoints.signed.one
  // What failed here is done by the next process that signs or starts; the checkpoint is good.
  if (keys.at(-1) !== signer)
    yield* settleRotation({ storage, signer, crypto, origin }).pipe(
      Effect.catch((fault) => Effect.logError(UNSETTLED, fault))
    )
  return checkpoint
})
