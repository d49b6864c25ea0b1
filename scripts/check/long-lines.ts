/** Finds lines of over 120 columns, which the formatter does not break. Spec: house.md section 5. */
import type { SourceFile } from "./floors.ts"

/** Most columns of a line. */
const COLUMNS = 120

/** Lines over that, as `path:line`, with what to do. */
export const longLines = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> =>
  files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, at) => (line.length > COLUMNS ? [`${path}:${at + 1} is over ${COLUMNS} columns`] : []))
  )

/**
 * Lines of pages over that, without tables, code blocks and the targets of links, which cannot be broken, and without
 * change logs.
 */
export const longPageLines = (pages: ReadonlyArray<SourceFile>): ReadonlyArray<string> =>
  longLines(
    pages
      .filter(({ path }) => !path.endsWith("CHANGELOG.md"))
      .map(({ path, text }) => {
        let isCode = false
        const prose = text.split("\n").map((line) => {
          const isFence = /^\s*```/.test(line)
          if (isFence) isCode = !isCode
          return isFence || isCode || /^\s*\|/.test(line) ? "" : line.replace(/\]\([^)]*\)|https?:\/\/\S+/g, "")
        })
        return { path, text: prose.join("\n") }
      })
  )
