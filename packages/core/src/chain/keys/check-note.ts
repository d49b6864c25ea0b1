/** Checks a stored checkpoint against the keys that must have signed it. Pure. */
import type { Crypto } from "@flyball/evidence"
import { parseCheckpoint, parseNote, parseVkey, toHex, utf8, type Vkey, verifyNote } from "@flyball/evidence"
import { keyIdText } from "./chain-keys.ts"
import type { Checkpoint } from "../check/checkpoints.ts"

/** Whose signatures a note may and must carry. */
export interface ExpectedSigners {
  readonly origin: string
  /** All keys of the chain: a line by one of them that does not verify is never right. */
  readonly known: ReadonlyArray<string>
  /** The keys that must have signed. */
  readonly needed: ReadonlyArray<string>
}

/**
 * Why a stored checkpoint note does not say what its document says, signed by the keys that must sign it; null when it
 * does.
 */
export const noteProblem = (
  crypto: Crypto,
  { known, needed, origin: name }: ExpectedSigners,
  checkpoint: Checkpoint
): string | null => {
  const note = parseNote(utf8(checkpoint.note))
  if (!note.ok) return note.reason
  const text = parseCheckpoint(note.note.text)
  if (!text.ok) return text.reason
  const { origin, root, size } = text.checkpoint
  if (origin !== name || size !== checkpoint.size || toHex(root) !== checkpoint.rootHex)
    return "a note about another tree"
  const { bad, verified } = verifyNote(crypto, note.note, vkeysOf([...new Set([...known, ...needed])]))
  if (bad.length > 0) return "a signature that does not verify"
  const signed = new Set(verified.map(({ vkey }) => toHex(vkey.publicKey)))
  const missing = needed.find((vkey) => !vkeysOf([vkey]).some(({ publicKey }) => signed.has(toHex(publicKey))))
  if (missing === undefined) return null
  return signed.size === 0 ? "no signature by a key of this chain" : `no signature by the key ${keyIdText(missing)}`
}

const vkeysOf = (texts: ReadonlyArray<string>): ReadonlyArray<Vkey> =>
  texts.flatMap((text) => {
    const parsed = parseVkey(text)
    return parsed.ok ? [parsed.vkey] : []
  })
