/**
 * Rotates the signing key, in steps of which each is durable and may come again.
 *
 * 1. The signer makes the next key. A crash leaves a key that nothing names; the next rotation takes it.
 * 2. The record `key.rotated` names it. From here on no checkpoint that covers the record is signed without both keys.
 * 3. The first checkpoint that covers it is signed by both.
 * 4. The next key takes the place of the old one, which is destroyed.
 *
 * After a crash behind step 2 the next process that signs or starts does the rest: the checkpointer signs for
 * `key.rotated` at once, and settles.
 *
 * Spec: chain-format section 4, "Rotation"; decision 0011.
 */
import { formatVkey } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"
import { commitWithRetry } from "../storage/commit-with-retry.ts"
import { StorageCorrupt } from "../storage/faults.ts"
import { type ReadFault, Storage } from "../storage/port.ts"
import { Chain } from "./chain.ts"
import { chainKeys, type Rotation, rotationsAmong } from "./keys/chain-keys.ts"
import { Checkpointer } from "./checkpointer.ts"
import { type Checkpoint, firstCovering } from "./check/checkpoints.ts"
import { EvidenceCrypto } from "../foundation/crypto.ts"
import { planRotate } from "./plan-rotate.ts"
import { RotationRefused } from "./keys/rotation-refusals.ts"
import { isSignedByBoth, settleRotation } from "./settle-rotation.ts"
import { heldKeys, Signer } from "./keys/signer.ts"

/** Result of a rotation. Spec: format 1 section 4, "Rotation"; decision 0011. */
export interface Rotated extends Rotation {
  /** The first checkpoint that covers the record, with both signatures. */
  readonly checkpoint: Checkpoint
}

/** Operations of key rotation. Spec: format 1 section 4, "Rotation"; decision 0011. */
export interface KeyRotationApi {
  /**
   * Makes a new signing key and retires the old one. While a rotation is unfinished, by whomever it was begun, this
   * finishes it and begins none.
   *
   * - Fails: `RotationRefused`; `StorageUnavailable` where a step could not be done. The same call again continues
   *   where it stopped.
   */
  readonly rotate: Effect.Effect<Rotated, RotationRefused | ReadFault>
  /** The last rotation that a checkpoint covers; null before the first. */
  readonly last: Effect.Effect<Rotated | null, ReadFault>
}

/** Service that rotates the signing key. Spec: format 1 section 4, "Rotation"; decision 0011. */
export class KeyRotation extends Context.Service<KeyRotation, KeyRotationApi>()("flyball/core/KeyRotation") {
  /** With `readOnly` every rotation is refused. */
  static readonly layer = (
    options: { readonly readOnly?: boolean } = {}
  ): Layer.Layer<KeyRotation, never, Chain | Checkpointer | Signer | Storage> =>
    options.readOnly === true
      ? Layer.effect(
          KeyRotation,
          Effect.map(make, ({ last }) => ({ last, rotate: Effect.fail(readOnlyRefused) }))
        )
      : Layer.effect(KeyRotation, make)
}

const readOnlyRefused = new RotationRefused({
  reason: "this process may only read. Rotate where the chain is written."
})

const make = Effect.gen(function* () {
  const chain = yield* Chain
  const checkpointer = yield* Checkpointer
  const signer = yield* Signer
  const storage = yield* Storage
  const crypto = yield* EvidenceCrypto
  const { origin } = chain
  const parts = { crypto, origin, signer, storage }

  /** The last rotation, if its checkpoint is missing yet. */
  const unfinished = Effect.gen(function* () {
    const keys = yield* chainKeys(storage, crypto)
    const last = rotationsAmong(keys).at(-1)
    return last === undefined || (yield* firstCovering(storage, last.seq)) !== null ? null : last
  })

  /** Steps 1 and 2. */
  const begin = Effect.gen(function* () {
    const { rotation } = signer
    if (rotation === undefined)
      return yield* new RotationRefused({
        reason: "this signer has one fixed key. Use a data folder, or a signer that can hold two keys."
      })
    // A step 4 that was cut short comes first: the next key is then the current one.
    yield* settleRotation(parts)
    yield* rotation.prepare
    const seq = yield* commitWithRetry(
      storage,
      Effect.gen(function* () {
        const { current, next } = yield* heldKeys(signer)
        const held = {
          current: formatVkey(origin, current.publicKey),
          next: next === null ? null : formatVkey(origin, next.publicKey)
        }
        const receipt = yield* storage.commit(
          yield* Effect.fromResult(planRotate(crypto, yield* chainKeys(storage, crypto), held))
        )
        return receipt.records[0]!.seq
      })
    )
    return rotationsAmong(yield* chainKeys(storage, crypto)).find((rotation) => rotation.seq === seq)!
  })

  const rotate = Effect.gen(function* () {
    const rotation = (yield* unfinished) ?? (yield* begin)
    yield* checkpointer.now
    yield* settleRotation(parts)
    const keys = yield* chainKeys(storage, crypto)
    const checkpoint = yield* firstCovering(storage, rotation.seq)
    if (checkpoint === null || !(yield* isSignedByBoth(storage, crypto, origin, keys, rotation))) {
      return yield* new StorageCorrupt({
        reason:
          `the first checkpoint that covers the key rotation in record ${rotation.seq} does not carry ` +
          "both signatures. The old key was kept. Run a check"
      })
    }
    // What the chain answers as its vkey follows its records.
    yield* chain.keys
    return { ...rotation, checkpoint }
  })

  const last = Effect.gen(function* () {
    for (const rotation of rotationsAmong(yield* chainKeys(storage, crypto)).toReversed()) {
      const checkpoint = yield* firstCovering(storage, rotation.seq)
      if (checkpoint !== null) return { ...rotation, checkpoint }
    }
    return null
  })

  return KeyRotation.of({ rotate, last })
})
