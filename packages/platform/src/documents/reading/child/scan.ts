/** Recognises the text of a page that is an image, as scanners make it. */
import { type Orientation, recognise, type Recognised, writeWords } from "./image.ts"
import type { Writer } from "./writer.ts"

/** An image as a PDF's engine decodes it; bits of `kind` 1 are set where it is white. */
export interface Pixels {
  readonly width: number
  readonly height: number
  /** None for a mask. */
  readonly kind?: number
  readonly data: Uint8Array
}

/** An image where a page paints it; the unit square of `matrix` is the image, its origin the lower left corner. */
export interface Painted {
  readonly name: string
  readonly matrix: readonly [number, number, number, number, number, number]
  /** The box on the page. Unit: points. */
  readonly box: readonly [number, number, number, number]
}

/** A page with fewer characters that somebody sees is a scan, if an image covers enough of it. */
export const FEW_CHARACTERS = 50
/** The least share of a page that an image of its text covers. */
const LEAST_SHARE = 0.25
/** Images of a page that are read: some scanners paint strips. */
const MAX_IMAGES = 8
/** No image is begun after this, so that what was read is answered within the time of a document. Unit: ms. */
const LATEST_MS = 5_000
/** Longest side that the engine is given: finer print is not read better, and takes memory. Unit: pixels. */
const MAX_SIDE = 4_000
/** Largest image that is decoded. Unit: pixels. */
export const MAX_PIXELS = 40_000_000

/** True where no image is begun any more. */
export const isLate = (startedMs: number): boolean => performance.now() - startedMs > LATEST_MS

/** The size of a page. Unit: points. */
interface Page {
  readonly width: number
  readonly height: number
}

/** The images of a page that are to be recognised; none where they cover little of it, as a logo does. */
export const scansOf = (images: ReadonlyArray<Painted>, page: Page): ReadonlyArray<Painted> => {
  const share = ({ box: [x0, y0, x1, y1] }: Painted): number => {
    const [across, down] = [Math.min(x1, page.width) - Math.max(x0, 0), Math.min(y1, page.height) - Math.max(y0, 0)]
    return across <= 0 || down <= 0 ? 0 : (across * down) / (page.width * page.height)
  }
  const seen = images.filter((image) => share(image) > 0)
  const covering = seen.reduce((sum, image) => sum + share(image), 0)
  return covering < LEAST_SHARE ? [] : seen.toSorted((a, b) => share(b) - share(a))
}

/** Recognises images of a page and writes their words; false where some are left out. */
export const readScans = async (
  scans: ReadonlyArray<Painted>,
  page: Page,
  pixelsOf: (name: string) => Promise<Pixels | null>,
  startedMs: number,
  writer: Writer
): Promise<boolean> => {
  let whole = scans.length <= MAX_IMAGES
  for (const { box, matrix, name } of scans.slice(0, MAX_IMAGES)) {
    const pixels = isLate(startedMs) ? null : await pixelsOf(name)
    const found = pixels === null ? null : await recognised(pixels, matrix)
    if (found === null) whole = false
    else {
      const [x, y, right, bottom] = box.map((points) => points * 100) as [number, number, number, number]
      const size = { width: page.width * 100, height: page.height * 100 }
      writeWords(found, { x, y, width: right - x, height: bottom - y }, size, writer)
    }
  }
  return whole
}

/** An image that the engine does not take costs itself, and not the text of its document. */
const recognised = (pixels: Pixels, matrix: Painted["matrix"]): Promise<Recognised | null> =>
  recognise(greyOf(pixels), orientationOf(matrix)).catch(() => null)

/** The way that an image stands on its page, whose axis points down. */
export const orientationOf = ([a, b, c, d]: Painted["matrix"]): Orientation => {
  if (Math.abs(a) + Math.abs(d) >= Math.abs(b) + Math.abs(c)) {
    if (a >= 0) return d <= 0 ? 1 : 4
    return d > 0 ? 3 : 2
  }
  if (b > 0) return c > 0 ? 6 : 5
  return c < 0 ? 8 : 7
}

/** A PNM of grey pixels on white paper, of which each is the mean of a square where the image is large. */
export const greyOf = ({ data, height, kind = 1, width }: Pixels): Uint8Array => {
  const step = Math.ceil(Math.max(width, height) / MAX_SIDE)
  const [across, down] = [Math.ceil(width / step), Math.ceil(height / step)]
  const rowBytes = (width + 7) >> 3
  const channels = kind === 3 ? 4 : 3
  const greyAt = (x: number, y: number): number => {
    if (kind === 1) return ((data[y * rowBytes + (x >> 3)]! >> (7 - (x & 7))) & 1) * 255
    const at = (y * width + x) * channels
    const grey = (data[at]! * 77 + data[at + 1]! * 150 + data[at + 2]! * 29) >> 8
    return kind === 3 ? 255 - Math.round(((255 - grey) * data[at + 3]!) / 255) : grey
  }
  const head = Buffer.from(`P5\n${across} ${down}\n255\n`, "latin1")
  const out = new Uint8Array(head.length + across * down)
  out.set(head)
  for (let y = 0, to = head.length; y < down; y++)
    for (let x = 0; x < across; x++, to++) {
      let [sum, count] = [0, 0]
      for (let j = y * step; j < Math.min(height, (y + 1) * step); j++)
        for (let i = x * step; i < Math.min(width, (x + 1) * step); i++, count++) sum += greyAt(i, j)
      out[to] = Math.round(sum / count)
    }
  return out
}
