/** Puts a table between the marks of a page. */

/** The comments between which a page has the table of this name. */
export const marksOf = (name: string): { readonly start: string; readonly end: string } => ({
  start: `<!-- ${name} -->`,
  end: `<!-- end of ${name} -->`
})

/** A page with this text between its marks; null where the marks are missing once each, in order. */
export const putBetween = (page: string, name: string, text: string): string | null => {
  const { end, start } = marksOf(name)
  const [before, rest, ...moreStarts] = page.split(start)
  const [, after, ...moreEnds] = rest?.split(end) ?? []
  if (after === undefined || moreStarts.length > 0 || moreEnds.length > 0) return null
  return `${before}${start}\n\n${text}\n\n${end}${after}`
}
