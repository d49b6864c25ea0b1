/** Signs a kill status for one caller: freshness belongs to the reader. Spec: envelopes.md 3.10. */
import type { KillStatus } from "@flyball/contract"
import { type Crypto, formatInstant, killStatusBytes, toBase64, toHex, verifyEd25519 } from "@flyball/evidence"
import { Clock, Effect } from "effect"
import { heldKeys, type SignerApi } from "../../chain/keys/signer.ts"
import { logKeyId } from "../../chain/keys/signed-note.ts"
import { StorageCorrupt } from "../../storage/faults.ts"

/**
 * The status with the caller's nonce and the signature of the key that signs checkpoints.
 *
 * - Fails: `StorageCorrupt` where the signature does not verify: a signer that used another key than it names.
 */
export const signStatus = Effect.fnUntraced(function* (
  crypto: Crypto,
  signer: SignerApi,
  status: KillStatus,
  nonce: string
) {
  const { current } = yield* heldKeys(signer)
  const unsigned: KillStatus = {
    ...status,
    nonce,
    issued_at: formatInstant(yield* Clock.currentTimeMillis),
    key_id: toHex(logKeyId(crypto, current, status.origin))
  }
  const bytes = killStatusBytes(unsigned)
  const signature = yield* current.sign(bytes)
  return verifyEd25519(crypto, current.publicKey, bytes, signature)
    ? { ...unsigned, signature: toBase64(signature) }
    : yield* new StorageCorrupt({
        reason: "the signer returned a signature that its own public key does not verify; it was discarded"
      })
})
