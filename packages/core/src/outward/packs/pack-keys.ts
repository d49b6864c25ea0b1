/** The key that closes a pack, and the keys that it hints at. */
import { formatVkey, MAX_HINTS } from "@flyball/evidence"
import { Effect } from "effect"
import { chainKeys, signingKeys, vkeyAt } from "../../chain/keys/chain-keys.ts"
import { latestCheckpoint } from "../../chain/check/checkpoints.ts"
import type { RotationParts } from "../../chain/settle-rotation.ts"

/**
 * The key that signs checkpoints now: the new one from the first checkpoint with both signatures on. While a rotation
 * waits for that checkpoint it is the old one.
 *
 * - Fails: `StorageUnavailable` when that key is not here.
 */
export const packKeys = ({ crypto, origin, signer, storage }: RotationParts) =>
  Effect.gen(function* () {
    const latest = yield* latestCheckpoint(storage)
    const keys = yield* chainKeys(storage, crypto)
    const [key] = yield* signingKeys(signer, origin, [vkeyAt(keys, latest?.size ?? 1)])
    return { signer: key!, vkeys: keys.slice(-MAX_HINTS).map(({ vkey }) => vkey) }
  }).pipe(
    // A rotation may have ended between the read of the checkpoint and the read of the keys.
    Effect.retry({ times: 1 })
  )

/**
 * Keys of a pack of a retired chain. If its own key was rotated away since, the current key closes the pack.
 *
 * A verifier that pins the old key finds the checkpoint good and the pack closed by an unknown key, and reports that.
 */
export const retiredPackKeys = (parts: RotationParts) =>
  Effect.catchTag(packKeys(parts), "StorageUnavailable", () =>
    Effect.map(chainKeys(parts.storage, parts.crypto), (keys) => ({
      signer: parts.signer,
      vkeys: [...keys.map(({ vkey }) => vkey), formatVkey(parts.origin, parts.signer.publicKey)].slice(-MAX_HINTS)
    }))
  )
