/**
 * Boxes as rows of bytes. Axes that lie next to each other are taken together, as long as their cells are few: for each
 * cell there is a row that says of every
 * box at which of these axes it fails. So an evaluation looks up a row or three, where it would else have to test each
 * box on each axis.
 */
import { hasBit, leastPoint, pointCount } from "../language/boxes.ts"
import type { Axis, Box, Range } from "../language/compiled.ts"

/** Bytes that are worked on at once: one a box. */
export const BYTES = 4
/** Most boxes of a group. Each group has rows of its own, so that bounds of far apart rules do not multiply. */
export const MAX_GROUP = 128
/** Most rows of a segment that is of more than one axis. */
const MAX_ROWS = 256
/** Up to how many points an axis has its offsets by point, over all groups: 32 KB. Basis points are among these. */
const MAX_DIRECT = 16_384

/** Some boxes, in their order. */
export interface Group {
  readonly boxes: number
  readonly words: number
  readonly segments: ReadonlyArray<Segment>
}

/**
 * Neighbouring axes. In the row of a cell the byte of a box is 0 where it admits the cell, else 1 + the first of these
 * axes at which it does not.
 */
export interface Segment {
  readonly steps: ReadonlyArray<Step>
  readonly rows: Int32Array
}

/**
 * Contribution of an axis to the index of a row: by point from the least one on or, where there are `bounds`, by the
 * number of bounds that are not above it.
 */
export interface Step {
  readonly axis: number
  readonly least: number
  readonly bounds: Float64Array | null
  readonly offsets: Uint16Array
}

/** Lays out boxes, up to 128 a group. */
export const groupsOf = (boxes: ReadonlyArray<Box>, axes: ReadonlyArray<Axis>): ReadonlyArray<Group> => {
  const count = Math.ceil(boxes.length / MAX_GROUP)
  return Array.from({ length: count }, (_, i) =>
    groupOf(boxes.slice(i * MAX_GROUP, (i + 1) * MAX_GROUP), axes, MAX_DIRECT / count)
  )
}

const groupOf = (boxes: ReadonlyArray<Box>, axes: ReadonlyArray<Axis>, maxDirect: number): Group => {
  const words = Math.ceil(boxes.length / BYTES)
  const tested = [...new Set(boxes.flatMap((box) => box.map((range) => range.axis)))].sort((a, b) => a - b)
  const cuts = tested.map((axis) => cutOf(axis, axes[axis]!, boxes))
  return {
    boxes: boxes.length,
    words,
    segments: neighbours(cuts).map((some) => segmentOf(some, axes, boxes.length, words, maxDirect))
  }
}

/** An axis in stretches on which no box changes, and in classes of stretches that the same boxes admit. */
interface Cut {
  readonly axis: number
  /** Where the stretches begin, the first at the least point, and their classes. */
  readonly starts: ReadonlyArray<number>
  readonly classes: ReadonlyArray<number>
  /** By class and box: whether the box admits it. */
  readonly admitted: ReadonlyArray<ReadonlyArray<boolean>>
}

const cutOf = (index: number, axis: Axis, boxes: ReadonlyArray<Box>): Cut => {
  const ranges = boxes.map((box) => box.find((range) => range.axis === index) ?? null)
  const starts = startsOf(ranges, axis)
  const admitted: Array<ReadonlyArray<boolean>> = []
  const known = new Map<string, number>()
  const classes = starts.map((start) => {
    const admits = ranges.map((range) => range === null || isIn(range, start, axis))
    const key = admits.map(Number).join("")
    const found = known.get(key)
    if (found !== undefined) return found
    known.set(key, admitted.length)
    return admitted.push(admits) - 1
  })
  return { axis: index, starts, classes, admitted }
}

const startsOf = (ranges: ReadonlyArray<Range | null>, axis: Axis): ReadonlyArray<number> => {
  const least = leastPoint(axis)
  const starts = new Set([least])
  for (const range of ranges) {
    if (range?.kind === "set") for (let point = least; point <= axis.max; point++) starts.add(point)
    else if (range !== null) for (const start of [range.from, range.to + 1]) if (start <= axis.max) starts.add(start)
  }
  return [...starts].sort((a, b) => a - b)
}

const isIn = (range: Range, point: number, axis: Axis): boolean =>
  range.kind === "interval" ? point >= range.from && point <= range.to : hasBit(range.bits, point - leastPoint(axis))

/**
 * Axes in their order, as many together as have few enough cells. Without any axis there is one segment still, of one
 * row.
 */
const neighbours = (cuts: ReadonlyArray<Cut>): ReadonlyArray<ReadonlyArray<Cut>> => {
  let segment: Array<Cut> = []
  const segments = [segment]
  let cells = 1
  for (const cut of cuts) {
    cells *= cut.admitted.length
    if (cells > MAX_ROWS && segment.length > 0) {
      segment = []
      segments.push(segment)
      cells = cut.admitted.length
    }
    segment.push(cut)
  }
  return segments
}

const segmentOf = (
  cuts: ReadonlyArray<Cut>,
  axes: ReadonlyArray<Axis>,
  boxes: number,
  words: number,
  maxDirect: number
): Segment => {
  // Places without a box fail from the beginning.
  let rows = rowOf(words, (place) => (place < boxes ? 0 : 1))
  const steps = cuts.map((cut): Step => {
    const step = stepOf(cut, axes[cut.axis]!, rows.length, maxDirect)
    rows = crossed(
      rows,
      cut.admitted.map((admits) => rowOf(words, (box) => (admits[box] === false ? cut.axis + 1 : 0)))
    )
    return step
  })
  return { steps, rows }
}

/** A row of bytes, four a word, the first the lowest. */
const rowOf = (words: number, byteAt: (box: number) => number): Int32Array => {
  const row = new Int32Array(words)
  for (let box = 0; box < words * BYTES; box++) row[box >>> 2]! |= byteAt(box) << ((box & 3) << 3)
  return row
}

/** All rows with each class of one axis more, class by class. */
const crossed = (rows: Int32Array, classes: ReadonlyArray<Int32Array>): Int32Array => {
  const all = new Int32Array(rows.length * classes.length)
  classes.forEach((row, i) => {
    for (let word = 0; word < rows.length; word++)
      all[i * rows.length + word] = joined(rows[word]!, row[word % row.length]!)
  })
  return all
}

/**
 * A word and what comes after it: of each byte the first that is not 0. As `table.ts` puts rows together; written
 * twice, since there a call into another file makes evaluating a fifth slower.
 */
const joined = (word: number, next: number): number =>
  word | (next & ~Math.imul(((word + 0x7f7f7f7f) >>> 7) & 0x01010101, 0xff))

const stepOf = ({ axis: index, classes, starts }: Cut, axis: Axis, stride: number, maxDirect: number): Step => {
  const least = leastPoint(axis)
  if (pointCount(axis) > maxDirect && axis.kind === "int")
    return {
      axis: index,
      least,
      bounds: Float64Array.from(starts.slice(1)),
      offsets: Uint16Array.from(classes, (one) => one * stride)
    }
  const offsets = new Uint16Array(pointCount(axis))
  classes.forEach((one, stretch) =>
    offsets.fill(
      one * stride,
      starts[stretch]! - least,
      stretch + 1 < starts.length ? starts[stretch + 1]! - least : offsets.length
    )
  )
  return { axis: index, least, bounds: null, offsets }
}
