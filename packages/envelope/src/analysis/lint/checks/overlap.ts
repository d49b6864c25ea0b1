import type { Box, Range } from "../../../language/compiled.ts"
import { type Bits, bitsOf, meets } from "../../cells/bits.ts"
import type { Inspection } from "../inspection.ts"
import { severityOf } from "../../cells/ranking.ts"
import { listed } from "./words.ts"

/**
 * W203: which rules of the envelope a rule outdoes because it is more restrictive, where both hold. One finding for
 * each rule that does.
 */
export const checkOverlap = ({ find, idOf, model, ownRules, say }: Inspection): void => {
  const { boxes, compiled, grid, numbers } = model
  for (const rule of ownRules) {
    const severity = severityOf(compiled.rules[rule]!.outcome)
    let shared: Bits | undefined
    const outdone = ownRules.filter((other) => {
      if (severityOf(compiled.rules[other]!.outcome) >= severity) return false
      const pair = firstPair(boxes, numbers[rule]!, numbers[other]!)
      if (pair !== undefined) shared ??= bitsOf(grid.words, pair)
      return pair !== undefined
    })
    if (shared === undefined) continue
    const example = find("W203", [rule, ...outdone], { within: shared })
    say(
      "W203",
      [rule, ...outdone],
      `Where both hold, ${idOf(rule)} (${compiled.rules[rule]!.outcome}) decides over ` +
        `${listed(outdone.map((other) => `${idOf(other)} (${compiled.rules[other]!.outcome})`))}.`,
      example === null ? {} : { example }
    )
  }
}

const firstPair = (
  boxes: ReadonlyArray<Box>,
  ones: ReadonlyArray<number>,
  others: ReadonlyArray<number>
): readonly [number, number] | undefined => {
  for (const one of ones) for (const other of others) if (boxesMeet(boxes[one]!, boxes[other]!)) return [one, other]
  return undefined
}

/** True when two boxes share a point. Ranges of a box go by axis, ascending. */
export const boxesMeet = (one: Box, other: Box): boolean => {
  for (let left = 0, right = 0; left < one.length && right < other.length;) {
    const order = one[left]!.axis - other[right]!.axis
    if (order === 0 && !rangesMeet(one[left]!, other[right]!)) return false
    if (order <= 0) left++
    if (order >= 0) right++
  }
  return true
}

const rangesMeet = (one: Range, other: Range): boolean => {
  if (one.kind === "interval" && other.kind === "interval") return one.from <= other.to && other.from <= one.to
  if (one.kind === "set" && other.kind === "set") return meets(one.bits, other.bits)
  throw new TypeError("One axis has ranges of two kinds.")
}
