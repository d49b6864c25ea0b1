/** Lines and segments of a document: what a reader of the page takes as one line, and as one piece of it. */
import type { DocumentPage, ReadDocument, TextItem } from "./document.ts"

/** Neighbouring words of one line. */
export interface Segment {
  readonly text: string
  /** From 1. */
  readonly page: number
  /** Place of its line among all lines. */
  readonly line: number
  readonly x: number
  readonly right: number
  readonly y: number
  readonly height: number
}

/** Segments of a line, from the left. */
export type Line = ReadonlyArray<Segment>

/** Pages at both ends of a document, and text of a page, that rules read: a document may be made to be slow. */
const ENDS = 5
const MAX_ITEMS = 1_500
const MAX_CHARACTERS = 20_000
const MAX_SEGMENT = 300
const MAX_SEGMENTS = 64

/** True where rules do not read all that can be seen. */
export const isCut = ({ pages }: ReadDocument): boolean =>
  pages.length > 2 * ENDS || pages.some((page) => shownOf(page).length < seenOf(page).length)

const seenOf = (page: DocumentPage): ReadonlyArray<TextItem> => page.items.filter(({ hidden }) => hidden === null)

const shownOf = (page: DocumentPage): ReadonlyArray<TextItem> => {
  let characters = 0
  return seenOf(page)
    .slice(0, MAX_ITEMS)
    .filter(({ text }) => (characters += text.length) <= MAX_CHARACTERS)
}

/** Lines of a document, from the top; hidden text is not in them. */
export const linesOf = (document: ReadDocument): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  document.pages.forEach((page, index) => {
    if (index >= ENDS && index < document.pages.length - ENDS) return
    const items = shownOf(page)
    const rows: Array<{ readonly baseline: number; readonly items: Array<TextItem> }> = []
    for (const item of items.toSorted((a, b) => baselineOf(a) - baselineOf(b) || a.x - b.x)) {
      const row = rows.at(-1)
      if (row !== undefined && baselineOf(item) - row.baseline < 0.3 * Math.min(item.height, row.items[0]!.height)) {
        row.items.push(item)
      } else rows.push({ baseline: baselineOf(item), items: [item] })
    }
    for (const row of rows) lines.push(segmentsOf(row.items, index + 1, lines.length))
  })
  return lines
}

const baselineOf = ({ height, y }: TextItem): number => y + 0.8 * height

const segmentsOf = (items: Array<TextItem>, page: number, line: number): Line => {
  const segments: Array<Segment> = []
  for (const { height, text, width, x, y } of items.toSorted((a, b) => a.x - b.x)) {
    const last = segments.at(-1)
    const gap = last === undefined ? 0 : x - last.right
    if (last === undefined || gap > 0.9 * Math.max(height, last.height) || last.text.length > MAX_SEGMENT) {
      if (segments.length === MAX_SEGMENTS) break
      segments.push({ text: text.trimStart(), page, line, x, right: x + width, y, height })
      continue
    }
    const space = gap > 0.15 * height && !last.text.endsWith(" ") && !text.startsWith(" ") ? " " : ""
    const right = Math.max(last.right, x + width)
    segments[segments.length - 1] = { ...last, text: last.text + space + text, right }
  }
  return segments.map((segment) => ({ ...segment, text: segment.text.replace(/\s+/g, " ").trim() }))
}

/** Lines as text, from the top. */
export const textOf = (lines: ReadonlyArray<Line>): string =>
  lines.map((line) => line.map((segment) => segment.text).join("  ")).join("\n")
