/** Recognises what people hand in instead of a pack, by its first bytes. */

/** Bytes that {@link otherFile} needs. */
export const FIRST_BYTES = 16

const signs: ReadonlyArray<readonly [sign: ReadonlyArray<number>, name: string]> = [
  [[0xef, 0xbb, 0xbf], "a byte order mark: an editor or a transfer as text changed the file"],
  [[0xfe, 0xff], "UTF-16 text: an editor or a shell changed the file"],
  [[0xff, 0xfe], "UTF-16 text: an editor or a shell changed the file"],
  [[0x50, 0x4b, 0x03, 0x04], "a zip archive: unpack it first"],
  [[0x1f, 0x8b], "gzip within gzip: unpack it once"],
  [[0x28, 0xb5, 0x2f, 0xfd], "zstd within a compressed file: unpack it once"]
]

/** Names what a file that is no pack begins as; null for anything else. */
export const otherFile = (first: Uint8Array): string | null => {
  const sign = signs.find(([bytes]) => bytes.every((byte, index) => first[index] === byte))
  if (sign !== undefined) return sign[1]
  const visible = first.find((byte) => byte > 0x20)
  if (visible === 0x3c) return "HTML or XML, such as a page to sign in: download the pack again"
  return visible === 0x7b ? "JSON, such as the answer of a server that refused: download the pack again" : null
}
