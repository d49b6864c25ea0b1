/** Finds what a verified pack shows of the chain before its own: the part `previous` of record 0. */
import {
  type Crypto,
  equalBytes,
  fromBase64,
  fromHex,
  fromUtf8,
  LineReader,
  MAX_LINE_BYTES,
  parseCheckpoint,
  parseNote,
  parsePrevious,
  type Previous,
  PREVIOUS,
  readRecord,
  type Report,
  utf8
} from "@flyball/evidence"
import type { PackFile } from "./pack-file.ts"

/**
 * The chain before, as the pack shows it: its description; or that there is one, and either nothing of it (`hidden`) or
 * nothing that can be read (`unreadable`).
 */
export type ShownPrevious = Previous | "hidden" | "unreadable"

/**
 * The chain that the pack's chain follows; null when it follows none, or the pack does not hold record 0. `hidden`: it
 * follows one, and the pack does not show which.
 *
 * Precondition: the integrity of the pack is `ok`. Reads to record 0, and only where that names such a part on to the
 * disclosed parts.
 */
export const followedChain = async (pack: PackFile): Promise<Previous | "hidden" | null> => {
  const shown = await previousChain(pack)
  return shown === "unreadable" ? "hidden" : shown
}

/** The same, distinguishing a part that is not shown from one that cannot be read. */
export const previousChain = async ({ content, crypto }: PackFile): Promise<ShownPrevious | null> => {
  let commitment: Uint8Array | null = null
  for await (const line of linesOf(content())) {
    if (commitment === null) {
      if (line[0] !== RECORD) continue
      const read = readRecord(line.slice(2))
      const named =
        read.ok && read.record.seq === 0 ? read.record.parts.find(({ name }) => name === PREVIOUS) : undefined
      if (named === undefined) return null
      commitment = fromHex(named.c)
    } else if (line[0] === DISCLOSED) {
      const head = fromUtf8(line.subarray(0, WANTED.length))
      if (head === WANTED) return disclosed(crypto, line, commitment)
      // Other parts of record 0 may come first, by their names.
      if (head === null || !head.startsWith(OF_RECORD_0)) return "hidden"
    } else if (line[0] === ERASED || line[0] === LAST) return "hidden"
  }
  return commitment === null ? null : "hidden"
}

/**
 * The report on a pack, with what it means that the chain before is not shown. That a chain follows another one, of
 * which records may be missing,
 * is nothing that a pack may leave out: intact, and not enough. Spec: format 1 sections 6.1 and 8.
 */
export const withPrevious = (report: Report, shown: ShownPrevious | null): Report =>
  shown === "hidden" || shown === "unreadable"
    ? { ...report, not_checked: [SENTENCES[shown], ...report.not_checked], exit: report.exit === 0 ? 2 : report.exit }
    : report

const SENTENCES = {
  hidden:
    "Record 0 says that this chain follows another one, of which records may be missing, and the pack does not " +
    "show which. That part (previous) is never erased, and every pack with record 0 must disclose it: request " +
    "another pack.",
  unreadable:
    "Record 0 says that this chain follows another one, of which records may be missing, and what the pack " +
    "shows of that one (the part previous) is not in the form that such a part has. Ask the operator of the chain why."
} as const

/** The part, where this is its line. */
const disclosed = (crypto: Crypto, line: Uint8Array, commitment: Uint8Array): ShownPrevious => {
  const [, , , salt = "", part = ""] = (fromUtf8(line.subarray(0, MAX_PART_LINE)) ?? "").split(" ")
  const bytes = line.length > MAX_PART_LINE ? null : fromBase64(part)
  const key = fromBase64(salt)
  if (bytes === null || key === null || !equalBytes(crypto.commitment(key, PREVIOUS, bytes), commitment))
    return "unreadable"
  const previous = parsePrevious(bytes)
  return previous !== null && namesItsCheckpoint(previous) ? previous : "unreadable"
}

/**
 * Its newest note, if it had one, is a checkpoint of that chain. Its signatures are not checked: record 0 is signed.
 */
const namesItsCheckpoint = ({ checkpoint, origin }: Previous): boolean => {
  if (checkpoint === null) return true
  const note = parseNote(utf8(checkpoint))
  const read = note.ok ? parseCheckpoint(note.note.text) : null
  return read?.ok === true && read.checkpoint.origin === origin
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = new LineReader(null, MAX_LINE_BYTES)
  for await (const chunk of chunks) {
    reader.feed(chunk)
    while (reader.next()) yield reader.bytes.subarray(reader.start, reader.end)
    if (reader.tooLong) return
  }
}

/** The start of D lines of record 0, and of the one that is searched for. */
const OF_RECORD_0 = "D 0 "
const WANTED = `${OF_RECORD_0}${PREVIOUS} `

/** Well above what the part may hold (16 KiB, written in base64). */
const MAX_PART_LINE = 32_768

const RECORD = 0x52
const DISCLOSED = 0x44
const ERASED = 0x45
const LAST = 0x5a
