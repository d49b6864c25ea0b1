import type { Axis, Box } from "../../language/compiled.ts"
import { axisOrder } from "./axis-order.ts"
import { addAll, type Bits, bitsOf, wordsFor } from "./bits.ts"
import { axisWidth, type Cell, cellsOf } from "./cells.ts"

/** One axis as diagram and search meet it. */
export interface Level {
  readonly axis: Axis
  /** Its place in the list of axes. */
  readonly index: number
  readonly cells: ReadonlyArray<Cell>
  /** Places of all its cells, and the boxes that admit one of them at least. */
  readonly places: ReadonlyArray<number>
  readonly reach: Bits
  /** Boxes that test this axis. */
  readonly tests: Bits
  /** Boxes that test this axis and none after it: where they are still alive here, they hold. */
  readonly ends: Bits
  /** How many points this axis and those after it have together. */
  readonly volume: bigint
}

/**
 * Axes cut into elementary cells by a list of boxes, in the order in which they are visited. Boxes go by their place in
 * the list.
 */
export interface CellGrid {
  readonly axes: ReadonlyArray<Axis>
  readonly levels: ReadonlyArray<Level>
  readonly words: number
  /** Every box. */
  readonly all: Bits
  /** Boxes without any range: they hold everywhere. */
  readonly everywhere: Bits
  /** Points of the whole domain. */
  readonly volume: bigint
}

/**
 * Cuts the axes by the boxes and puts them into an order that keeps the diagram small.
 *
 * - `order`: places of the axes, where the caller has a good one already.
 * - Fails: never. What of a range lies outside its axis admits nothing.
 * - Spec: exact analysis of envelopes; decision 0022.
 */
export const cellGrid = (
  axes: ReadonlyArray<Axis>,
  boxes: ReadonlyArray<Box>,
  order: ReadonlyArray<number> = axisOrder(axes, boxes)
): CellGrid => {
  const words = wordsFor(boxes.length)
  const all = bitsOf(words, boxes.keys())
  const place = new Map(order.map((axis, position) => [axis, position]))
  const last = boxes.map((box) => box.reduce((late, { axis }) => Math.max(late, place.get(axis)!), -1))
  const ranges = axes.map((): Array<{ box: number; range: Box[number] }> => [])
  boxes.forEach((box, number) => box.forEach((range) => ranges[range.axis]!.push({ box: number, range })))
  const levels: Array<Level> = []
  let volume = 1n
  for (let position = order.length - 1; position >= 0; position--) {
    const index = order[position]!
    const here = ranges[index]!
    const tests = bitsOf(
      words,
      here.map(({ box }) => box)
    )
    const cells = cellsOf(
      axes[index]!,
      here,
      all.map((word, at) => word & ~tests[at]!)
    )
    volume *= axisWidth(axes[index]!)
    levels.push({
      axis: axes[index]!,
      index,
      cells,
      places: [...cells.keys()],
      reach: unionOf(words, cells),
      tests,
      ends: bitsOf(
        words,
        here.filter(({ box }) => last[box] === position).map(({ box }) => box)
      ),
      volume
    })
  }
  levels.reverse()
  return {
    axes,
    levels,
    words,
    all,
    everywhere: bitsOf(
      words,
      [...boxes.keys()].filter((box) => last[box] === -1)
    ),
    volume
  }
}

/** The boxes that admit one of these cells at least. */
export const unionOf = (words: number, cells: Iterable<Cell>): Bits => {
  const union = new Uint32Array(words)
  for (const { boxes } of cells) addAll(union, boxes)
  return union
}
