/**
 * Sets of points as unions of boxes: intersection, union and complement, exact on integers.
 *
 * A union is a list of boxes; `[[]]` is everything, `[]` nothing. Ranges are never empty and never the whole axis.
 */
import type { Axis, Box, Range } from "./compiled.ts"
import { MAX_WORKING_BOXES } from "./limits.ts"

/** A set of points. */
export type Boxes = ReadonlyArray<Box>

/** Everything, and nothing. */
export const everything: Boxes = [[]]

/** No box: the empty set of inputs. */
export const nothing: Boxes = []

/** A set is made of more boxes than are worked with. */
export class TooManyBoxes extends Error {
  override readonly name = "TooManyBoxes"
}

/** Least point of an axis: that of absence, where there may be absence. */
export const leastPoint = (axis: Axis): number => (axis.mayBeAbsent ? axis.min - 1 : axis.min)

/** How many points an axis has. Exact for axes of a `set`, which are small. */
export const pointCount = (axis: Axis): number => axis.max - leastPoint(axis) + 1

/** The points of an interval on an axis. */
export const interval = (index: number, axis: Axis, from: number, to: number): Boxes => {
  const low = Math.max(from, leastPoint(axis))
  const high = Math.min(to, axis.max)
  if (low > high) return nothing
  if (low === leastPoint(axis) && high === axis.max) return everything
  return axis.kind === "int"
    ? [[{ axis: index, kind: "interval", from: low, to: high }]]
    : pointSet(index, axis, (point) => point >= low && point <= high)
}

/** The points of an enum or bool axis that a predicate holds for. */
export const pointSet = (index: number, axis: Axis, admits: (point: number) => boolean): Boxes => {
  const least = leastPoint(axis)
  const count = pointCount(axis)
  const bits = new Uint32Array(Math.ceil(count / 32))
  let admitted = 0
  for (let bit = 0; bit < count; bit++) {
    if (!admits(least + bit)) continue
    bits[bit >>> 5]! |= 1 << (bit & 31)
    admitted++
  }
  return admitted === 0 ? nothing : admitted === count ? everything : [[{ axis: index, kind: "set", bits }]]
}

/** Points of both. Throws `TooManyBoxes`. */
export const both = (a: Boxes, b: Boxes): Boxes => {
  const boxes: Array<Box> = []
  for (const one of a) {
    for (const other of b) {
      const box = meet(one, other)
      if (box === null) continue
      boxes.push(box)
      if (boxes.length > MAX_WORKING_BOXES) throw new TooManyBoxes("A condition expands to too many boxes.")
    }
  }
  return tidy(boxes)
}

/** Points of either. Throws `TooManyBoxes`. */
export const either = (a: Boxes, b: Boxes): Boxes => {
  if (a.length + b.length > MAX_WORKING_BOXES) throw new TooManyBoxes("A condition expands to too many boxes.")
  return tidy([...a, ...b])
}

/**
 * The same set in fewer boxes, where two of them differ on one axis only and touch there. Small unions alone are worth
 * it.
 */
export const merged = (boxes: Boxes, axes: ReadonlyArray<Axis>): Boxes => {
  if (boxes.length > MAX_MERGED) return boxes
  for (let i = 0; i < boxes.length; i++) {
    for (let j = i + 1; j < boxes.length; j++) {
      const joined = join(boxes[i]!, boxes[j]!, axes)
      if (joined !== null)
        return merged(tidy([...boxes.slice(0, i), joined, ...boxes.slice(i + 1, j), ...boxes.slice(j + 1)]), axes)
    }
  }
  return boxes
}

/** Twice what a rule may have. */
const MAX_MERGED = 128

const join = (a: Box, b: Box, axes: ReadonlyArray<Axis>): Box | null => {
  if (a.length !== b.length || a.some((range, i) => range.axis !== b[i]!.axis)) return null
  const unlike = a.flatMap((range, i) => (sameRange(range, b[i]!) ? [] : [i]))
  if (unlike.length !== 1) return null
  const place = unlike[0]!
  const [one, other] = [a[place]!, b[place]!]
  const axis = axes[one.axis]!
  if (one.kind === "interval" && other.kind === "interval") {
    if (one.from > other.to + 1 || other.from > one.to + 1) return null
    return [
      ...a.slice(0, place),
      ...(interval(one.axis, axis, Math.min(one.from, other.from), Math.max(one.to, other.to))[0] ?? []),
      ...a.slice(place + 1)
    ]
  }
  if (one.kind === "interval" || other.kind === "interval") return null
  const either = pointSet(
    one.axis,
    axis,
    (point) => hasBit(one.bits, point - leastPoint(axis)) || hasBit(other.bits, point - leastPoint(axis))
  )
  return [...a.slice(0, place), ...(either[0] ?? []), ...a.slice(place + 1)]
}

const sameRange = (a: Range, b: Range): boolean =>
  a.kind === "interval"
    ? b.kind === "interval" && a.from === b.from && a.to === b.to
    : b.kind === "set" && a.bits.every((word, i) => word === b.bits[i])

/** All other points. Throws `TooManyBoxes`. */
export const others = (boxes: Boxes, axes: ReadonlyArray<Axis>): Boxes =>
  boxes.reduce(
    (rest: Boxes, box) => both(rest, tidy(box.flatMap((range) => othersOf(range, axes[range.axis]!)))),
    everything
  )

const othersOf = (range: Range, axis: Axis): Boxes => {
  if (range.kind === "interval")
    return [
      ...interval(range.axis, axis, leastPoint(axis), range.from - 1),
      ...interval(range.axis, axis, range.to + 1, axis.max)
    ]
  const least = leastPoint(axis)
  return pointSet(range.axis, axis, (point) => !hasBit(range.bits, point - least))
}

/** True for a bit that is set. */
export const hasBit = (bits: Uint32Array, bit: number): boolean => ((bits[bit >>> 5]! >>> (bit & 31)) & 1) === 1

const meet = (a: Box, b: Box): Box | null => {
  const box: Array<Range> = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const one = a[i]
    const other = b[j]
    if (other === undefined || (one !== undefined && one.axis < other.axis)) {
      box.push(one!)
      i++
    } else if (one === undefined || other.axis < one.axis) {
      box.push(other)
      j++
    } else {
      const range = meetRanges(one, other)
      if (range === null) return null
      box.push(range)
      i++
      j++
    }
  }
  return box
}

const meetRanges = (a: Range, b: Range): Range | null => {
  if (a.kind === "interval" && b.kind === "interval") {
    const from = Math.max(a.from, b.from)
    const to = Math.min(a.to, b.to)
    return from > to ? null : { axis: a.axis, kind: "interval", from, to }
  }
  if (a.kind === "interval" || b.kind === "interval") throw new TypeError("One axis has ranges of two kinds.")
  const bits = a.bits.map((word, i) => word & b.bits[i]!)
  return bits.every((word) => word === 0) ? null : { axis: a.axis, kind: "set", bits }
}

/** Without boxes that lie in another one; of equal ones the first stays. */
const tidy = (boxes: Boxes): Boxes =>
  boxes.filter((box, i) => !boxes.some((other, j) => i !== j && liesIn(box, other) && (j < i || !liesIn(other, box))))

const liesIn = (box: Box, other: Box): boolean =>
  other.every((wide) => {
    const narrow = box.find((range) => range.axis === wide.axis)
    if (narrow === undefined) return false
    if (narrow.kind === "interval" && wide.kind === "interval") return narrow.from >= wide.from && narrow.to <= wide.to
    return narrow.kind === "set" && wide.kind === "set" && narrow.bits.every((word, i) => (word & ~wide.bits[i]!) === 0)
  })
