/** Which signature lines of a note verify, and which we cannot judge. */
import type { Crypto } from "../crypto.ts"
import { verifyEd25519 } from "../ed25519/strict.ts"
import { readCosignature } from "./cosignature.ts"
import type { Note, NoteSignature } from "./note.ts"
import { type Vkey, isSameKey, isVerifiable, signatureType } from "./vkey.ts"

/** A signature line with the known key that it names. */
export interface JudgedSignature {
  readonly line: NoteSignature
  readonly vkey: Vkey
  /** When a cosigner says that it signed, in seconds since 1970; null for other signatures. */
  readonly timeS: number | null
}

/** The lines of a note, sorted by the result of their verification. */
export interface NoteVerification {
  readonly verified: ReadonlyArray<JudgedSignature>
  /** Lines that name a known key and do not verify. */
  readonly bad: ReadonlyArray<JudgedSignature>
  /** Lines of unknown keys, and of keys whose type we do not verify. */
  readonly ignored: ReadonlyArray<NoteSignature>
}

/**
 * Verifies the lines of a note that name one of these keys. The caller decides what a bad or an ignored line means.
 *
 * - Spec: C2SP signed-note, "Signatures": unknown keys are ignored, a known key's line must verify.
 */
export const verifyNote = (crypto: Crypto, note: Note, vkeys: ReadonlyArray<Vkey>): NoteVerification => {
  const verified: Array<JudgedSignature> = []
  const bad: Array<JudgedSignature> = []
  const ignored: Array<NoteSignature> = []
  for (const line of note.signatures) {
    const named = vkeys.filter((vkey) => isVerifiable(vkey) && isSameKey(vkey, line))
    const first = named[0]
    if (first === undefined) {
      ignored.push(line)
      continue
    }
    // A name and a key id are only 32 bits of a key: of several that share them, one that verifies is the signer.
    const judged = named.map((vkey) => judge(crypto, note, line, vkey))
    const good = judged.find((one) => one.good)
    if (good !== undefined) verified.push(good.signature)
    else bad.push(judged[0]!.signature)
  }
  return { verified, bad, ignored }
}

const judge = (
  crypto: Crypto,
  note: Note,
  line: NoteSignature,
  vkey: Vkey
): { readonly good: boolean; readonly signature: JudgedSignature } => {
  if (vkey.type !== signatureType.cosignature) {
    return {
      good: verifyEd25519(crypto, vkey.publicKey, note.textBytes, line.signature),
      signature: { line, vkey, timeS: null }
    }
  }
  const cosignature = readCosignature(line.signature)
  if (cosignature === null) return { good: false, signature: { line, vkey, timeS: null } }
  const good = verifyEd25519(crypto, vkey.publicKey, cosignature.message(note.textBytes), cosignature.signature)
  return { good, signature: { line, vkey, timeS: cosignature.timeS } }
}
