/** Formats of documents: what the bytes are, whatever their name says, and the reader of each. */
import { layOut } from "./lay-out.ts"
import { readPdf } from "./pdf.ts"
import { decodeText, Unreadable, type Writer } from "./writer.ts"

/** A format that is read. */
export type Format = "pdf" | "text"

/**
 * The format of the bytes. The stated media type decides only between forms of text.
 *
 * - Fails: throws `Unreadable`.
 */
export const formatOf = (bytes: Uint8Array, mediaType: string): Format => {
  const head = Buffer.from(bytes.subarray(0, 1_024)).toString("latin1")
  if (head.includes("%PDF-")) return "pdf"
  if (!mediaType.startsWith("text/") || bytes.subarray(0, 4_096).includes(0)) throw new Unreadable("unsupported_type")
  return "text"
}

/** Reads a document of a format. */
export const readFormat = async (format: Format, bytes: Uint8Array, writer: Writer): Promise<void> =>
  format === "pdf" ? readPdf(bytes, writer) : layOut(decodeText(bytes).split(/\r?\n|\r|\f/), writer)
