/**
 * Reads a PDF: each text where it is painted, with the reason why nobody sees it.
 *
 * Text is taken from the painting operators and not from `getTextContent`, which joins what is seen with what is hidden
 * beside it.
 */
import type { DocumentWarning, TextItem } from "@flyball/rules"
import { inflateSync } from "node:zlib"
import { getDocumentProxy, getResolvedPDFJS } from "unpdf"
import { canRecognise } from "./image.ts"
import { FEW_CHARACTERS, isLate, MAX_PIXELS, type Painted, type Pixels, readScans, scansOf } from "./scan.ts"
import { Unreadable, type Writer } from "./writer.ts"

type Matrix = readonly [number, number, number, number, number, number]
type Glyph = { readonly unicode: string; readonly width: number; readonly isSpace: boolean }

const MAX_PAGES = 200
/** White enough that nobody reads it on paper. */
const WHITE = 0xf5
const MAX_XML_BYTES = 5_000_000
const MAX_OBJECT_STREAM = 8_000_000
const quiet = { verbosity: 0, useSystemFonts: false }

const times = (m: Matrix, n: Matrix): Matrix => [
  m[0] * n[0] + m[2] * n[1],
  m[1] * n[0] + m[3] * n[1],
  m[0] * n[2] + m[2] * n[3],
  m[1] * n[2] + m[3] * n[3],
  m[0] * n[4] + m[2] * n[5] + m[4],
  m[1] * n[4] + m[3] * n[5] + m[5]
]
const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0]

interface State {
  ctm: Matrix
  white: boolean
  alpha: number
  mode: number
  size: number
  unit: number
  spacing: number
  wordSpacing: number
  scale: number
  leading: number
  rise: number
}

const isWhite = (colour: unknown): boolean =>
  typeof colour === "string" &&
  /^#[0-9a-f]{6}$/i.test(colour) &&
  [1, 3, 5].every((at) => Number.parseInt(colour.slice(at, at + 2), 16) >= WHITE)

type Box = readonly [number, number, number, number]

/** The box of a box after a matrix. */
const boxOf = (m: Matrix, [x0, y0, x1, y1]: Box): Box => {
  const xs = [x0, x1].flatMap((x) => [y0, y1].map((y) => m[0] * x + m[2] * y + m[4]))
  const ys = [x0, x1].flatMap((x) => [y0, y1].map((y) => m[1] * x + m[3] * y + m[5]))
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

type Ops = { readonly [name: string]: number }

/** A page: its matrix and size, the width of its fonts' units, and where its text goes. */
interface Sheet {
  readonly view: Matrix
  readonly width: number
  readonly height: number
  readonly unitOf: (font: string) => number
  readonly show: (item: TextItem) => void
}

/** Walks the painting operators of a page and gives each text that they show. */
class Painter {
  private state: State
  private readonly stack: Array<State> = []
  private text: Matrix = IDENTITY
  private line: Matrix = IDENTITY
  /** Boxes filled in a colour, the last on top: white text on them is seen. */
  private readonly fills: Array<{ readonly box: Box; readonly white: boolean }> = []
  readonly images: Array<Painted> = []

  private readonly ops: Ops
  private readonly sheet: Sheet

  constructor(ops: Ops, sheet: Sheet) {
    this.ops = ops
    this.sheet = sheet
    this.state = {
      ctm: sheet.view,
      white: false,
      alpha: 1,
      mode: 0,
      size: 0,
      unit: 0.001,
      spacing: 0,
      wordSpacing: 0,
      scale: 1,
      leading: 0,
      rise: 0
    }
  }

  paint(op: number, args: ReadonlyArray<any>): void {
    const { ops, state } = this
    switch (op) {
      case ops["save"]:
      case ops["beginGroup"]:
        this.stack.push({ ...state })
        break
      case ops["restore"]:
      case ops["endGroup"]:
      case ops["paintFormXObjectEnd"]:
      case ops["endAnnotation"]:
        this.state = this.stack.pop() ?? state
        break
      case ops["paintFormXObjectBegin"]:
        this.stack.push({ ...state })
        if (args[0]) state.ctm = times(state.ctm, args[0])
        break
      case ops["beginAnnotation"]:
        this.stack.push({ ...state })
        if (args[2]) state.ctm = times(state.ctm, args[2])
        if (args[3]) state.ctm = times(state.ctm, args[3])
        break
      case ops["transform"]:
        state.ctm = times(state.ctm, args as unknown as Matrix)
        break
      case ops["setFillRGBColor"]:
        state.white = isWhite(args[0])
        break
      case ops["setFillColorN"]:
      case ops["shadingFill"]:
        state.white = false
        break
      case ops["setGState"]:
        for (const [name, value] of args[0]) {
          if (name === "ca") state.alpha = value
          else if (name === "Font") this.setFont(value[0], value[1])
        }
        break
      case ops["constructPath"]:
        this.fill(args)
        break
      case ops["beginText"]:
        this.text = this.line = IDENTITY
        break
      case ops["setTextMatrix"]:
        this.text = this.line = (args[0]?.length === 6 ? args[0] : args) as unknown as Matrix
        break
      case ops["setLeadingMoveText"]:
        state.leading = -args[1]
        this.move(args[0], args[1])
        break
      case ops["moveText"]:
        this.move(args[0], args[1])
        break
      case ops["nextLine"]:
        this.move(0, -state.leading)
        break
      case ops["setLeading"]:
        state.leading = -args[0]
        break
      case ops["setCharSpacing"]:
        state.spacing = args[0]
        break
      case ops["setWordSpacing"]:
        state.wordSpacing = args[0]
        break
      case ops["setHScale"]:
        state.scale = args[0] / 100
        break
      case ops["setTextRise"]:
        state.rise = args[0]
        break
      case ops["setTextRenderingMode"]:
        state.mode = args[0]
        break
      case ops["setFont"]:
        this.setFont(args[0], args[1])
        break
      case ops["showText"]:
        this.showText(args[0])
        break
      case ops["paintImageXObject"]:
        this.image(args[0])
        break
      case ops["paintImageMaskXObject"]:
        if (!state.white) this.image(args[0])
    }
  }

  private image(named: unknown): void {
    const { alpha, ctm } = this.state
    if (alpha < 0.1) return
    const name = typeof named === "string" ? named : (named as { readonly data?: unknown } | null)?.data
    if (typeof name === "string") this.images.push({ name, matrix: ctm, box: boxOf(ctm, [0, 0, 1, 1]) })
  }

  private setFont(font: string, size: number): void {
    this.state.size = size
    this.state.unit = this.sheet.unitOf(font)
  }

  private move(x: number, y: number): void {
    this.text = this.line = times(this.line, [1, 0, 0, 1, x, y])
  }

  private fill(args: ReadonlyArray<any>): void {
    const { ops, state } = this
    const filling = [ops["fill"], ops["eoFill"], ops["fillStroke"], ops["eoFillStroke"], ops["closeFillStroke"]]
    if (!filling.includes(args[0]) || !args[2] || args[2].length < 4 || this.fills.length >= 5_000) return
    this.fills.push({ box: boxOf(state.ctm, args[2]), white: state.white || state.alpha < 0.1 })
  }

  /** Shows glyphs and moves between them; a wide move begins a new item. */
  private showText(glyphs: ReadonlyArray<Glyph | number>): void {
    const { state } = this
    let text = ""
    let from = this.text
    const flush = (): void => {
      if (text.trim() !== "") this.emit(text, from)
      text = ""
    }
    const advance = (x: number): void => {
      this.text = times(this.text, [1, 0, 0, 1, x * state.scale, 0])
    }
    for (const glyph of glyphs) {
      if (typeof glyph === "number") {
        if (glyph < -900) flush()
        else if (glyph < -180 && text !== "" && !text.endsWith(" ")) text += " "
        advance((-glyph * state.size) / 1_000)
        if (text === "") from = this.text
        continue
      }
      if (text === "") from = this.text
      text += glyph.unicode ?? ""
      advance(glyph.width * state.unit * state.size + state.spacing + (glyph.isSpace ? state.wordSpacing : 0))
      if (text.length >= 2_000) flush()
    }
    flush()
  }

  private emit(raw: string, from: Matrix): void {
    const { state } = this
    const at = times(state.ctm, times(from, [1, 0, 0, 1, 0, state.rise]))
    const to = times(state.ctm, times(this.text, [1, 0, 0, 1, 0, state.rise]))
    const size = Math.abs(state.size) * Math.hypot(at[2], at[3])
    const upright = Math.abs(to[5] - at[5]) < Math.max(1, Math.abs(to[4] - at[4]))
    const [x, right] = [Math.min(at[4], to[4]), Math.max(at[4], to[4])]
    const top = upright ? at[5] - 0.8 * size : Math.min(at[5], to[5])
    const bottom = upright ? top + size : Math.max(at[5], to[5])
    this.sheet.show({
      text: raw,
      x: hundredths(x),
      y: hundredths(top),
      width: hundredths(upright ? right - x : size),
      height: hundredths(bottom - top),
      hidden: this.hiddenBy([x, top, right, bottom], size)
    })
  }

  private hiddenBy(box: Box, size: number): TextItem["hidden"] {
    const { state } = this
    if (state.mode === 3 || state.mode === 7) return "render_mode"
    if (size < 2) return "small"
    if (box[2] <= 0 || box[0] >= this.sheet.width || box[3] <= 0 || box[1] >= this.sheet.height) return "outside"
    if (state.alpha < 0.1) return "white"
    if (!state.white || state.mode === 1) return null
    const [x, y] = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]
    const below = this.fills.findLast(({ box: [x0, y0, x1, y1] }) => x >= x0 && x <= x1 && y >= y0 && y <= y1)
    return below === undefined || below.white ? "white" : null
  }
}

const hundredths = (points: number): number => {
  const value = Math.round(points * 100)
  return Number.isFinite(value) ? Math.max(-9_999_999, Math.min(9_999_999, value)) : 0
}

/**
 * Reads the pages, the XML inside, and what stands in the file beside them.
 *
 * - Fails: throws `Unreadable`, and what the engine throws.
 */
export const readPdf = async (bytes: Uint8Array, writer: Writer): Promise<void> => {
  const { OPS } = await getResolvedPDFJS()
  for (const code of actionsIn(bytes)) writer.warn(code)
  const startedMs = performance.now()
  const document = await getDocumentProxy(bytes, { maxImageSize: 1, ...quiet })
  /** The document with its images decoded, which is opened for pages that show hardly any text. */
  let decoded: typeof document | null = null
  let unread = 0
  const pages = Math.min(document.numPages, MAX_PAGES)
  if (document.numPages > MAX_PAGES) writer.warn("partly_read")
  const paint = async (from: typeof document, number: number, show: (item: TextItem) => void) => {
    const page = await from.getPage(number)
    const { height, transform, width } = page.getViewport({ scale: 1 })
    const { fnArray, argsArray } = await page.getOperatorList()
    const painter = new Painter(OPS as never, {
      view: transform as unknown as Matrix,
      width,
      height,
      unitOf: (font) => (page.commonObjs.has(font) ? (page.commonObjs.get(font)?.fontMatrix?.[0] ?? 0.001) : 0.001),
      show
    })
    if (from === document) writer.page(hundredths(width), hundredths(height))
    fnArray.forEach((op, index) => painter.paint(op, argsArray[index] ?? []))
    return { page, size: { width, height }, images: scansOf(painter.images, { width, height }) }
  }
  for (let number = 1; number <= pages; number++) {
    try {
      let characters = 0
      const { page } = await paint(document, number, (item) => {
        if (item.hidden === null) characters += item.text.trim().length
        writer.item(item)
      })
      page.cleanup()
      if (!canRecognise || characters >= FEW_CHARACTERS) continue
      if (isLate(startedMs)) {
        writer.warn("partly_read")
        continue
      }
      decoded ??= await getDocumentProxy(await document.getData(), { maxImageSize: MAX_PIXELS, ...quiet })
      const scanned = await paint(decoded, number, () => undefined)
      const pixelsOf = (name: string): Promise<Pixels | null> =>
        new Promise((resolve) =>
          (name.startsWith("g_") ? scanned.page.commonObjs : scanned.page.objs).get(name, resolve)
        )
      if (!(await readScans(scanned.images, scanned.size, pixelsOf, startedMs, writer))) writer.warn("partly_read")
      scanned.page.cleanup()
    } catch (cause) {
      if (cause instanceof Unreadable) throw cause
      unread += 1
    }
  }
  await decoded?.cleanup()
  if (unread === pages) throw new Unreadable("malformed")
  if (unread > 0) writer.warn("partly_read")
  const attachments: ReadonlyMap<string, { readonly filename: string }> = (await document.getAttachments()) ?? new Map()
  for (const [key, { filename }] of attachments) {
    const content: Uint8Array | null = /\.xml$/i.test(filename)
      ? await (document as any).getAttachmentContent(key)
      : null
    if (content === null || content.length > MAX_XML_BYTES || !writer.xml(filename, content)) writer.warn("attachment")
  }
}

/** Scripts and launch actions, in the plain objects and in compressed ones. */
const actionsIn = (bytes: Uint8Array): ReadonlyArray<DocumentWarning["code"]> => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
  const found = new Set<DocumentWarning["code"]>()
  const search = (part: string): void => {
    const names = part.includes("#")
      ? part.replace(/#([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
      : part
    if (/\/(?:JavaScript|JS)\b/.test(names)) found.add("script")
    if (/\/Launch\b/.test(names)) found.add("launch_action")
  }
  search(text)
  let budget = MAX_OBJECT_STREAM
  for (const match of text.matchAll(/\/ObjStm\b[^>]{0,500}>>\s*stream\r?\n/g)) {
    const start = match.index + match[0].length
    const end = text.indexOf("endstream", start)
    if (end < 0 || budget <= 0) break
    try {
      const inflated = inflateSync(bytes.subarray(start, end), { maxOutputLength: budget })
      budget -= inflated.length
      search(inflated.toString("latin1"))
    } catch {
      // The engine reads other filters; an action in them does not run here either.
      continue
    }
  }
  return [...found]
}
