/** Confidence of fields: how often a rule with such evidence was right, on layouts of which each has one vote. */
import { confidenceTable } from "./confidence-table.ts"
import type { Guess } from "./guess.ts"

/** The bins of a guess, from the finest to the coarsest. */
export const binsOf = (name: string, { arithmetic, checksum, margin, score }: Guess): ReadonlyArray<string> => {
  const level = score >= 90 ? "sure" : score >= 75 ? "likely" : score >= 55 ? "weak" : "poor"
  const apart = margin >= 15 ? "apart" : "close"
  const check = arithmetic ?? checksum
  const checked = check === null ? "unchecked" : check ? "right" : "wrong"
  return [`${name} ${level} ${apart} ${checked}`, `${name} ${level}`, level]
}

/** The most for a value against which its check speaks, and no layout says how much. Unit: thousandths. */
const UNSUPPORTED = 550

/** The confidence of a guess, in thousandths. Bins that no layout filled answer with a coarser one. */
export const confidenceOf = (name: string, guess: Guess): number => {
  // No layouts were identity documents: their check digits decide.
  if (guess.rule === "mrz") return guess.score >= 90 ? 970 : 300
  const [finest, ...coarser] = binsOf(name, guess)
  const fitted = confidenceTable[finest!]
  if (fitted !== undefined) return fitted
  const rest = coarser.map((bin) => confidenceTable[bin]).find((found) => found !== undefined) ?? 200
  return guess.arithmetic === false || guess.checksum === false ? Math.min(UNSUPPORTED, rest) : rest
}
