/** The end of a rotation: the old key goes when the checkpoint with both signatures is stored, and not before. */
import type { Crypto } from "@flyball/evidence"
import { formatVkey } from "@flyball/evidence"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import { chainKeys, type KeySince, type Rotation, rotationsAmong } from "./keys/chain-keys.ts"
import { noteProblem } from "./keys/check-note.ts"
import { firstCovering } from "./check/checkpoints.ts"
import { heldKeys, type SignerApi } from "./keys/signer.ts"

/** Services that settling a rotation uses. */
export interface RotationParts {
  readonly storage: StorageApi
  readonly signer: SignerApi
  readonly crypto: Crypto
  readonly origin: string
}

/** Reports whether the first stored checkpoint that covers this rotation carries both signatures. */
export const isSignedByBoth = (
  storage: StorageApi,
  crypto: Crypto,
  origin: string,
  keys: ReadonlyArray<KeySince>,
  { fromVkey, seq, toVkey }: Rotation
) =>
  Effect.map(
    firstCovering(storage, seq),
    (checkpoint) =>
      checkpoint !== null &&
      noteProblem(crypto, { origin, known: keys.map(({ vkey }) => vkey), needed: [fromVkey, toVkey] }, checkpoint) ===
        null
  )

/**
 * Puts the next key in the place of the old one, when the chain names it and the first checkpoint that covers the
 * rotation carries both signatures.
 *
 * A crash before this leaves two keys, of which the chain names the second. Every signature checks for it, so the next
 * process that signs or starts comes here again.
 */
export const settleRotation: (parts: RotationParts) => Effect.Effect<void, ReadFault> = Effect.fnUntraced(function* ({
  crypto,
  origin,
  signer,
  storage
}: RotationParts) {
  const { rotation } = signer
  if (rotation === undefined) return
  const { next } = yield* heldKeys(signer)
  if (next === null) return
  const keys = yield* chainKeys(storage, crypto)
  const last = rotationsAmong(keys).at(-1)
  if (last === undefined || formatVkey(origin, next.publicKey) !== last.toVkey) return
  if (yield* isSignedByBoth(storage, crypto, origin, keys, last)) yield* rotation.promote(next.publicKey)
})
