/** Finds random properties that begin with another seed each time: a failure of these does not come again. */
import type { SourceFile } from "./floors.ts"

/** A run of fast-check, up to its open bracket. */
const running = /\bfc\.(?:assert|check)\(/g

/** The text of a call, from its name to the bracket that closes it. Brackets in texts of a call are taken as pairs. */
const callAt = (text: string, begin: number): string => {
  let depth = 0
  for (let at = text.indexOf("(", begin); at < text.length; at++) {
    if (text[at] === "(") depth++
    else if (text[at] === ")" && --depth === 0) return text.slice(begin, at + 1)
  }
  return text.slice(begin)
}

/** Options that are named at the end of a call, as `…, name)` or `…, name(500))`. */
const namedOptions = /,\s*(\w+)(?:\([\w.,\s]*\))?\s*\)$/

/**
 * Runs of fast-check without a seed, one line each. The seed is in the call, or in the declaration of the options that
 * the call names. Spec: docs/testing.md, Seeds.
 */
export const unseededRuns = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> =>
  files
    .filter(({ text }) => /from "fast-check"/.test(text))
    .flatMap(({ path, text }) =>
      [...text.matchAll(running)].flatMap(({ index }) => {
        const call = callAt(text, index)
        const options = namedOptions.exec(call)?.[1]
        const isSeeded =
          /\bseed\b/.test(call) ||
          (options !== undefined && new RegExp(`\\b(?:const|let) ${options}\\b[^\\n]*\\bseed\\b`).test(text))
        return isSeeded
          ? []
          : [`${path}:${text.slice(0, index).split("\n").length} has no fixed seed; add seed: NUMBER`]
      })
    )
