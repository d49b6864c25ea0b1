/** Splits a stream of bytes into lines, whatever the pieces are in which it arrives. */

/** Longest line that is read. Unit: bytes. */
export const MAX_LINE_BYTES = 64 * 1_048_576

/** A line without its end; `null`: one that was too long, of which nothing was kept. */
export type Line = Uint8Array | null

/** Takes pieces, and answers the lines that they complete. */
export const splitLines = (maxBytes = MAX_LINE_BYTES): ((piece: Uint8Array) => ReadonlyArray<Line>) => {
  let pieces: Array<Uint8Array> = []
  let bytes = 0
  let isTooLong = false
  const keep = (piece: Uint8Array): void => {
    bytes += piece.length
    if (bytes > maxBytes) {
      isTooLong = true
      pieces = []
    } else pieces.push(piece)
  }
  return (piece) => {
    const lines: Array<Line> = []
    let from = 0
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, from)) {
      keep(piece.subarray(from, at))
      lines.push(isTooLong ? null : joined(pieces, bytes))
      pieces = []
      bytes = 0
      isTooLong = false
      from = at + 1
    }
    // What is left is copied: the stream may use its buffer again.
    if (from < piece.length) keep(piece.slice(from))
    return lines
  }
}

const joined = (pieces: ReadonlyArray<Uint8Array>, bytes: number): Uint8Array => {
  const [only] = pieces
  if (pieces.length === 1 && only !== undefined) return only
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Drops one byte order mark at the beginning. */
const decoder = new TextDecoder("utf-8", { fatal: true })

/** The text of a message; null where it is no UTF-8. A byte order mark is no part of it. */
export const textOf = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

/** The JSON value of a text; undefined where it is none. */
export const jsonOf = (text: string | null): unknown => {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** True for a line with nothing but blanks. */
export const isBlank = (line: Uint8Array): boolean => line.every((byte) => byte === 32 || byte === 13 || byte === 9)
