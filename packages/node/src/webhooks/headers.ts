/** Headers of a request, before they reach a socket. */
import { connectionHeaders } from "@flyball/core"

/** Names that were found to be well, in lower case: few, since ours are always the same. */
const known = new Map<string, string>()
/** Unit: names. */
const MAX_KNOWN = 100

/** The name in lower case; or what is wrong with it. */
const readName = (name: string): { readonly lower: string } | string => {
  const before = known.get(name)
  if (before !== undefined) return { lower: before }
  const lower = name.toLowerCase()
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return "a header's name holds a character that a name cannot hold"
  if (connectionHeaders.has(lower)) return `the header ${lower} is set by the connection`
  if (known.size < MAX_KNOWN) known.set(name, lower)
  return { lower }
}

/**
 * What is wrong with these headers, as a sentence that shows no value; null when nothing is.
 *
 * - Shape: names are tokens of RFC 9110, each once whatever its case; values are printable ASCII without spaces at their ends, so no line ends.
 */
export const headersProblem = (headers: { readonly [name: string]: string }): string | null => {
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const read = readName(name)
    if (typeof read === "string") return read
    const { lower } = read
    if (seen.has(lower)) return `the header ${lower} is there twice`
    if (!/^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/.test(value)) return `the value of ${lower} holds something other than printable ASCII, or a space at an end`
    seen.add(lower)
  }
  return null
}
