import { outcomes, type Box, type Compiled, type Outcome } from "../../language/compiled.ts"
import { type Bits, bitsOf, wordsFor } from "../cells/bits.ts"
import { type CellGrid, cellGrid } from "../cells/cell-grid.ts"
import { type CommonAxes, commonAxes, type OnCommonAxes } from "../cells/common-axes.ts"
import type { Side } from "../cells/diagram.ts"
import { severityOf } from "../cells/ranking.ts"

/** Ranks of outcomes in a diff: refused input first, then halt to allow, then nothing said. */
const INVALID = 0
const UNSAID = outcomes.length + 1
const rankOf = (outcome: Outcome): number => outcomes.length - severityOf(outcome)

/** Two versions laid out on one grid. A box that both have is one box. */
export interface Versions {
  readonly common: CommonAxes
  readonly grid: CellGrid
  /** How many boxes the grid has. */
  readonly boxes: number
  readonly from: Version
  readonly to: Version
}

/** One of them: its envelope, and the boxes of the grid that are its own. */
export interface Version {
  readonly compiled: Compiled
  readonly numbers: ReadonlyArray<ReadonlyArray<number>>
  readonly ofLayer: ReadonlyArray<Bits>
  readonly invalid: ReadonlyArray<number>
}

/** Lays out two versions. */
export const versionsOf = (from: Compiled, to: Compiled): Versions => {
  const common = commonAxes(from, to)
  const boxes: Array<Box> = []
  const known = new Map<string, number>()
  const numberOf = (box: Box): number => {
    const key = box
      .map((range) =>
        range.kind === "interval" ? `${range.axis}:${range.from}-${range.to}` : `${range.axis}=${range.bits.join()}`
      )
      .join(" ")
    const before = known.get(key)
    if (before !== undefined) return before
    known.set(key, boxes.length)
    return boxes.push(box) - 1
  }
  const number = ({ boxes, invalid }: OnCommonAxes) => ({
    numbers: boxes.map((some) => some.map(numberOf)),
    invalid: invalid.map(numberOf)
  })
  const numbered = { from: number(common.from), to: number(common.to) }
  const words = wordsFor(boxes.length)
  const version = (
    compiled: Compiled,
    {
      invalid,
      numbers
    }: { readonly numbers: ReadonlyArray<ReadonlyArray<number>>; readonly invalid: ReadonlyArray<number> }
  ): Version => ({
    compiled,
    numbers,
    invalid,
    ofLayer: compiled.otherwise.map((_, layer) =>
      bitsOf(
        words,
        compiled.rules.flatMap((rule, index) => (rule.layer === layer ? numbers[index]! : []))
      )
    )
  })
  return {
    common,
    grid: cellGrid(common.axes, boxes),
    boxes: boxes.length,
    from: version(from, numbered.from),
    to: version(to, numbered.to)
  }
}

/** The sides of a diagram that tell a version's outcomes apart; `first` is the place of the first of them. */
export const outcomeSides = (
  { compiled, invalid, numbers, ofLayer }: Version,
  boxes: number,
  first: number
): ReadonlyArray<Side> => {
  const ranks = Array.from({ length: boxes }, () => UNSAID)
  numbers.forEach((some, rule) =>
    some.forEach((box) => {
      ranks[box] = Math.min(ranks[box]!, rankOf(compiled.rules[rule]!.outcome))
    })
  )
  for (const box of invalid) ranks[box] = INVALID
  return [
    { ranks, none: UNSAID },
    ...compiled.otherwise.flatMap((outcome, layer): ReadonlyArray<Side> => {
      if (outcome === null) return []
      const bits = ofLayer[layer]!
      return [
        {
          ranks: ranks.map((_, box) => ((bits[box >>> 5]! >>> (box & 31)) & 1 ? 0 : 1)),
          none: 1,
          idle: { side: first, rank: rankOf(outcome) }
        }
      ]
    })
  ]
}

/** The outcome that those sides came out with. */
export const outcomeOfRanks = ({ compiled }: Version, ranks: ReadonlyArray<number>, first: number): Outcome => {
  let side = first
  let best = ranks[first]!
  for (const outcome of compiled.otherwise)
    if (outcome !== null && ranks[++side] === 1) best = Math.min(best, rankOf(outcome))
  return best === INVALID ? "deny" : outcomes[outcomes.length - best]!
}
