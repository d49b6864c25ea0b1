/**
 * Finds comments of over 120 columns, which the formatter does not break, and counts other long lines: expressions of
 * tests and statements of SQL, of which there may be a few. Spec: house.md section 5.
 */
import type { SourceFile } from "./floors.ts"

/** Most columns of a line. */
const COLUMNS = 120
/** Most lines over that which are no comments. It only goes down. */
const MOST_LONG = 50

const isComment = (line: string): boolean => /^\s*(?:\*|\/\/|\/\*)/.test(line)

/** Long lines that are comments, one line each; and the others, where they are more than `most`. */
export const longLines = (files: ReadonlyArray<SourceFile>, most = MOST_LONG): ReadonlyArray<string> => {
  const long = files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, at) => (line.length > COLUMNS ? [{ line, at: `${path}:${at + 1}` }] : []))
  )
  const others = long.filter(({ line }) => !isComment(line))
  return [
    ...long.filter(({ line }) => isComment(line)).map(({ at }) => `${at} is a comment of over ${COLUMNS} columns`),
    ...(others.length > most
      ? [`expected at most ${most} lines of code over ${COLUMNS} columns, found ${others.length}:`].concat(
          others.map(({ at }) => `  ${at}`)
        )
      : [])
  ]
}
