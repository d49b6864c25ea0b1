/** Compares the keys of a signer with those that the chain names, when a chain is opened. */
import { formatVkey } from "@flyball/evidence"
import { Effect } from "effect"
import type { ReadFault } from "../storage/port.ts"
import { chainKeys, rotationsAmong } from "./keys/chain-keys.ts"
import { KeyRetired, RotationUnfinished } from "./keys/rotation-refusals.ts"
import { isSignedByBoth, type RotationParts } from "./settle-rotation.ts"
import { heldKeys } from "./keys/signer.ts"
import { KeyRefused } from "./keys/start-errors.ts"

/**
 * The vkey that the chain names, which this signer must hold.
 *
 * Between the record of a rotation and the checkpoint that both keys sign, both are needed. The checkpointer makes that
 * checkpoint at once, because `key.rotated` is urgent; after it the old key goes. A read-only process signs nothing,
 * and opens with the new key alone: a check must be able to report what is missing.
 *
 * - Fails: `KeyRefused`, `KeyRetired`, `RotationUnfinished`, and the store's faults.
 */
export const openKeys: (
  parts: RotationParts,
  readOnly: boolean
) => Effect.Effect<string, KeyRefused | KeyRetired | RotationUnfinished | ReadFault> = Effect.fnUntraced(function* (
  parts: RotationParts,
  readOnly: boolean
) {
  const { crypto, origin, signer, storage } = parts
  const keys = yield* chainKeys(storage, crypto)
  const expected = keys.at(-1)!.vkey
  const held = yield* heldKeys(signer)
  const current = formatVkey(origin, held.current.publicKey)
  const next = held.next === null ? null : formatVkey(origin, held.next.publicKey)
  const last = rotationsAmong(keys).at(-1)
  if (current !== expected && (last === undefined || next !== expected)) {
    const retired = last !== undefined && keys.some(({ vkey }) => vkey === current)
    return yield* retired
      ? new KeyRetired({ origin, seq: last.seq, expected, found: current })
      : new KeyRefused({ origin, expected, found: current })
  }
  if (last === undefined || readOnly) return expected
  if (current !== last.fromVkey && !(yield* isSignedByBoth(storage, crypto, origin, keys, last))) {
    return yield* new RotationUnfinished({ origin, seq: last.seq, missing: last.fromVkey })
  }
  return expected
})
