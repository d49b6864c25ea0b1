/** Makes C2SP signed notes with the log's key. */
import type { Crypto } from "@flyball/evidence"
import { formatNote, keyIdOf, signatureLine, utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import type { SignerApi } from "./signer.ts"

/** Signature type of plain Ed25519. Spec: chain-format section 4. */
const ED25519 = 0x01

/** The key id of the log's key under this origin. */
export const logKeyId = (crypto: Crypto, signer: SignerApi, origin: string): Uint8Array => keyIdOf(crypto, origin, ED25519, signer.publicKey)

/** The note with this text, signed by the log. The key name is the origin. */
export const signedNote = (crypto: Crypto, signer: SignerApi, origin: string, text: string) =>
  Effect.map(signer.sign(utf8(text)), (signature) => formatNote(text, [signatureLine(origin, logKeyId(crypto, signer, origin), signature)]))
