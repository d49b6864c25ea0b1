/** Confidence of fields: how often a rule with such evidence was right. */
import type { Guess } from "./extract.ts"

/** The confidence of a guess, in thousandths. */
export const confidenceOf = (_field: string, guess: Guess): number =>
  Math.max(50, Math.min(970, Math.round(guess.score * 9.5) + (guess.arithmetic === true ? 60 : 0)))
