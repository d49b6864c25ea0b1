/**
 * The last two lines: the digest of everything before them, and the log's signature over it. Spec: format 1 sections 5
 * and 6.
 */
import { equalBytes, fromBase64, fromHex, toHex } from "../bytes.ts"
import { parseDecimal } from "../checkpoint/checkpoint.ts"
import type { Note } from "../note/note.ts"
import { MAX_NOTE_BYTES, parseNote } from "../note/note.ts"
import { HASH_BYTES, packNoteName } from "../pack/format.ts"
import { base64Field, fieldsOf, numberField, requireFields } from "./fields.ts"
import type { Findings } from "./findings.ts"
import { Unreadable } from "./findings.ts"

/** The Z line: checks it, and returns the digest that it names. */
export const readDigestLine = (
  findings: Findings,
  fields: ReadonlyArray<string>,
  line: number,
  digest: Uint8Array
): Uint8Array => {
  requireFields(fields, 2, "Z <lines before> <sha256>")
  const lines = numberField(fields, 0, "the number of lines before")
  const stated = fromHex(fields[1]!)
  if (stated === null || stated.length !== HASH_BYTES)
    throw new Unreadable("E_FORMAT", "a SHA-256 as 64 lower-case hex digits", "something else")
  if (lines !== line - 1)
    findings.add("E_COUNT", { line, expected: `${line - 1} lines before this one`, found: `${lines}` })
  if (!equalBytes(stated, digest))
    findings.add("E_PACK_DIGEST", {
      line,
      expected: `digest ${fields[1]}, as the pack states`,
      found: `${toHex(digest)}`
    })
  return stated
}

/**
 * What the N line holds; no note when it is not the note of a pack at all, since no signature on it then counts for
 * this pack.
 */
export interface Closing {
  readonly note: Note | null
}

/** The N line against origin, size and the digest in Z. */
export const readClosingLine = (
  findings: Findings,
  payload: { readonly bytes: Uint8Array; readonly start: number; readonly end: number; readonly line: number },
  expected: { readonly origin: string; readonly size: number; readonly digest: Uint8Array }
): Closing => {
  const { line } = payload
  const fields = fieldsOf(payload.bytes, payload.start, payload.end)
  requireFields(fields, 1, "N <base64 of a note>")
  const bytes = base64Field(fields, 0, "a note")
  if (bytes.length > MAX_NOTE_BYTES)
    throw new Unreadable("E_LIMIT", `a note of at most ${MAX_NOTE_BYTES} bytes`, `${bytes.length} bytes`)
  const wrong = (found: string): Closing => {
    findings.add("E_PACK_SIG", { line, expected: "a signed note of three lines: name, tree size, digest", found })
    return { note: null }
  }
  const parsed = parseNote(bytes)
  if (!parsed.ok) return wrong("bytes that are no signed note")
  const lines = parsed.note.text.split("\n")
  const [name = "", sizeText = "", digestText = ""] = lines
  const size = parseDecimal(sizeText)
  const digest = fromBase64(digestText)
  if (lines.length !== 4 || size === null || digest === null || digest.length !== HASH_BYTES)
    return wrong("another text")
  const otherName = name !== packNoteName(expected.origin)
  const otherSize = size !== expected.size
  const otherDigest = !equalBytes(digest, expected.digest)
  // A text of three lines that has neither the name nor the digest is about something else: a checkpoint, say.
  if (otherName && (otherSize || (otherDigest && !name.endsWith(packNoteName(""))))) return wrong("another text")
  if (otherName) findings.add("E_ORIGIN", { line, expected: packNoteName(expected.origin), found: "another name" })
  if (otherSize) findings.add("E_COUNT", { line, expected: `tree size ${expected.size}`, found: `${size}` })
  if (otherDigest)
    findings.add("E_PACK_DIGEST", {
      line,
      expected: `a signature over digest ${toHex(expected.digest)}, as Z says`,
      found: toHex(digest)
    })
  return { note: parsed.note }
}
