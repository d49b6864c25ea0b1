/** Finds what a verified pack shows of the chain before its own: the part `previous` of record 0. */
import { equalBytes, fromBase64, fromHex, fromUtf8, LineReader, MAX_LINE_BYTES, parsePrevious, type Previous, PREVIOUS, readRecord } from "@flyball/evidence"
import { detectCompression, fileSource, nodeCrypto, packContent } from "@flyball/evidence/node"

/**
 * The chain that the pack's chain follows; null when it follows none, or the pack does not hold record 0. `hidden`: it follows one, and the pack does not show which.
 *
 * To be asked of a pack whose integrity is `ok`. It reads to record 0, and only where that names such a part on to the disclosed parts.
 */
export const followedChain = async (path: string): Promise<Previous | "hidden" | null> => {
  await using source = await fileSource(path)
  let commitment: Uint8Array | null = null
  for await (const line of linesOf(packContent(source, await detectCompression(source)))) {
    if (commitment === null) {
      if (line[0] !== RECORD) continue
      const read = readRecord(line.slice(2))
      const named = read.ok && read.record.seq === 0 ? read.record.parts.find(({ name }) => name === PREVIOUS) : undefined
      if (named === undefined) return null
      commitment = fromHex(named.c)
    } else if (line[0] === DISCLOSED || line[0] === ERASED || line[0] === LAST) return disclosed(line, commitment) ?? "hidden"
  }
  return commitment === null ? null : "hidden"
}

/** The same for a report: what the pack shows. */
export const previousChain = async (path: string): Promise<Previous | null> => {
  const followed = await followedChain(path)
  return followed === "hidden" ? null : followed
}

/** The part, where this is its line: it is the first of all parts, by record and by name. */
const disclosed = (line: Uint8Array, commitment: Uint8Array | null): Previous | null => {
  const [tag, seq, name, salt = "", part = ""] = (fromUtf8(line.subarray(0, MAX_PART_LINE)) ?? "").split(" ")
  const bytes = fromBase64(part)
  const key = fromBase64(salt)
  if (tag !== "D" || seq !== "0" || name !== PREVIOUS || bytes === null || key === null || commitment === null) return null
  return equalBytes(nodeCrypto.commitment(key, PREVIOUS, bytes), commitment) ? parsePrevious(bytes) : null
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = new LineReader(null, MAX_LINE_BYTES)
  for await (const chunk of chunks) {
    reader.feed(chunk)
    while (reader.next()) yield reader.bytes.subarray(reader.start, reader.end)
    if (reader.tooLong) return
  }
}

/** Well above what the part may hold (16 KiB, written in base64). */
const MAX_PART_LINE = 32_768

const RECORD = 0x52
const DISCLOSED = 0x44
const ERASED = 0x45
const LAST = 0x5a
