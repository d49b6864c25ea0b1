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
