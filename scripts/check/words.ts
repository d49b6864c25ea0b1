import type { SourceFile } from "./floors.ts"

/** A word or a form that the project avoids, with its replacement and its ceiling. */
export interface AvoidedForm {
  readonly name: string
  /** Matched within a line; each match counts once. */
  readonly pattern: RegExp
  readonly instead: string
  /** The most occurrences in the files of `scope`. Lower it with each commit that removes some. */
  readonly atMost: number
  readonly scope: "TypeScript" | "TypeScript and Markdown"
}

const prose = (name: string, pattern: RegExp, instead: string, atMost: number): AvoidedForm => ({
  name,
  pattern,
  instead,
  atMost,
  scope: "TypeScript and Markdown"
})

/** Forms that the check counts. */
export const avoidedForms: ReadonlyArray<AvoidedForm> = [
  prose("told", /(told|Told|TOLD)(?![a-z])/g, "reported, notified, logged or given", 0),
  prose("whoever", /whoever/gi, "the caller, the process that, or anyone who", 0),
  prose("odd", /\bodd(?![a-z])|[a-z]Odd(?![a-z])/g, "invalid or unusual", 0),
  prose("what is so", /\bwhat is so\b/gi, "the current state", 1),
  prose("asked", /\b[Aa]sked(?![a-z])/g, "requested, called or queried", 18),
  prose("mended", /\bmended\b/gi, "fixed or repaired", 0),
  prose("look", /\blook(s|ed|ing)?\b(?![- ]up\b)/gi, "check, search, inspect or read", 48),
  {
    name: "a line over 120 columns",
    // Not where a line is one regular expression: neither the formatter nor an author can split it.
    pattern: /^(?!\s*\/(?![*/]).+\/[a-z]*,?$).{121,}$/g,
    instead: "two lines",
    atMost: 45,
    scope: "TypeScript"
  }
]

/** Files whose text is fixed, and those that list the words. */
const exempt = /(^|\/)(CHANGELOG\.md$|fixtures\/|spec\/|scripts\/check\/words(\.test)?\.ts$)/

/**
 * The forms that occur more often than their ceiling allows: one line with both counts, then one line per occurrence.
 */
export const checkWords = (
  files: ReadonlyArray<SourceFile>,
  forms: ReadonlyArray<AvoidedForm> = avoidedForms
): ReadonlyArray<string> =>
  forms.flatMap((form) => {
    const places = files
      .filter(({ path }) => !exempt.test(path) && (form.scope !== "TypeScript" || path.endsWith(".ts")))
      .flatMap(({ path, text }) =>
        text.split("\n").flatMap((line, index) => [...line.matchAll(form.pattern)].map(() => `  ${path}:${index + 1}`))
      )
    if (places.length <= form.atMost) return []
    return [`${form.name}: expected at most ${form.atMost}, found ${places.length}; write ${form.instead}`, ...places]
  })
