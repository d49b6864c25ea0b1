/** The part of an answer's body that is kept. */

/** Unit: bytes, of the answer and of the text it becomes. */
export const EXCERPT_BYTES = 4_096
const MAX_BYTES_PER_UNIT = 3

/**
 * At most {@link EXCERPT_BYTES} of the body as text, whatever it was.
 *
 * Bytes that are no UTF-8 become U+FFFD, and so do control characters but for tab and line ends: no store takes all of
 * them, and no terminal should.
 */
export const excerptOf = (body: Uint8Array): string => {
  if (body.length === 0) return ""
  const bytes = body.subarray(0, EXCERPT_BYTES)
  // With `stream` a character that the cut goes through is left out in place of becoming U+FFFD.
  const text = new TextDecoder()
    .decode(bytes, { stream: bytes.length === EXCERPT_BYTES })
    .replace(/(?![\t\r\n])\p{Cc}/gu, "\ufffd")
  if (text.length * MAX_BYTES_PER_UNIT <= EXCERPT_BYTES) return text
  // U+FFFD takes three bytes where one may have been.
  const encoded = new TextEncoder().encodeInto(text, new Uint8Array(EXCERPT_BYTES))
  return text.slice(0, encoded.read)
}
