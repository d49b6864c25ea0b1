/** Makes C2SP signed notes with the log's key, or with both keys of a rotation. */
import type { Crypto } from "@flyball/evidence"
import { formatNote, keyIdOf, signatureLine, utf8, verifyEd25519 } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt, type StorageUnavailable } from "../../storage/faults.ts"
import type { SigningKey } from "./signer.ts"

/** Signature type of plain Ed25519. Spec: chain-format section 4. */
const ED25519 = 0x01

/** The key id of a log's key under this origin. */
export const logKeyId = (crypto: Crypto, key: SigningKey, origin: string): Uint8Array =>
  keyIdOf(crypto, origin, ED25519, key.publicKey)

/**
 * The note with this text, one line for each key, in their order. The key name is the origin.
 *
 * - Fails: `StorageCorrupt` when a signature does not verify: a signer that used another key than it names, or a fault
 *   in the computation. Nobody gets it then.
 */
export const signedNote = (
  crypto: Crypto,
  keys: ReadonlyArray<SigningKey>,
  origin: string,
  text: string
): Effect.Effect<string, StorageCorrupt | StorageUnavailable> =>
  Effect.map(
    Effect.forEach(keys, (key) =>
      Effect.flatMap(key.sign(utf8(text)), (signature) =>
        verifyEd25519(crypto, key.publicKey, utf8(text), signature)
          ? Effect.succeed(signatureLine(origin, logKeyId(crypto, key, origin), signature))
          : Effect.fail(
              new StorageCorrupt({
                reason: "the signer returned a signature that its own public key does not verify; it was discarded"
              })
            )
      )
    ),
    (lines) => formatNote(text, lines)
  )
