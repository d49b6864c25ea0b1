/** Lays out text that has no positions in lines of one width, so that rules have one form to read. */
import type { TextItem } from "@flyball/rules"
import type { Writer } from "./writer.ts"

const LETTER = 600
const LINE = 1_200
const LINES = 60
const WIDTH = 60_000
const PAGES = 200

/** A line, or a piece of one that nobody sees. Two spaces or a tab in it part columns. */
export type LaidLine = string | { readonly text: string; readonly hidden: TextItem["hidden"] }

/** Letters of a line, at most: what is longer goes on below, since a page has a width. */
const LETTERS = 4_000

const wrapped = (line: LaidLine): LaidLine | ReadonlyArray<LaidLine> => {
  const { hidden, text } = typeof line === "string" ? { text: line, hidden: null } : line
  if (text.length <= LETTERS) return line
  const pieces = Math.ceil(text.length / LETTERS)
  return Array.from({ length: pieces }, (_, at) => ({ text: text.slice(at * LETTERS, (at + 1) * LETTERS), hidden }))
}

/** Writes the lines as pages. */
export const layOut = (given: ReadonlyArray<LaidLine>, writer: Writer): void => {
  const lines = given.flatMap(wrapped)
  lines.forEach((line, index) => {
    if (index >= LINES * PAGES) return
    if (index % LINES === 0) writer.page(WIDTH, LINE * (LINES + 1))
    const { hidden, text } = typeof line === "string" ? { text: line, hidden: null } : line
    for (const match of text.replaceAll("\t", "    ").matchAll(/\S+(?: \S+)*/g)) {
      writer.item({
        text: match[0],
        x: match.index * LETTER,
        y: (index % LINES) * LINE,
        width: match[0].length * LETTER,
        height: 1_000,
        hidden
      })
    }
  })
  if (lines.length > LINES * PAGES) writer.warn("partly_read")
}
