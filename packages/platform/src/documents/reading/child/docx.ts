/** Reads a DOCX: a ZIP with XML, both with caps of their own. */
import { strFromU8, unzipSync } from "fflate"
import { type LaidLine, layOut } from "./lay-out.ts"
import { Unreadable, type Writer } from "./writer.ts"

const MAX_ENTRIES = 2_000
const MAX_BYTES = 20_000_000
/** XML of a document shrinks ten- to thirty-fold. */
const MAX_RATIO = 200
const SMALL = 1_000_000

/** - Fails: throws `Unreadable` past a cap, and what the reader of the ZIP throws. */
export const readDocx = (bytes: Uint8Array, writer: Writer): void => {
  let [entries, total] = [0, 0]
  const files = unzipSync(bytes, {
    filter: ({ name, originalSize, size }) => {
      entries += 1
      if (entries > MAX_ENTRIES) throw new Unreadable("too_large")
      if (name.endsWith("vbaProject.bin")) writer.warn("script")
      if (/^word\/(?:embeddings|activeX)\//.test(name)) writer.warn("attachment")
      if (!/^word\/(?:document|header\d*|footer\d*)\.xml$/.test(name)) return false
      total += originalSize
      if (total > MAX_BYTES || (originalSize > SMALL && originalSize > MAX_RATIO * size)) {
        throw new Unreadable("too_large")
      }
      return true
    }
  })
  if (files["word/document.xml"] === undefined) throw new Unreadable("unsupported_type")
  const order = (name: string): number => ["h", "d", "f"].indexOf(name[5]!)
  const names = Object.keys(files).sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1))
  layOut(
    names.flatMap((name) => linesOf(strFromU8(files[name]!))),
    writer
  )
}

/** Lines of a part. Runs that nobody sees are lines of their own. */
const linesOf = (xml: string): ReadonlyArray<LaidLine> => {
  if (/<!DOCTYPE/i.test(xml)) throw new Unreadable("malformed")
  const lines: Array<LaidLine> = []
  let [line, inText, depth] = ["", false, 0]
  let hidden: "render_mode" | "small" | "white" | null = null
  const end = (): void => {
    lines.push(line)
    line = ""
  }
  for (const [, close, name, attributes, text] of xml.matchAll(/<(\/?)w:(\w+)([^>]*)>|([^<]+)/g)) {
    if (text !== undefined) {
      if (!inText) continue
      if (hidden === null) line += unescaped(text)
      else lines.push({ text: unescaped(text), hidden })
      continue
    }
    const value = /w:val="([^"]*)"/.exec(attributes!)?.[1]
    if (name === "t") inText = close === "" && !attributes!.endsWith("/")
    else if (name === "r" && close === "") hidden = null
    else if (name === "vanish" && value !== "0" && value !== "false") hidden = "render_mode"
    else if (name === "color" && /^f[5-f]f[5-f]f[5-f]$/i.test(value ?? "")) hidden = "white"
    else if (name === "sz" && Number(value) < 4) hidden = "small"
    else if (name === "tab" && close === "") line += "   "
    else if (name === "br" || name === "cr") end()
    else if (name === "tc") {
      depth += close === "" ? 1 : -1
      if (close !== "") line += "   "
    } else if ((name === "p" && close !== "" && depth <= 0) || (name === "tr" && close !== "")) end()
    else if (name === "p" && close !== "") line += " "
  }
  return [...lines, line]
}

const named: { readonly [name: string]: string } = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }
const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (all, decimal, hex, name) => {
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10)
    return named[name] ?? (code > 0 && code < 0x110000 ? String.fromCodePoint(code) : all)
  })
