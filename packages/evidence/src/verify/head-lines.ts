/**
 * The lines before the records: origin, checkpoints, tokens, hints. Each throws `Unreadable` where it cannot be read.
 */
import { fromUtf8 } from "../bytes.ts"
import type { Checkpoint } from "../checkpoint/checkpoint.ts"
import { isOrigin, parseCheckpoint } from "../checkpoint/checkpoint.ts"
import type { Note } from "../note/note.ts"
import { MAX_NOTE_BYTES, parseNote } from "../note/note.ts"
import type { Vkey } from "../note/vkey.ts"
import { parseVkey } from "../note/vkey.ts"
import type { PackHeader } from "../pack/format.ts"
import { MAX_HINT_BYTES, PACK_FORMAT } from "../pack/format.ts"
import { readHeader } from "../pack/header.ts"
import { base64Field, fieldsOf, requireFields } from "./fields.ts"
import { Unreadable } from "./findings.ts"

/** A checkpoint note as it stands in a pack. */
export interface PackCheckpoint extends Checkpoint {
  readonly note: Note
  readonly line: number
}

/** The origin out of `evidence-pack/v1 <origin>`. */
export const readFirstLine = (bytes: Uint8Array, start: number, end: number): string => {
  const text = fromUtf8(bytes.subarray(start, end)) ?? ""
  const [format = "", origin = "", ...more] = text.split(" ")
  if (format !== PACK_FORMAT) {
    const version = /^evidence-pack\/v([1-9][0-9]{0,8})$/.exec(format)
    if (version !== null) throw new Unreadable("E_VERSION", PACK_FORMAT, `evidence-pack/v${version[1]}`)
    throw new Unreadable(
      "E_FORMAT",
      `a first line that starts with ${PACK_FORMAT}`,
      "something else: this is not an evidence pack"
    )
  }
  if (more.length > 0 || !isOrigin(origin))
    throw new Unreadable(
      "E_FORMAT",
      "an origin of 1 to 255 printable ASCII characters, no space, no +",
      "something else"
    )
  return origin
}

/** The H line. */
export const readHeaderLine = (bytes: Uint8Array, start: number, end: number): PackHeader => {
  const read = readHeader(bytes.subarray(start, end))
  if (!read.ok) throw new Unreadable("E_FORMAT", `H as ${read.reason}`, "something else")
  return read.header
}

/** A C or G line. */
export const readCheckpointLine = (bytes: Uint8Array, start: number, end: number, line: number): PackCheckpoint => {
  const fields = fieldsOf(bytes, start, end)
  requireFields(fields, 1, "<base64 of a checkpoint note>")
  const payload = base64Field(fields, 0, "a checkpoint note")
  if (payload.length > MAX_NOTE_BYTES)
    throw new Unreadable("E_LIMIT", `a note of at most ${MAX_NOTE_BYTES} bytes`, `${payload.length} bytes`)
  const note = parseNote(payload)
  if (!note.ok) throw new Unreadable("E_FORMAT", note.reason, "something else")
  const checkpoint = parseCheckpoint(note.note.text)
  if (!checkpoint.ok) throw new Unreadable("E_FORMAT", checkpoint.reason, "something else")
  return { ...checkpoint.checkpoint, note: note.note, line }
}

/** A W line. Its token is not looked into. */
export const readTokenLine = (bytes: Uint8Array, start: number, end: number): void => {
  const fields = fieldsOf(bytes, start, end)
  requireFields(fields, 1, "W <base64 of a timestamp token>")
  if (base64Field(fields, 0, "a timestamp token").length === 0)
    throw new Unreadable("E_FORMAT", "a timestamp token", "no bytes")
}

/**
 * A K line; null where it holds no vkey. A hint is never trusted, so one that cannot be read says nothing about the
 * pack.
 */
export const readHintLine = (bytes: Uint8Array, start: number, end: number): Vkey | null => {
  const payload = bytes.subarray(start, end)
  // A carriage return is a mark of a file that something rewrote on its way.
  if (payload.includes(CARRIAGE_RETURN)) {
    throw new Unreadable("E_FORMAT", "lines that end in a newline alone", "a carriage return")
  }
  // Before it is cut: a line of nothing but plus signs would be millions of fields.
  if (payload.length > MAX_HINT_BYTES) return null
  const parsed = parseVkey(fromUtf8(payload) ?? "")
  return parsed.ok ? parsed.vkey : null
}

const CARRIAGE_RETURN = 0x0d
