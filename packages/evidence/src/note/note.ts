/** Signed notes: a text and signature lines. Spec: C2SP signed-note. */
import { concatBytes, fromBase64, fromUtf8, toBase64, utf8 } from "../bytes.ts"
import { isKeyName } from "./vkey.ts"

/**
 * Bytes of a note: room for 100 post-quantum signatures, and a bound on what a hostile note can make us do. Spec:
 * format 1 section 4.
 */
export const MAX_NOTE_BYTES = 1024 * 1024
/** Most signature lines of a note. C2SP requires at least 16. Spec: format 1 section 4. */
export const MAX_NOTE_SIGNATURES = 100

/**
 * One signature line. The first four bytes of what it carries are the key id, the rest belongs to the signature type.
 */
export interface NoteSignature {
  readonly name: string
  readonly keyId: Uint8Array
  readonly signature: Uint8Array
}

/**
 * A note. What is signed is `textBytes`: everything up to and including the newline before the empty line. Spec: format
 * 1 section 4; C2SP signed-note.
 */
export interface Note {
  readonly text: string
  readonly textBytes: Uint8Array
  readonly signatures: ReadonlyArray<NoteSignature>
}

/** A note, or why the bytes are none. */
export type NoteResult = { readonly ok: true; readonly note: Note } | { readonly ok: false; readonly reason: string }

/**
 * Reads a signed note. It knows nothing of origins or trees, and verifies nothing.
 *
 * - Fails: never; the reason says what was expected.
 * - Spec: format 1 section 4; C2SP signed-note.
 */
export const parseNote = (bytes: Uint8Array): NoteResult => {
  if (bytes.length > MAX_NOTE_BYTES) return no(`a note has at most ${MAX_NOTE_BYTES} bytes`)
  const all = fromUtf8(bytes)
  if (all === null) return no("a note is well-formed UTF-8")
  if (CONTROL.test(all)) return no("a note holds no control characters but newlines")
  const gap = all.lastIndexOf("\n\n")
  if (gap < 0) return no("an empty line stands between the text of a note and its signatures")
  const text = all.slice(0, gap + 1)
  const lines = all.slice(gap + 2)
  if (lines === "" || !lines.endsWith("\n")) return no("a note ends with at least one signature line")
  const signatures: Array<NoteSignature> = []
  for (const line of lines.slice(0, -1).split("\n")) {
    if (signatures.length === MAX_NOTE_SIGNATURES)
      return no(`a note has at most ${MAX_NOTE_SIGNATURES} signature lines`)
    const signature = parseSignatureLine(line)
    if (signature === null) return no("a signature line is an em dash, a key name and base64, one space between them")
    signatures.push(signature)
  }
  return { ok: true, note: { text, textBytes: utf8(text), signatures } }
}

/**
 * The note of a text and its signature lines, as {@link signatureLine} makes them. Spec: format 1 section 4; C2SP
 * signed-note.
 */
export const formatNote = (text: string, lines: ReadonlyArray<string>): string => `${text}\n${lines.join("")}`

/** One signature line, its newline included. Spec: format 1 section 4; C2SP signed-note. */
export const signatureLine = (name: string, keyId: Uint8Array, signature: Uint8Array): string =>
  `${EM_DASH} ${name} ${toBase64(concatBytes(keyId, signature))}\n`

const EM_DASH = "\u2014"
// eslint-disable-next-line no-control-regex -- finding control characters is the point
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/u
const KEY_ID_BYTES = 4

const parseSignatureLine = (line: string): NoteSignature | null => {
  const [dash, name, text, ...more] = line.split(" ")
  if (dash !== EM_DASH || name === undefined || text === undefined || more.length > 0 || !isKeyName(name)) return null
  const payload = fromBase64(text)
  if (payload === null || payload.length <= KEY_ID_BYTES) return null
  return { name, keyId: payload.subarray(0, KEY_ID_BYTES), signature: payload.subarray(KEY_ID_BYTES) }
}

const no = (reason: string): NoteResult => ({ ok: false, reason })
