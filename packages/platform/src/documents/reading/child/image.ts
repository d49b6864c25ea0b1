/** Recognises the text of an image, where the host has installed an engine. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { gunzipSync } from "node:zlib"
import { Unreadable, type Writer } from "./writer.ts"

/** Files of the engine and of its data, which the host found; none without one. */
const [engine, trained] = process.argv.slice(2)
/** Width of a page whose size on paper nobody knows. Unit: hundredths of a point. */
const WIDTH = 60_000
/** Words that the engine itself holds for unlikely, in hundredths. */
const LEAST_LIKELY = 30

/** The part of the engine in use: `tesseract.js-core` has no types. */
interface Engine {
  readonly FS: { readonly writeFile: (path: string, bytes: Uint8Array) => void }
  readonly TessBaseAPI: new () => {
    readonly End: () => void
    readonly Init: (path: null, language: string, mode: number) => number
    readonly SetImageFile: (orientation: number, angle: number) => number
    readonly Recognize: (monitor: null) => number
    readonly GetTSVText: (page: number) => string
  }
}

/** Words that are lower are read by nobody. Unit: hundredths of a point. */
const LEAST_HEIGHT = 200

/** One engine serves all documents of a child: each takes 100 MB. */
let started: Promise<Engine> | null = null

const start = async (program: string, data: string): Promise<Engine> => {
  const make = createRequire(program)(program) as (options: object) => Promise<Engine>
  const made = await make({ TesseractProgress: () => undefined })
  made.FS.writeFile("eng.traineddata", gunzipSync(readFileSync(data)))
  return made
}

/** True for an image of a form that is read: PNG or JPEG. */
export const isImage = (bytes: Uint8Array): boolean =>
  /^(?:\u0089PNG\r\n|\u00ff\u00d8\u00ff)/.test(Buffer.from(bytes.subarray(0, 6)).toString("latin1"))

/** True where the host has installed an engine. */
export const canRecognise = engine !== undefined && trained !== undefined

/** The way that an image stands, as EXIF numbers it: 1 is upright, 6 is to be turned a quarter to the right. */
export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

/** Words of an image that stand close together in a line. Unit: pixels of the image as it stands upright. */
interface Words {
  readonly text: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The size of an image, upright, and what stands in it. Unit: pixels. */
export interface Recognised {
  readonly width: number
  readonly height: number
  readonly words: ReadonlyArray<Words>
}

/**
 * Recognises the words of a PNG, JPEG or PNM.
 *
 * - Fails: throws `Unreadable` where there is no engine, or no image.
 */
export const recognise = (bytes: Uint8Array, orientation: Orientation = 1): Promise<Recognised> =>
  recogniseOnce(bytes, orientation).catch((cause) => {
    // An engine that gave up is of no use to the next document.
    if (!(cause instanceof Unreadable)) started = null
    throw cause
  })

const recogniseOnce = async (bytes: Uint8Array, orientation: Orientation): Promise<Recognised> => {
  if (engine === undefined || trained === undefined) throw new Unreadable("unsupported_type")
  started ??= start(engine, trained)
  const { FS, TessBaseAPI } = await started
  FS.writeFile("/input", bytes)
  const api = new TessBaseAPI()
  if (api.Init(null, "eng", 1) !== 0 || api.SetImageFile(orientation, 0) !== 0) {
    api.End()
    throw new Unreadable("malformed")
  }
  api.Recognize(null)
  const rows = api.GetTSVText(0).split("\n")
  api.End()
  const words: Array<Words> = []
  let size = { width: 0, height: 0 }
  let open: { readonly line: string; words: Words } | null = null
  for (const row of rows) {
    const [level, page, block, paragraph, lineNumber, , ...rest] = row.split("\t")
    const [x, y, width, height, likely] = rest.map(Number) as [number, number, number, number, number]
    if (level === "1" && width > 0) size = { width, height }
    if (level !== "5" || likely < LEAST_LIKELY) continue
    const [line, text] = [[page, block, paragraph, lineNumber].join(" "), rest[5] ?? ""]
    if (open !== null && open.line === line && x - open.words.x - open.words.width < height) {
      const { words } = open
      open.words = {
        ...words,
        text: `${words.text} ${text}`,
        width: x + width - words.x,
        height: Math.max(words.height, height)
      }
    } else {
      if (open !== null) words.push(open.words)
      open = { line, words: { text, x, y, width, height } }
    }
  }
  if (open !== null) words.push(open.words)
  return { ...size, words }
}

/**
 * Writes words into a box of a page. Words that are too small for an eye, or beside the page, are hidden. Unit:
 * hundredths of a point.
 */
export const writeWords = (
  { height, width, words }: Recognised,
  box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
  page: { readonly width: number; readonly height: number },
  writer: Pick<Writer, "item" | "warn">
): void => {
  writer.warn("recognised_text")
  const [across, down] = [box.width / width, box.height / height]
  for (const { text, ...at } of words) {
    const [x, y] = [Math.round(box.x + at.x * across), Math.round(box.y + at.y * down)]
    const size = { width: Math.round(at.width * across), height: Math.round(at.height * down) }
    const isOutside = x + size.width <= 0 || y + size.height <= 0 || x >= page.width || y >= page.height
    const hidden = size.height < LEAST_HEIGHT ? "small" : isOutside ? "outside" : null
    writer.item({ text, x, y, ...size, hidden })
  }
}

/**
 * Writes the words of an image as those of a page.
 *
 * - Fails: throws `Unreadable` where there is no engine, or no image.
 */
export const readImage = async (bytes: Uint8Array, writer: Writer): Promise<void> => {
  const found = await recognise(bytes)
  const height = Math.round((found.height * WIDTH) / found.width)
  writer.page(WIDTH, height)
  const page = { width: WIDTH, height }
  writeWords(found, { x: 0, y: 0, ...page }, page, writer)
}
