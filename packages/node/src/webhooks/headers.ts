/** Headers of a request, before they reach a socket. */
import { connectionHeaders } from "@flyball/core"

/** The names that were found to be well last, in their order: ours are the same on every request. */
let fine: ReadonlyArray<string> = []

/**
 * Describes the problem with these headers in one sentence that shows no value; null if there is none.
 *
 * - Shape: names are tokens of RFC 9110, each once whatever its case; values are printable ASCII without spaces at
 * their ends, so no line ends.
 */
export const headersProblem = (headers: { readonly [name: string]: string }): string | null => {
  const names = Object.keys(headers)
  if (!isFine(names)) {
    const problem = namesProblem(names)
    if (problem !== null) return problem
    fine = names
  }
  for (const name of names) {
    if (!/^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/.test(headers[name]!))
      return `the value of ${name.toLowerCase()} holds something other than printable ASCII, or a space at an end`
  }
  return null
}

const isFine = (names: ReadonlyArray<string>): boolean => {
  if (names.length !== fine.length) return false
  for (let i = 0; i < names.length; i++) if (names[i] !== fine[i]) return false
  return true
}

const namesProblem = (names: ReadonlyArray<string>): string | null => {
  const seen = new Set<string>()
  for (const name of names) {
    const lower = name.toLowerCase()
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return "a header's name holds a character that a name cannot hold"
    if (connectionHeaders.has(lower)) return `the header ${lower} is set by the connection`
    if (seen.has(lower)) return `the header ${lower} is there twice`
    seen.add(lower)
  }
  return null
}
