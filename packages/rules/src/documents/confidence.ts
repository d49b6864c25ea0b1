/** Confidence of fields: how often a rule with such evidence was right, on layouts of which each has one vote. */
import { boxOf } from "./candidates.ts"
import { confidenceTable } from "./confidence-table.ts"
import type { ExtractedField } from "./document.ts"
import type { Guess } from "./guess.ts"

/** The bins of a guess, from the finest to the coarsest. */
export const binsOf = (name: string, { arithmetic, checksum, margin, score }: Guess): ReadonlyArray<string> => {
  const level = score >= 90 ? "sure" : score >= 75 ? "likely" : score >= 55 ? "weak" : "poor"
  const apart = margin >= 15 ? "apart" : "close"
  const check = arithmetic ?? checksum ?? null
  const checked = check === null ? "unchecked" : check ? "right" : "wrong"
  return [`${name} ${level} ${apart} ${checked}`, `${name} ${level}`, level]
}

/** The most for a value against which its check speaks, and no layout says how much. Unit: thousandths. */
const UNSUPPORTED = 550

/** The rule that a model's value names. Such a value is no fact that envelopes read. */
export const MODEL_RULE = "model"

/** The confidence of a guess, in thousandths. Bins that no layout filled answer with a coarser one. */
const confidenceOf = (name: string, guess: Guess): number => {
  // No layouts were identity documents: their check digits decide.
  if (guess.rule === "mrz") return guess.score >= 90 ? 970 : 300
  if (guess.rule === MODEL_RULE) return confidenceTable[MODEL_RULE]!
  const [finest, ...coarser] = binsOf(name, guess)
  const fitted = confidenceTable[finest!]
  if (fitted !== undefined) return fitted
  const rest = coarser.map((bin) => confidenceTable[bin]).find((found) => found !== undefined) ?? 200
  return guess.arithmetic === false || guess.checksum === false ? Math.min(UNSUPPORTED, rest) : rest
}

/** The field that a guess makes. */
export const fieldOf = (name: string, guess: Guess, most = 1_000): ExtractedField => {
  const { arithmetic = null, checksum = null, from, label, rule, segment, to, value } = guess
  const evidence = { page: segment.page, box: boxOf(segment, from, to), rule, label, checksum, arithmetic }
  return { value, confidence: Math.min(most, confidenceOf(name, guess)), evidence }
}
