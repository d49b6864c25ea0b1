/** The time inside an id. */
import { ID_LETTERS } from "@flyball/evidence/id"

/** Characters of an id after its prefix. */
export const ID_CHARACTERS = 26

/** The first of them, which hold the 48 bits of time: 130 bits are written for 128, with two zero bits in front. */
export const TIME_CHARACTERS = 10

/**
 * When an id was made, from its first 48 bits. A time read from the id needs no column of its own, and cannot disagree
 * with it.
 *
 * - Unit: milliseconds since 1970 UTC.
 */
export const idAtMs = (id: string): number => {
  const from = id.length - ID_CHARACTERS
  let value = 0
  for (let at = from; at < from + TIME_CHARACTERS; at++) value = value * 32 + ID_LETTERS.indexOf(id[at]!)
  return value
}
