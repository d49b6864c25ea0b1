/** Counts what goes by in the bytes of a pack. */

const LF = 0x0a
const R = 0x52

/** Counts so far. */
export interface Counts {
  bytes: number
  /** R lines. Spec: chain-format section 5; no other tag begins with R. */
  records: number
}

/** Passes the chunks on and counts their bytes and records. */
export const countRecords = async function* (
  pack: AsyncIterable<Uint8Array>,
  counts: Counts
): AsyncGenerator<Uint8Array> {
  // Whether the next byte is the first of a line.
  let atStart = true
  for await (const chunk of pack) {
    counts.bytes += chunk.length
    for (let at = 0; at < chunk.length;) {
      if (atStart && chunk[at] === R) counts.records += 1
      const end = chunk.indexOf(LF, at)
      atStart = end >= 0
      at = atStart ? end + 1 : chunk.length
    }
    yield chunk
  }
}
