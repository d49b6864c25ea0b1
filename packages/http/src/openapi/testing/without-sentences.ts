/** An interface description without what people read, so that two of them can be compared by what programs read. */

const sentences: ReadonlySet<string> = new Set(["summary", "description", "title", "example", "examples"])

/**
 * Leaves out summaries, descriptions, titles and examples at every depth. A member of a body that has such a name
 * stays: below `properties`, names belong to bodies.
 */
export const withoutSentences = (value: unknown, namesOfBodies = false): unknown => {
  if (Array.isArray(value)) return value.map((item) => withoutSentences(item))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => namesOfBodies || !sentences.has(name))
      .map(([name, inner]) => [name, withoutSentences(inner, name === "properties" && !namesOfBodies)])
  )
}
