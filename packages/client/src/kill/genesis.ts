/**
 * Record 0 of a chain, proved: who signs for it, and which chain it follows after a recovery. Pure.
 *
 * Spec: SPEC.md of the evidence package, sections 3 and 4, and the part `previous` of `chain.genesis`.
 */
import {
  fromBase64,
  fromHex,
  parseCheckpoint,
  parseNote,
  parsePrevious,
  parseVkey,
  portableCrypto,
  PREVIOUS,
  readRecord,
  SALT_BYTES,
  toHex,
  utf8,
  verifyInclusion,
  verifyNote
} from "@flyball/evidence"

/** Contents of a proved genesis record. */
export interface Genesis {
  readonly origin: string
  /** The chain that this one follows; null where it is the first one. */
  readonly previousOrigin: string | null
  /** The public keys, in hex, that signed the checkpoint over it. */
  readonly signers: ReadonlySet<string>
}

/** Reads an answer of GET /chain/genesis; null where anything in it is not proved by a signature. */
export const readGenesis = (answer: unknown): Genesis | null => {
  if (!isGenesis(answer)) return null
  const note = parseNote(utf8(answer.checkpoint))
  const checkpoint = note.ok ? parseCheckpoint(note.note.text) : null
  if (!note.ok || checkpoint === null || !checkpoint.ok || checkpoint.checkpoint.origin !== answer.origin) return null
  const vkeys = answer.vkeys.flatMap((text) => {
    const parsed = parseVkey(text)
    return parsed.ok && parsed.vkey.name === answer.origin ? [parsed.vkey] : []
  })
  const { verified } = verifyNote(portableCrypto, note.note, vkeys)
  const bytes = utf8(answer.record)
  const record = readRecord(bytes)
  if (verified.length === 0 || !record.ok) return null
  const { body, kind, parts, seq } = record.record
  const proof = answer.proof.map(hashIn)
  if (kind !== "chain.genesis" || seq !== 0 || body["origin"] !== answer.origin || proof.includes(null)) return null
  const { root, size } = checkpoint.checkpoint
  const claim = { seq: 0, size, leaf: portableCrypto.leafHash(bytes), proof: proof as Array<Uint8Array>, root }
  if (!verifyInclusion(portableCrypto, claim)) return null
  const previousOrigin = originBefore(parts, answer.previous)
  if (previousOrigin === undefined) return null
  return {
    origin: answer.origin,
    previousOrigin,
    signers: new Set(verified.map(({ vkey }) => toHex(vkey.publicKey)))
  }
}

/** The chain before, as the part says that record 0 committed to; undefined where it says something else. */
const originBefore = (
  parts: ReadonlyArray<{ readonly name: string; readonly c: string }>,
  shown: Shown["previous"]
): string | null | undefined => {
  const committed = parts.find(({ name }) => name === PREVIOUS)
  if (committed === undefined) return shown === null ? null : undefined
  const [salt, bytes] = [fromBase64(shown?.salt ?? ""), fromBase64(shown?.bytes ?? "")]
  if (salt === null || salt.length !== SALT_BYTES || bytes === null) return undefined
  return toHex(portableCrypto.commitment(salt, PREVIOUS, bytes)) === committed.c
    ? parsePrevious(bytes)?.origin
    : undefined
}

const hashIn = (text: string): Uint8Array | null => {
  const hex = /^sha256:([0-9a-f]{64})$/.exec(text)?.[1]
  return hex === undefined ? null : fromHex(hex)
}

interface Shown {
  readonly origin: string
  readonly record: string
  readonly previous: { readonly salt: string; readonly bytes: string } | null
  readonly checkpoint: string
  readonly proof: ReadonlyArray<string>
  readonly vkeys: ReadonlyArray<string>
}

const isGenesis = (answer: unknown): answer is Shown => {
  if (typeof answer !== "object" || answer === null) return false
  const { checkpoint, origin, previous, proof, record, vkeys } = answer as { readonly [name: string]: unknown }
  return (
    [checkpoint, origin, record].every((one) => typeof one === "string") &&
    [proof, vkeys].every((one) => Array.isArray(one) && one.every((item) => typeof item === "string")) &&
    (previous === null ||
      (typeof previous === "object" &&
        typeof (previous as { readonly salt?: unknown }).salt === "string" &&
        typeof (previous as { readonly bytes?: unknown }).bytes === "string"))
  )
}
