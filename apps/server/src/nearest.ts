/** Guesses what a mistyped name was meant to be. */

/** Edits after which a name is no longer a typing mistake. */
const MOST_EDITS = 4

/** The known name nearest to `name`, if it is near enough to be a typing mistake; null otherwise. */
export const nearest = (name: string, known: ReadonlyArray<string>): string | null => {
  const most = Math.min(MOST_EDITS, Math.floor(name.length / 2))
  const [best] = known
    .map((candidate) => ({ candidate, edits: editDistance(candidate, name) }))
    .sort((a, b) => a.edits - b.edits)
  return best !== undefined && best.edits <= most ? best.candidate : null
}

const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}
