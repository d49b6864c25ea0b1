/** Files made to hurt a reader: each must end with its code, and cost no more than a child. */
import { deflateSync } from "node:zlib"
import { zipSync } from "fflate"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A PDF of objects, numbered from 1, of which the first is the catalogue. */
export const pdfOf = (objects: ReadonlyArray<string | Buffer>): Buffer => {
  const parts: Array<Buffer> = [Buffer.from("%PDF-1.7\n")]
  const offsets: Array<number> = []
  let length = parts[0]!.length
  objects.forEach((object, index) => {
    offsets.push(length)
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n")])
    parts.push(part)
    length += part.length
  })
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("")
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`
  const trailer = `trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF`
  return Buffer.concat([...parts, Buffer.from(table + trailer)])
}

/** A stream object. */
export const streamOf = (bytes: Buffer | string, entries = ""): Buffer => {
  const content = Buffer.from(bytes)
  return Buffer.concat([
    Buffer.from(`<<${entries}/Length ${content.length}>>stream\n`),
    content,
    Buffer.from("\nendstream")
  ])
}

const font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
const pageWith = (resources: string, entries = ""): string =>
  `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<<${resources}>>${entries}>>`
const head = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>"]
const page = pageWith("/Font<</F 5 0 R>>")
const form = (content: string, resources: string): Buffer =>
  streamOf(content, `/Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<</XObject<<${resources}>>>>`)

/** A page with these painting operators. `catalog` and `entries` stand in the catalogue and the page. */
export const pdfWith = (content: string, catalog = "", entries = ""): Buffer =>
  pdfOf([
    `<</Type/Catalog/Pages 2 0 R${catalog}>>`,
    head[1]!,
    pageWith("/Font<</F 5 0 R>>", entries),
    streamOf(content),
    font
  ])

/** A PDF that asks for a password. */
export const encryptedPdf = (): Buffer => {
  const [owner, user] = ["1b", "2c"].map((byte) => `<${byte.repeat(32)}>`)
  const objects = [...head, page, streamOf("BT ET"), font, `<</Filter/Standard/V 1/R 2/O${owner}/U${user}/P -4>>`]
  const id = "<00112233445566778899aabbccddeeff>"
  const text = pdfOf(objects).toString("latin1")
  return Buffer.from(text.replace("/Root 1 0 R", `/Root 1 0 R/Encrypt 6 0 R/ID[${id}${id}]`), "latin1")
}

/** Flate in Flate: 4 KB that grow to gigabytes. */
export const bomb = (bytes: number): Buffer => {
  const twice = deflateSync(deflateSync(Buffer.alloc(bytes, 32), { level: 9 }), { level: 9 })
  return pdfOf([...head, page, streamOf(twice, "/Filter[/FlateDecode/FlateDecode]"), font])
}

/** PDFs of which each attacks another part of a reader, by name. `real`: a whole PDF, to be cut. */
export const hostilePdfs = (real: Uint8Array): { readonly [name: string]: Uint8Array } => {
  const texts = `BT /F 9 Tf ${"1 0 0 1 9 9 Tm (total 12,00 EUR) Tj ".repeat(3_000_000)}ET`
  const empty = streamOf("BT ET")
  const deep = Array.from({ length: 30 }, (_, at) =>
    form(at < 29 ? "/N Do /N Do" : "BT ET", `/N ${6 + Math.min(at + 1, 29)} 0 R`)
  )
  const whole = pdfOf([...head, page, empty, font]).toString("latin1")
  const huge = whole.replace(/xref\n0 \d+/, "xref\n0 2147483647").replace(/\/Size \d+/, "/Size 2147483647")
  const brackets = `${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}`
  return {
    "3 million texts": pdfOf([...head, page, streamOf(deflateSync(texts, { level: 9 }), "/Filter/FlateDecode"), font]),
    "page loop": pdfOf([head[0]!, "<</Type/Pages/Kids[2 0 R 2 0 R 3 0 R]/Count 100000>>", page, empty, font]),
    "form loop": pdfOf([
      ...head,
      pageWith("/XObject<</X 5 0 R/Y 6 0 R>>"),
      streamOf("/X Do /Y Do"),
      form("/X Do /Y Do /X Do", "/X 6 0 R/Y 5 0 R"),
      form("/X Do /Y Do /Y Do", "/X 5 0 R/Y 6 0 R")
    ]),
    "2^30 forms": pdfOf([...head, pageWith("/XObject<</N 6 0 R>>"), streamOf("/N Do"), font, ...deep]),
    "huge xref": Buffer.from(huge, "latin1"),
    brackets: pdfOf([...head, `<</Type/Page/Parent 2 0 R/MediaBox${brackets}/Contents 4 0 R>>`, empty, font]),
    half: real.subarray(0, real.length >> 1),
    "no tail": real.subarray(0, real.length - 300),
    "no PDF": utf8("<html>%PDF</html>".repeat(1_000))
  }
}

/** A DOCX with these files beside its types. */
export const docxOf = (files: { readonly [name: string]: Uint8Array }): Uint8Array =>
  zipSync({ "[Content_Types].xml": utf8("<Types/>"), ...files }, { level: 1 })

/** A DOCX with one paragraph a text. */
export const docxWith = (...paragraphs: ReadonlyArray<string>): Uint8Array =>
  docxOf({ "word/document.xml": utf8(`<w:document><w:body>${paragraphs.join("")}</w:body></w:document>`) })

/** A mail nested so deep. */
export const nestedMail = (depth: number): Uint8Array => {
  const open = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary="b${at}"\r\n\r\n--b${at}\r\n`
  )
  return utf8(
    `From: a@example.com\r\nMIME-Version: 1.0\r\n${open.join("")}Content-Type: text/plain\r\n\r\nTotal 1.00 EUR`
  )
}

/** Copies of a file with some bytes changed, always the same for a seed. */
export const fuzzed = (real: Uint8Array, seed: number): Uint8Array => {
  const copy = real.slice()
  let state = seed
  const below = (end: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 12)) >>> 0) % end
  }
  for (let change = 0; change < 60; change++) copy[below(copy.length)] = below(256)
  return copy
}
