/** A field before its confidence is known. */
import type { Scored } from "./candidates.ts"
import type { Segment } from "./layout.ts"

/** A value with what speaks for it. */
export interface Guess {
  readonly value: string
  readonly segment: Segment
  readonly from: number
  readonly to: number
  readonly rule: string
  readonly label: string | null
  /** 0 to 100. */
  readonly score: number
  /** Score less the score of the next other value. */
  readonly margin: number
  /** Left out or null where nothing was checked. */
  readonly checksum?: boolean | null
  readonly arithmetic?: boolean | null
}

/** Guesses of a document by the name of their field. */
export type Guesses = { readonly [field: string]: Guess }

/** The guess that a scored value makes. */
export const guessOf = ({ candidate, label, place, score }: Scored, margin: number): Guess => ({
  ...candidate,
  rule: place,
  label,
  score: Math.round(score),
  margin: Math.round(margin)
})
