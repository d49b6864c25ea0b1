/** Verdicts in sentences: how many of each, and how much of a list is shown. */

/** "3 ok, 1 withheld": verdicts in the order of `texts`, those that did not come up left out. */
export const countedVerdicts = (
  texts: { readonly [verdict: string]: string },
  verdicts: { readonly [verdict: string]: number | undefined }
): string =>
  Object.keys(texts)
    .flatMap((verdict) => (verdicts[verdict] === undefined ? [] : [`${verdicts[verdict]} ${verdict}`]))
    .join(", ")

/** Says so where a list holds only the first of all. */
export const listed = (list: ReadonlyArray<unknown>, all: number): string =>
  list.length < all ? `, the first ${list.length} of them here` : ""
