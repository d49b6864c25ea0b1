import type { SourceFile } from "./floors.ts"

/** Where the avoided words are listed, with their replacements. */
export const GLOSSARY = "packages/core/GLOSSARY.md"

/** Words that the project avoids: one row of the glossary's table `avoid | write | except`. */
export interface AvoidedWords {
  /** Forms of one word, as written in prose. In identifiers they count as a word of camelCase or snake_case. */
  readonly words: ReadonlyArray<string>
  readonly instead: string
  /** Phrases with one of the words that may be written. */
  readonly except: ReadonlyArray<string>
}

/** The rows of the table of avoided words in the text of the glossary. */
export const avoidedWords = (glossary: string): ReadonlyArray<AvoidedWords> => {
  const [, table = ""] = glossary.split(/^\| avoid \| write \| except \|\n\| ?-+ ?\| ?-+ ?\| ?-+ ?\|\n/m)
  const [rows = ""] = table.split(/^(?!\|)/m)
  return rows
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => {
      const [, words = "", instead = "", except = ""] = row.split("|").map((cell) => cell.trim())
      return {
        words: words.split(",").map((word) => word.trim()),
        instead,
        except: [...except.matchAll(/`([^`]+)`/g)].map(([, phrase]) => phrase!)
      }
    })
}

/** Files whose text is fixed, and those that list the words. */
const exempt = /(^|\/)(CHANGELOG\.md$|GLOSSARY\.md$|fixtures\/|spec\/|scripts\/check\/words\.test\.ts$)/

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")

/** The word in prose, in capitals, and as a word of camelCase or snake_case; not its letters within another word. */
const patternOf = (words: ReadonlyArray<string>): RegExp => {
  const any = words.map(escaped).join("|")
  const capital = words.map((word) => escaped(word[0]!.toUpperCase() + word.slice(1))).join("|")
  const upper = words.map((word) => escaped(word.toUpperCase())).join("|")
  return new RegExp(
    [
      `(?<![A-Za-z])(?:${any}|${capital})(?![a-z])`,
      `(?<=[a-z0-9])(?:${capital})(?![a-z])`,
      `(?<![A-Za-z])(?:${upper})(?![A-Za-z])`
    ].join("|"),
    "g"
  )
}

/** Every occurrence of an avoided word, with its replacement. A glossary without the table is reported itself. */
export const checkWords = (files: ReadonlyArray<SourceFile>, glossary: string): ReadonlyArray<string> => {
  const rows = avoidedWords(glossary)
  if (rows.length === 0) return [`${GLOSSARY} has no table with the columns avoid, write, except`]
  const checks = rows.map(({ except, instead, words }) => ({
    instead,
    pattern: patternOf(words),
    phrases: new RegExp(except.map(escaped).join("|") || "(?!)", "gi")
  }))
  return files
    .filter(({ path }) => !exempt.test(path))
    .flatMap(({ path, text }) =>
      text.split("\n").flatMap((line, index) =>
        checks.flatMap(({ instead, pattern, phrases }) =>
          // A phrase that is allowed is blanked out: what stands beside it counts.
          [...line.replace(phrases, " ").matchAll(pattern)].map(
            ([word]) => `${path}:${index + 1} writes "${word}"; write ${instead}`
          )
        )
      )
    )
}
