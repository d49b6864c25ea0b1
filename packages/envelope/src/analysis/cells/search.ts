import { type Bits, isEmpty, keyOf, meets } from "./bits.ts"
import type { Cell } from "./cells.ts"
import { type CellGrid, unionOf } from "./cell-grid.ts"
import type { Path } from "./diagram.ts"

/** Which inputs match. */
export interface Query {
  /** Boxes that hold the input, all of them. */
  readonly within: Bits
  /** Boxes that must not hold it. */
  readonly avoid: Bits
  /** Of each of these sets at least one box must hold it. */
  readonly need: ReadonlyArray<Bits>
}

/** An input, or the proof that there is none, or neither: the budget was spent. `states` is what it took. */
export type Answer =
  | { readonly kind: "found"; readonly path: Path; readonly states: number }
  | { readonly kind: "none" | "open"; readonly states: number }

/** Most states one search may visit. */
export const SEARCH_BUDGET = 50_000

/**
 * Searches for one input, axis after axis, the cells with the fewest obstacles first, and remembers which states lead
 * nowhere.
 *
 * - Fails: never; past `budget` states it is `open`, and nothing is claimed.
 * - Spec: exact analysis; decision 0022.
 */
export const findInput = (grid: CellGrid, query: Query, budget: number = SEARCH_BUDGET): Answer => {
  const { levels, words } = grid
  const { avoid, need } = query
  // Where no box of the place tests an axis, each of its cells is in it.
  const cellsAt = levels.map(({ cells, places, tests }) =>
    meets(tests, query.within) ? places.filter((cell) => admitsAll(cells[cell]!, query.within)) : places
  )
  if (meets(avoid, grid.everywhere) || cellsAt.some((cells) => cells.length === 0)) return { kind: "none", states: 0 }
  const dead = new Set<string>()
  const path: Array<number | undefined> = grid.axes.map(() => undefined)
  let states = 0

  /** `met`: one bit for each set of `need` that is satisfied. */
  const visit = (live: Bits, from: number, met: number): boolean => {
    for (let group = 0; group < need.length; group++)
      if ((met & (1 << group)) === 0 && !meets(live, need[group]!)) return false
    if (isEmpty(live)) return true
    let at = from
    while (!meets(live, levels[at]!.tests)) at++
    const key = String.fromCharCode(at, met) + keyOf(live)
    if (dead.has(key)) return false
    if (++states > budget) return false
    for (const { cell, met: now, live: next } of stepsFrom(query, levels[at]!, cellsAt[at]!, live, met)) {
      path[levels[at]!.index] = cell
      if (visit(next, at + 1, now)) return true
      if (states > budget) return false
    }
    path[levels[at]!.index] = undefined
    dead.add(key)
    return false
  }

  // Boxes that do not reach into the place of the search are no obstacles and no help: without them states are alike
  // more often.
  const met = need.reduce((bits, group, place) => (meets(group, grid.everywhere) ? bits | (1 << place) : bits), 0)
  const start = new Uint32Array(words)
  for (let word = 0; word < words; word++) start[word] = keptBy(query, met, word) & ~grid.everywhere[word]!
  levels.forEach(({ cells, places, reach }, at) => {
    const reached =
      cellsAt[at] === places
        ? reach
        : unionOf(
            words,
            cellsAt[at]!.map((cell) => cells[cell]!)
          )
    for (let word = 0; word < words; word++) start[word] = start[word]! & reached[word]!
  })
  if (!visit(start, 0, met)) return { kind: states > budget ? "open" : "none", states }
  levels.forEach(({ cells, index }, at) => {
    if (path[index] === undefined && cellsAt[at]!.length < cells.length) path[index] = cellsAt[at]![0]
  })
  return { kind: "found", path, states }
}

interface Next {
  readonly cell: number
  readonly live: Bits
  readonly met: number
  readonly obstacles: number
}

/** Where a state leads on one axis, without what an avoided box holds. */
const stepsFrom = (
  query: Query,
  { cells, ends }: CellGrid["levels"][number],
  allowed: ReadonlyArray<number>,
  live: Bits,
  met: number
): ReadonlyArray<Next> => {
  const steps: Array<Next> = []
  for (const cell of allowed) {
    const { boxes } = cells[cell]!
    if (hits(live, boxes, ends, query.avoid)) continue
    let now = met
    for (let group = 0; group < query.need.length; group++)
      if (hits(live, boxes, ends, query.need[group]!)) now |= 1 << group
    const next = new Uint32Array(live.length)
    let obstacles = 0
    for (let word = 0; word < next.length; word++) {
      next[word] = live[word]! & boxes[word]! & ~ends[word]! & keptBy(query, now, word)
      obstacles += ones(next[word]! & query.avoid[word]!)
    }
    steps.push({ cell, live: next, met: now, obstacles })
  }
  return steps.length > 1 ? steps.sort((left, right) => left.obstacles - right.obstacles) : steps
}

/** One word of the boxes that still matter: the avoided ones, and those that may satisfy what is not yet. */
const keptBy = ({ avoid, need }: Query, met: number, word: number): number => {
  let kept = avoid[word]!
  for (let group = 0; group < need.length; group++) if ((met & (1 << group)) === 0) kept |= need[group]![word]!
  return kept
}

const admitsAll = (cell: Cell, within: Bits): boolean => {
  for (let word = 0; word < within.length; word++) if ((within[word]! & ~cell.boxes[word]!) !== 0) return false
  return true
}

/** True when one of the requested boxes is alive, admits the cell and ends here. */
const hits = (live: Bits, boxes: Bits, ends: Bits, requested: Bits): boolean => {
  for (let word = 0; word < live.length; word++)
    if ((live[word]! & boxes[word]! & ends[word]! & requested[word]!) !== 0) return true
  return false
}

/** How many bits of a word are set. */
const ones = (word: number): number => {
  let count = 0
  for (let left = word; left !== 0; left &= left - 1) count++
  return count
}
