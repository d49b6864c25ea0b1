/**
 * The last two lines: the digest of all bytes before them, and the log's signature over it. Spec: format 1 sections 5
 * and 6.
 */
import { equalBytes, fromBase64, fromHex, toHex } from "../../bytes.ts"
import { parseDecimal } from "../../checkpoint/checkpoint.ts"
import type { Note } from "../../note/note.ts"
import { MAX_NOTE_BYTES, parseNote } from "../../note/note.ts"
import { HASH_BYTES, packNoteName } from "../../pack/format.ts"
import { base64Field, numberField, requireFields } from "./fields.ts"
import type { Findings } from "../findings.ts"
import { Unreadable } from "../../pack/unreadable.ts"
import type { PackCursor } from "../pack-lines.ts"

/** The Z line: checks it, and returns the digest that it states. */
export const readDigestLine = (findings: Findings, lines: PackCursor): Uint8Array => {
  const { line } = lines
  const fields = lines.fields()
  const digest = lines.digestBefore()
  requireFields(fields, 2, "Z <lines before> <sha256>")
  const count = numberField(fields, 0, "the number of lines before")
  const stated = fromHex(fields[1]!)
  if (stated === null || stated.length !== HASH_BYTES) {
    throw new Unreadable("E_FORMAT", "a SHA-256 as 64 lower-case hex digits", "something else")
  }
  if (count !== line - 1)
    findings.add("E_COUNT", { line, expected: `${line - 1} lines before this one`, found: `${count}` })
  if (!equalBytes(stated, digest)) {
    findings.add("E_PACK_DIGEST", { line, expected: `digest ${fields[1]}, as the pack states`, found: toHex(digest) })
  }
  return stated
}

/**
 * The N line, checked against origin, size and the digest in Z. Null when it is not the note of a pack: no signature on
 * it
 * then counts for this pack.
 */
export const readClosingLine = (
  findings: Findings,
  lines: PackCursor,
  expected: { readonly origin: string; readonly size: number; readonly digest: Uint8Array }
): Note | null => {
  const { line } = lines
  const fields = lines.fields()
  requireFields(fields, 1, "N <base64 of a note>")
  const bytes = base64Field(fields, 0, "a note")
  if (bytes.length > MAX_NOTE_BYTES) {
    throw new Unreadable("E_LIMIT", `a note of at most ${MAX_NOTE_BYTES} bytes`, `${bytes.length} bytes`)
  }
  const wrong = (found: string): null => {
    findings.add("E_PACK_SIG", { line, expected: "a signed note of three lines: name, tree size, digest", found })
    return null
  }
  const parsed = parseNote(bytes)
  if (!parsed.ok) return wrong("bytes that are no signed note")
  const [name = "", sizeText = "", digestText = "", ...more] = parsed.note.text.split("\n")
  const size = parseDecimal(sizeText)
  const digest = fromBase64(digestText)
  if (more.length !== 1 || size === null || digest === null || digest.length !== HASH_BYTES)
    return wrong("another text")
  const otherName = name !== packNoteName(expected.origin)
  const otherSize = size !== expected.size
  const otherDigest = !equalBytes(digest, expected.digest)
  // A text of three lines with neither the name nor the digest is about something else, such as a checkpoint.
  if (otherName && (otherSize || (otherDigest && !name.endsWith(packNoteName(""))))) return wrong("another text")
  if (otherName) findings.add("E_ORIGIN", { line, expected: packNoteName(expected.origin), found: "another name" })
  if (otherSize) findings.add("E_COUNT", { line, expected: `tree size ${expected.size}`, found: `${size}` })
  if (otherDigest) {
    const wanted = `a signature over digest ${toHex(expected.digest)}, as Z says`
    findings.add("E_PACK_DIGEST", { line, expected: wanted, found: toHex(digest) })
  }
  return parsed.note
}
