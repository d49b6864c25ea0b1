/** How much of its chain a pack holds, as its own checkpoint says. */
import type { Report } from "@flyball/evidence"

/**
 * The sentence; null where the pack does not say it: its records are not in order, or a trusted checkpoint shows that
 * the chain was longer. Records after the pack's checkpoint are not known here.
 */
export const coverageSentence = ({ checkpoint, counts, header, verdicts }: Report): string | null => {
  if (header === null || checkpoint === null || verdicts.integrity !== "ok" || verdicts.completeness === "truncated")
    return null
  const { size } = checkpoint
  const held = counts.records
  if (held === 0) return `None of the ${size === 1 ? "one record" : `${size} records`} of the chain is in this pack.`
  const left = size - held
  const subject =
    header.kind === "sparse"
      ? `${held} of the records ${header.from} to ${header.to}`
      : header.from === header.to
        ? `Record ${header.from}`
        : `Records ${header.from} to ${header.to}`
  const rest =
    left > 0
      ? `${left} ${left === 1 ? "is" : "are"} not in this pack.`
      : `${held === 1 ? "it is" : "all of them are"} in this pack.`
  return `${subject} of a chain of ${size}; ${rest}`
}
