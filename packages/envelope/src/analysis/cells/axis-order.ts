import type { Axis, Box } from "../../language/compiled.ts"

/** Most axes for which every order is weighed; more are put in order greedily. 2^12 sets of axes. */
const MAX_WEIGHED = 12

/**
 * The order in which a diagram asks for the axes: the one with the fewest half-decided boxes, summed over its prefixes.
 *
 * A box is half decided where some of its axes were visited and some were not: every such box can double the nodes.
 * Axes that nothing tests come last.
 * - Shape: each axis once, by its place in the list. The same boxes always give the same order.
 * - Spec: a gap; decision 0022 has the measurements.
 */
export const axisOrder = (axes: ReadonlyArray<Axis>, boxes: ReadonlyArray<Box>): ReadonlyArray<number> => {
  const tested = [...axes.keys()].filter((axis) => boxes.some((box) => box.some((range) => range.axis === axis)))
  const place = new Map(tested.map((axis, bit) => [axis, bit]))
  const shapes = new Map<string, { readonly bits: ReadonlyArray<number>; count: number }>()
  for (const box of boxes) {
    const bits = box.map(({ axis }) => place.get(axis)!)
    const shape = shapes.get(bits.join())
    if (shape === undefined) shapes.set(bits.join(), { bits, count: 1 })
    else shape.count++
  }
  const order =
    tested.length <= MAX_WEIGHED
      ? weighed(tested.length, [...shapes.values()])
      : greedy(tested.length, [...shapes.values()])
  return [...order.map((bit) => tested[bit]!), ...[...axes.keys()].filter((axis) => !place.has(axis))]
}

interface Shape {
  readonly bits: ReadonlyArray<number>
  readonly count: number
}

/** The best of all orders, by the best order of each set of axes that may come first. */
const weighed = (count: number, shapes: ReadonlyArray<Shape>): ReadonlyArray<number> => {
  const masks = shapes.map(({ bits, count }) => ({ mask: bits.reduce((mask, bit) => mask | (1 << bit), 0), count }))
  const cost = new Float64Array(1 << count).fill(Infinity)
  const last = new Int8Array(1 << count)
  cost[0] = 0
  for (let first = 0; first < 1 << count; first++) {
    let open = 0
    for (const { mask, count } of masks) if ((mask & first) !== 0 && (mask & ~first) !== 0) open += count
    cost[first] = cost[first]! + open
    for (let bit = 0; bit < count; bit++) {
      const next = first | (1 << bit)
      if (next !== first && cost[first]! < cost[next]!) {
        cost[next] = cost[first]!
        last[next] = bit
      }
    }
  }
  const order: Array<number> = []
  for (let left = (1 << count) - 1; left !== 0; left &= ~(1 << order[0]!)) order.unshift(last[left]!)
  return order
}

/** One axis after the other, each time the one that leaves the fewest boxes half decided. */
const greedy = (count: number, shapes: ReadonlyArray<Shape>): ReadonlyArray<number> => {
  const order: Array<number> = []
  const left = new Set(Array.from({ length: count }, (_, bit) => bit))
  while (left.size > 0) {
    const open = (bit: number): number =>
      shapes.reduce(
        (sum, { bits, count }) =>
          sum +
          (bits.some((other) => other === bit || !left.has(other)) &&
          bits.some((other) => other !== bit && left.has(other))
            ? count
            : 0),
        0
      )
    const costs = [...left].map((bit) => ({ bit, open: open(bit) }))
    const best = costs.reduce((least, next) => (next.open < least.open ? next : least))
    order.push(best.bit)
    left.delete(best.bit)
  }
  return order
}
