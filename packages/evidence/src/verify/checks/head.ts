/**
 * The lines before the records: origin, checkpoints, tokens, key hints. Throws `Unreadable` at a line that cannot be
 * read.
 */
import { fromUtf8 } from "../../bytes.ts"
import type { Checkpoint } from "../../checkpoint/checkpoint.ts"
import { isOrigin, parseCheckpoint } from "../../checkpoint/checkpoint.ts"
import type { Note } from "../../note/note.ts"
import { MAX_NOTE_BYTES, parseNote } from "../../note/note.ts"
import type { Vkey } from "../../note/vkey.ts"
import { parseVkey } from "../../note/vkey.ts"
import type { PackHeader } from "../../pack/format.ts"
import { MAX_HINT_BYTES, PACK_FORMAT } from "../../pack/format.ts"
import { readHeader } from "../../pack/header.ts"
import { base64Field, requireFields } from "./fields.ts"
import { Unreadable } from "../../pack/unreadable.ts"
import type { PackFacts, PackHead } from "../pack-facts.ts"
import type { PackCursor } from "../pack-lines.ts"

/** A checkpoint note in a pack. */
export interface PackCheckpoint extends Checkpoint {
  readonly note: Note
  readonly line: number
}

/** The first line, H and C: what the pack claims to be, and the checkpoint that all later steps refer to. */
export const readHead = async (lines: PackCursor, facts: PackFacts): Promise<PackHead> => {
  await lines.next()
  const origin = (facts.origin = readFirstLine(lines))
  await lines.next()
  const header = (facts.header = readHeaderLine(lines))
  lines.kind = header.kind
  await lines.next()
  const checkpoint = (facts.checkpoint = readCheckpointLine(lines, facts, origin))
  await lines.next()
  return { origin, header, checkpoint }
}

/** The origin from `evidence-pack/v1 <origin>`. */
const readFirstLine = (lines: PackCursor): string => {
  const { bytes, end, start } = lines
  const text = fromUtf8(bytes.subarray(start, end)) ?? ""
  const [format = "", origin = "", ...more] = text.split(" ")
  if (format !== PACK_FORMAT) {
    const version = /^evidence-pack\/v([1-9][0-9]{0,8})$/.exec(format)
    if (version !== null) throw new Unreadable("E_VERSION", PACK_FORMAT, `evidence-pack/v${version[1]}`)
    throw lines.notPack("something else: this is not an evidence pack")
  }
  if (text.endsWith("\r"))
    throw new Unreadable(
      "E_FORMAT",
      "lines that end in a newline alone",
      "a carriage return: an editor or a transfer as text changed the file"
    )
  if (more.length > 0 || !isOrigin(origin)) {
    const expected = "an origin of 1 to 255 printable ASCII characters, no space, no +"
    throw new Unreadable("E_FORMAT", expected, "something else")
  }
  return origin
}

/** The H line. */
const readHeaderLine = ({ bytes, end, start }: PackCursor): PackHeader => {
  const read = readHeader(bytes.subarray(start, end))
  if (!read.ok) throw new Unreadable("E_FORMAT", `H as ${read.reason}`, "something else")
  return read.header
}

/** A C or G line. Keys that sign it are of interest when records name them. */
export const readCheckpointLine = (
  lines: PackCursor,
  { findings, hints }: PackFacts,
  origin: string
): PackCheckpoint => {
  const { line } = lines
  const fields = lines.fields()
  requireFields(fields, 1, "<base64 of a checkpoint note>")
  const payload = base64Field(fields, 0, "a checkpoint note")
  if (payload.length > MAX_NOTE_BYTES) {
    throw new Unreadable("E_LIMIT", `a note of at most ${MAX_NOTE_BYTES} bytes`, `${payload.length} bytes`)
  }
  const note = parseNote(payload)
  if (!note.ok) throw new Unreadable("E_FORMAT", note.reason, "something else")
  const checkpoint = parseCheckpoint(note.note.text)
  if (!checkpoint.ok) throw new Unreadable("E_FORMAT", checkpoint.reason, "something else")
  hints.expect(note.note)
  if (checkpoint.checkpoint.origin !== origin) {
    findings.add("E_ORIGIN", { line, expected: `a checkpoint of ${origin}`, found: "one of another origin" })
  }
  return { ...checkpoint.checkpoint, note: note.note, line }
}

/** A W line. The content of its token is not checked. */
export const readTokenLine = (lines: PackCursor): void => {
  const fields = lines.fields()
  requireFields(fields, 1, "W <base64 of a timestamp token>")
  if (base64Field(fields, 0, "a timestamp token").length === 0)
    throw new Unreadable("E_FORMAT", "a timestamp token", "no bytes")
}

/** A K line; null when it holds no vkey. A hint is never trusted, so an unreadable hint says nothing about the pack. */
export const readHintLine = ({ bytes, end, start }: PackCursor): Vkey | null => {
  const payload = bytes.subarray(start, end)
  // A carriage return marks a file that was rewritten in transit.
  if (payload.includes(CARRIAGE_RETURN)) {
    throw new Unreadable("E_FORMAT", "lines that end in a newline alone", "a carriage return")
  }
  // Checked before the split: a line of plus signs would make millions of fields.
  if (payload.length > MAX_HINT_BYTES) return null
  const parsed = parseVkey(fromUtf8(payload) ?? "")
  return parsed.ok ? parsed.vkey : null
}

const CARRIAGE_RETURN = 0x0d
