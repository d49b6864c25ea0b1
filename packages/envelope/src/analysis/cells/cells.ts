import { leastPoint } from "../../language/boxes.ts"
import type { Axis, Range } from "../../language/compiled.ts"
import { addBit, type Bits, keyOf } from "./bits.ts"

/** Consecutive points of an axis, both ends included. */
export interface Run {
  readonly from: number
  readonly to: number
}

/**
 * Points of one axis that no box distinguishes. They need not be neighbours: two stretches that every box treats alike
 * are one cell.
 */
export interface Cell {
  readonly runs: ReadonlyArray<Run>
  /** How many points. A big integer: an axis may span more than 2^53. */
  readonly width: bigint
  /** The boxes that admit these points, those that do not test the axis included. */
  readonly boxes: Bits
}

/** How many points an axis has. */
export const axisWidth = (axis: Axis): bigint => BigInt(axis.max) - BigInt(leastPoint(axis)) + 1n

/** True when a range admits a point of its axis. */
export const admits = (range: Range, axis: Axis, point: number): boolean => {
  if (range.kind === "interval") return range.from <= point && point <= range.to
  const bit = point - leastPoint(axis)
  return bit >= 0 && bit >>> 5 < range.bits.length && ((range.bits[bit >>> 5]! >>> (bit & 31)) & 1) === 1
}

/**
 * Cuts an axis at every end of the ranges, and joins the pieces that the same boxes admit.
 *
 * - `ranges`: which box has which range on this axis; `others` the boxes that do not test it.
 * - Shape: the cells hold every point of the axis once, in the order of their first point. At most 2 x ranges + 2
 *   pieces for intervals.
 */
export const cellsOf = (
  axis: Axis,
  ranges: ReadonlyArray<{ readonly box: number; readonly range: Range }>,
  others: Bits
): ReadonlyArray<Cell> => {
  const starts = startsOf(
    axis,
    ranges.map(({ range }) => range)
  )
  const found = new Map<string, { runs: Array<Run>; width: bigint; boxes: Bits }>()
  starts.forEach((from, index) => {
    const to = index + 1 < starts.length ? starts[index + 1]! - 1 : axis.max
    const boxes = others.slice()
    for (const { box, range } of ranges) if (admits(range, axis, from)) addBit(boxes, box)
    const key = keyOf(boxes)
    const cell = found.get(key)
    const width = BigInt(to) - BigInt(from) + 1n
    if (cell === undefined) found.set(key, { runs: [{ from, to }], width, boxes })
    else {
      cell.runs.push({ from, to })
      cell.width += width
    }
  })
  return [...found.values()]
}

/** First points of the pieces, ascending. Absence is a piece of its own, so that an example can avoid it. */
const startsOf = (axis: Axis, ranges: ReadonlyArray<Range>): ReadonlyArray<number> => {
  const least = leastPoint(axis)
  const starts = new Set([least, axis.min])
  const cut = (point: number): void => {
    if (point > least && point <= axis.max) starts.add(point)
  }
  for (const range of ranges) {
    if (range.kind === "interval") {
      cut(range.from)
      cut(range.to + 1)
    } else {
      for (let point = least + 1; point <= axis.max && point - least <= range.bits.length * 32; point++) {
        if (admits(range, axis, point) !== admits(range, axis, point - 1)) cut(point)
      }
    }
  }
  return [...starts].sort((left, right) => left - right)
}
