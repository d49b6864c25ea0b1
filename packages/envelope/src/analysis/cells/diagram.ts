import { addBit, type Bits, keyOf, meets } from "./bits.ts"
import type { CellGrid } from "./cell-grid.ts"

/** Which cell an input takes on each axis, by the axis' place in the list of axes; undefined where any cell will do. */
export type Path = ReadonlyArray<number | undefined>

/**
 * One way of judging inputs: the rank of each box, least wins; `none` where no box of this side holds, and as the rank
 * of a box that is not this side's.
 */
export interface Side {
  readonly ranks: ReadonlyArray<number>
  readonly none: number
  /** Where the side at this place came to this rank or a lesser one, this one no longer matters and counts as 0. */
  readonly idle?: { readonly side: number; readonly rank: number }
}

/** The inputs on which the sides come out with these ranks. */
export interface Region {
  readonly ranks: ReadonlyArray<number>
  readonly volume: bigint
  readonly example: Path
}

/** Result of a diagram. Incomplete when the budget was spent: then it proves nothing. */
export type Counted =
  | { readonly complete: true; readonly nodes: number; readonly regions: ReadonlyArray<Region> }
  | { readonly complete: false; readonly nodes: number }

/** Most nodes a diagram may have: some seconds of work at the worst. */
export const NODE_BUDGET = 200_000

interface Node {
  readonly live: Bits
  readonly ranks: ReadonlyArray<number>
  weight: bigint
  readonly parent: Node | undefined
  readonly cell: number
  level: number
}

/**
 * Counts exactly how many inputs come out with each combination of ranks, one axis after the other. Inputs that leave
 * the same boxes to be decided are one node.
 *
 * - Shape: regions in the order found; their volumes add up to the grid's.
 * - Fails: never; over `budget` nodes it is incomplete.
 * - Spec: exact analysis, decision 0022.
 */
export const countRegions = (grid: CellGrid, sides: ReadonlyArray<Side>, budget: number = NODE_BUDGET): Counted => {
  const { levels, words } = grid
  const settle = settler(grid, sides)
  const spans = levels.map((_, from) =>
    levels.map((_, to) => (to > from ? levels[from]!.volume / levels[to]!.volume : 1n)).concat(levels[from]!.volume)
  )
  const waiting = levels.map(() => new Map<string, Node>())
  const regions = new Map<string, Region & { volume: bigint }>()
  let nodes = 0

  const place = (
    live: Bits,
    ranks: ReadonlyArray<number>,
    weight: bigint,
    from: number,
    parent: Node | undefined,
    cell: number
  ): void => {
    let level = from
    while (level < levels.length && !meets(live, levels[level]!.tests)) level++
    const volume = level === from ? weight : weight * spans[from]![level]!
    let key = ""
    for (const rank of ranks) key += String.fromCharCode(rank)
    if (level === levels.length) {
      const region = regions.get(key)
      if (region === undefined) regions.set(key, { ranks, volume, example: pathTo(grid, parent, cell) })
      else region.volume += volume
      return
    }
    key += keyOf(live)
    const node = waiting[level]!.get(key)
    if (node !== undefined) node.weight += volume
    else {
      nodes++
      waiting[level]!.set(key, { live: live.slice(), ranks, weight: volume, parent, cell, level })
    }
  }

  const live = grid.all.slice()
  place(
    live,
    settle(
      live,
      grid.everywhere,
      sides.map(({ none }) => none)
    ),
    1n,
    0,
    undefined,
    -1
  )
  const kept = new Uint32Array(words)
  for (let at = 0; at < levels.length; at++) {
    const { cells, ends } = levels[at]!
    for (const node of waiting[at]!.values()) {
      if (nodes > budget) return { complete: false, nodes }
      let width = 0n
      for (let cell = 0; cell < cells.length; cell++) {
        width += cells[cell]!.width
        if (cell + 1 < cells.length && sameWithin(node.live, cells[cell]!.boxes, cells[cell + 1]!.boxes)) continue
        for (let word = 0; word < words; word++) kept[word] = node.live[word]! & cells[cell]!.boxes[word]!
        place(kept, settle(kept, ends, node.ranks), node.weight * width, at + 1, node, cell)
        width = 0n
      }
    }
    waiting[at]!.clear()
  }
  return { complete: true, nodes, regions: [...regions.values()] }
}

/** True when two cells leave the same boxes of `live`. */
const sameWithin = (live: Bits, left: Bits, right: Bits): boolean => {
  for (let word = 0; word < live.length; word++) if ((live[word]! & (left[word]! ^ right[word]!)) !== 0) return false
  return true
}

/**
 * Makes the step that takes finished boxes out of `live` (in place), notes their ranks, and drops boxes that can no
 * longer win on any side.
 */
const settler = (
  grid: CellGrid,
  sides: ReadonlyArray<Side>
): ((live: Bits, ends: Bits, before: ReadonlyArray<number>) => ReadonlyArray<number>) => {
  const { words } = grid
  const beating = sides.map((side) => beatingOf(words, side))
  return (live, ends, before) => {
    if (!meets(live, ends) && ends !== grid.everywhere) return before
    const ranks = [...before]
    for (let word = 0; word < words; word++) {
      for (let left = live[word]! & ends[word]!; left !== 0; left &= left - 1) {
        const box = word * 32 + 31 - Math.clz32(left & -left)
        for (let side = 0; side < ranks.length; side++) ranks[side] = Math.min(ranks[side]!, sides[side]!.ranks[box]!)
      }
    }
    sides.forEach(({ idle }, side) => {
      if (idle !== undefined && ranks[idle.side]! <= idle.rank) ranks[side] = 0
    })
    for (let word = 0; word < words; word++) {
      let beats = 0
      for (let side = 0; side < ranks.length; side++) beats |= beating[side]!.get(ranks[side]!)![word]!
      live[word] = live[word]! & beats & ~ends[word]!
    }
    return ranks
  }
}

/** By rank, the boxes that come out with a lesser one. */
const beatingOf = (words: number, { none, ranks }: Side): ReadonlyMap<number, Bits> => {
  const order = [...ranks.keys()].sort((left, right) => ranks[left]! - ranks[right]!)
  const found = new Map<number, Bits>()
  const lesser = new Uint32Array(words)
  let next = 0
  for (const rank of [...new Set([0, ...ranks, none])].sort((left, right) => left - right)) {
    for (; next < order.length && ranks[order[next]!]! < rank; next++) addBit(lesser, order[next]!)
    found.set(rank, lesser.slice())
  }
  return found
}

const pathTo = (grid: CellGrid, parent: Node | undefined, cell: number): Path => {
  const path: Array<number | undefined> = grid.axes.map(() => undefined)
  for (let node = parent, taken = cell; node !== undefined; taken = node.cell, node = node.parent)
    path[grid.levels[node.level]!.index] = taken
  return path
}
