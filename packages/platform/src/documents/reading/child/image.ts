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

/**
 * Writes the words of an image, those of a line that stand close together as one item.
 *
 * - Fails: throws `Unreadable` where there is no engine, or no image.
 */
export const readImage = async (bytes: Uint8Array, writer: Writer): Promise<void> => {
  if (engine === undefined || trained === undefined) throw new Unreadable("unsupported_type")
  started ??= start(engine, trained)
  const { FS, TessBaseAPI } = await started
  FS.writeFile("/input", bytes)
  const api = new TessBaseAPI()
  if (api.Init(null, "eng", 1) !== 0 || api.SetImageFile(1, 0) !== 0) throw new Unreadable("malformed")
  api.Recognize(null)
  const rows = api.GetTSVText(0).split("\n")
  api.End()
  writer.warn("recognised_text")
  let scale = 1
  let open: { readonly line: string; text: string; x: number; y: number; right: number; height: number } | null = null
  const end = (): void => {
    if (open === null) return
    const { height, right, text, x, y } = open
    const scaled = (length: number): number => Math.round(length * scale)
    const box = { x: scaled(x), y: scaled(y), width: scaled(right - x), height: scaled(height) }
    writer.item({ text, ...box, hidden: null })
    open = null
  }
  for (const row of rows) {
    const [level, page, block, paragraph, lineNumber, , ...rest] = row.split("\t")
    const [x, y, width, height, likely] = rest.map(Number) as [number, number, number, number, number]
    if (level === "1" && width > 0) {
      scale = WIDTH / width
      writer.page(WIDTH, Math.round(height * scale))
    }
    if (level !== "5" || likely < LEAST_LIKELY) continue
    const [line, text] = [[page, block, paragraph, lineNumber].join(" "), rest[5] ?? ""]
    if (open !== null && open.line === line && x - open.right < height) {
      open.text += ` ${text}`
      open.right = x + width
      open.height = Math.max(open.height, height)
    } else {
      end()
      open = { line, text, x, y, right: x + width, height }
    }
  }
  end()
}
