/**
 * Finds exports of packages and apps without a doc comment, or with one that has no words; doc comments that open with
 * a pronoun; and refusals and services without a `Spec:` line.
 *
 * Reads the lines as the formatter leaves them: an export begins its line, and its comment ends on the line before. A
 * type of the same name as a documented value, or derived from one with `typeof`, needs none. Spec: style.md section 6.
 */
import type { SourceFile } from "./floors.ts"

/** Sources whose exports need a doc comment. */
const documented = /^(?:packages|apps)\/[^/]+\/src\/(?!.*\.test\.ts$)/

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/
const derivedType = /^export type \w+(?:<[^=]*>)? =(?:$|.*\btypeof\b)/

/** The words of the comment that ends at this line; null where no doc comment ends there. */
const commentEndingAt = (lines: ReadonlyArray<string>, end: number): string | null => {
  if (!lines[end]?.trimEnd().endsWith("*/")) return null
  let begin = end
  while (begin > 0 && !/^\s*\/\*/.test(lines[begin]!)) begin--
  if (!/^\s*\/\*\*/.test(lines[begin]!)) return null
  return lines
    .slice(begin, end + 1)
    .join(" ")
    .replace(/[/*\s]+/g, " ")
    .trim()
}

/** Exports without a doc comment, one line each. */
export const undocumentedExports = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> =>
  files
    .filter(({ path }) => documented.test(path))
    .flatMap(({ path, text }) => {
      const lines = text.split("\n")
      return lines.flatMap((line, at) => {
        const name = declaration.exec(line)?.[1]
        if (name === undefined || derivedType.test(line)) return []
        // An overload, and a type beside its value, have the comment of the first declaration.
        if (lines.slice(0, at).some((earlier) => declaration.exec(earlier)?.[1] === name)) return []
        return (commentEndingAt(lines, at - 1) ?? "") === ""
          ? [`${path}:${at + 1} exports ${name} without a doc comment; say what it does in one sentence`]
          : []
      })
    })

/** A doc comment and its first word, where that is neither a verb nor a noun. */
const pronoun = /^[ \t]*\/\*\*[\s*]*(What|Who|Whether|Each|Those)\b/gm

/** Doc comments that open with a pronoun, one line each. Spec: style.md section 6. */
export const vagueSummaries = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> =>
  files.flatMap(({ path, text }) =>
    [...text.matchAll(pronoun)].map(
      ({ 1: word, index }) =>
        `${path}:${text.slice(0, index).split("\n").length} opens a doc comment with "${word}"; ` +
        "begin with a verb or a noun, or with True for a boolean"
    )
  )

/** Refusals of the contract, and services of core with their operations: each implements a specification. */
const specified: ReadonlyArray<{ readonly path: RegExp; readonly line: RegExp }> = [
  { path: /^packages\/contract\/src\/refusals\/(?!.*\.test\.ts$)/, line: /^export class (\w+)/ },
  {
    path: /^packages\/core\/src\/.+\/service\.ts$/,
    line: /^export (?:class (?=\w+ extends Context\.Service)|interface (?=\w+Api\b))(\w+)/
  }
]

/** Refusals and services whose doc comment names no section of the specification and no decision, one line each. */
export const exportsWithoutSpec = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> =>
  files.flatMap(({ path, text }) => {
    const lines = text.split("\n")
    return specified
      .filter((kind) => kind.path.test(path))
      .flatMap((kind) =>
        lines.flatMap((line, at) => {
          const name = kind.line.exec(line)?.[1]
          return name === undefined || / Spec: \S/.test(commentEndingAt(lines, at - 1) ?? "")
            ? []
            : [`${path}:${at + 1} exports ${name} without \`Spec:\`; name the section or the decision`]
        })
      )
  })
