/** Formats of documents: what the bytes are, whatever their name says, and the reader of each. */
import PostalMime from "postal-mime"
import { readDocx } from "./docx.ts"
import { readHtml } from "./html.ts"
import { isImage, readImage } from "./image.ts"
import { layOut } from "./lay-out.ts"
import { readPdf } from "./pdf.ts"
import { decodeText, invoiceRoot, Unreadable, type Writer } from "./writer.ts"

/** A format that is read. */
export type Format = "docx" | "html" | "image" | "mail" | "pdf" | "text" | "xml"

const MAX_ATTACHMENTS = 3
const readable = /^(?:text\/|message\/rfc822|application\/(?:xml|[\w.+-]+\+xml))/i

/**
 * The format of the bytes. Bytes decide before the stated media type, which only parts the forms of text: a PDF that is
 * called text is read as a PDF.
 *
 * - Fails: throws `Unreadable`.
 */
export const formatOf = (bytes: Uint8Array, mediaType: string): Format => {
  const head = decodeText(bytes.subarray(0, 4_096)).trimStart()
  if (/^[^\n]{0,20}%PDF-/.test(head) || (mediaType === "application/pdf" && head.slice(0, 1_024).includes("%PDF-"))) {
    return "pdf"
  }
  if (head.startsWith("PK\u0003\u0004")) return "docx"
  if (isImage(bytes)) return "image"
  if (!readable.test(mediaType) || head.includes("\0")) throw new Unreadable("unsupported_type")
  if (/^(?:<!doctype html|<html)/i.test(head) || mediaType.startsWith("text/html")) return "html"
  if (mediaType.startsWith("message/") || /^(?:received|return-path|mime-version|delivered-to): /i.test(head)) {
    return "mail"
  }
  if (head.startsWith("<") && (/^<\?xml/i.test(head) || invoiceRoot.test(head))) return "xml"
  return "text"
}

/** Reads a document of a format. */
export const readFormat = async (format: Format, bytes: Uint8Array, writer: Writer): Promise<void> => {
  if (format === "pdf") return readPdf(bytes, writer)
  if (format === "docx") return readDocx(bytes, writer)
  if (format === "image") return readImage(bytes, writer)
  if (format === "mail") return readMail(bytes, writer)
  if (format === "html") return readHtml(decodeText(bytes), writer)
  if (format === "text") return layOut(decodeText(bytes).split(/\r?\n|\r|\f/), writer)
  if (!writer.xml("document.xml", bytes)) throw new Unreadable("unsupported_type")
}

/** Reads a mail: its sender and text, and the documents attached to it. */
const readMail = async (bytes: Uint8Array, writer: Writer): Promise<void> => {
  const mail = await PostalMime.parse(bytes, { maxNestingDepth: 64, maxHeadersSize: 1_000_000 })
  const from = mail.from === undefined ? [] : [`From: ${mail.from.name} <${mail.from.address ?? ""}>`]
  layOut([...from, `Subject: ${mail.subject ?? ""}`], writer)
  if (mail.html !== undefined) readHtml(mail.html, writer)
  else layOut((mail.text ?? "").split(/\r?\n/), writer)
  for (const [index, { content, mimeType }] of mail.attachments.entries()) {
    const inside = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content)
    let format: Format | null = null
    try {
      format = formatOf(inside, mimeType)
    } catch {
      format = null
    }
    if (index < MAX_ATTACHMENTS && (format === "pdf" || format === "xml")) await readFormat(format, inside, writer)
    else writer.warn("attachment")
  }
}
