import type { Box, Compiled } from "../../language/compiled.ts"
import { addAll, type Bits, bitsOf, wordsFor } from "./bits.ts"
import { type CellGrid, cellGrid } from "./cell-grid.ts"
import type { Counted, Side } from "./diagram.ts"
import { type Ranking, rankingOf, severityOf } from "./ranking.ts"
import type { Query } from "./search.ts"

/** An envelope with its boxes laid out for analysis. */
export interface Model {
  readonly compiled: Compiled
  readonly ranking: Ranking
  readonly grid: CellGrid
  /** All boxes of all rules, in the order of the rules; then those that were added for a question. */
  readonly boxes: ReadonlyArray<Box>
  /** Numbers of the boxes of each rule, and the same as sets. */
  readonly numbers: ReadonlyArray<ReadonlyArray<number>>
  readonly ofRule: ReadonlyArray<Bits>
  readonly ofLayer: ReadonlyArray<Bits>
  /** Cache of the results of {@link laxerThan}, by severity: every rule asks. */
  readonly laxer: Array<Omit<Query, "within"> | undefined>
}

/** Most boxes that are analysed: cutting the axes takes their square. An envelope with more is reported as open. */
export const MAX_ANALYSED_BOXES = 2_000

/**
 * Lays out an envelope. `project` changes each box of a rule first; `added` boxes are nobody's and come last. The axes
 * stay; `order` is theirs in the grid, where known.
 */
export const modelOf = (
  compiled: Compiled,
  project: (box: Box) => Box = (box) => box,
  added: ReadonlyArray<Box> = [],
  order?: ReadonlyArray<number>
): Model => {
  const boxes = [...compiled.rules.flatMap((rule) => rule.boxes.map(project)), ...added]
  const words = wordsFor(boxes.length)
  let next = 0
  const numbers = compiled.rules.map((rule) => rule.boxes.map(() => next++))
  const ofRule = numbers.map((some) => bitsOf(words, some))
  const ofLayer = compiled.otherwise.map((_, layer) =>
    bitsOf(
      words,
      compiled.rules.flatMap((rule, index) => (rule.layer === layer ? numbers[index]! : []))
    )
  )
  return {
    compiled,
    ranking: rankingOf(compiled),
    grid: cellGrid(compiled.axes, boxes, order),
    boxes,
    numbers,
    ofRule,
    ofLayer,
    laxer: []
  }
}

/** The boxes of the rules that a predicate picks. */
export const boxesOf = ({ grid, ofRule }: Model, picks: (rule: number) => boolean): Bits => {
  const bits = new Uint32Array(grid.words)
  for (let rule = 0; rule < ofRule.length; rule++) if (picks(rule)) addAll(bits, ofRule[rule]!)
  return bits
}

/**
 * Conditions under which an input's outcome is less restrictive than `severity`: no rule as restrictive holds, and no
 * layer that would say so is silent.
 */
export const laxerThan = (model: Model, severity: number): Omit<Query, "within"> => {
  const known = model.laxer[severity]
  if (known !== undefined) return known
  return (model.laxer[severity] = {
    avoid: boxesOf(model, (rule) => severityOf(model.compiled.rules[rule]!.outcome) >= severity),
    need: model.compiled.otherwise.flatMap((outcome, layer) =>
      outcome !== null && severityOf(outcome) >= severity ? [model.ofLayer[layer]!] : []
    )
  })
}

/**
 * The sides of a diagram that tells every decider of an envelope: the best rule, then for each layer that has a word
 * for it whether it is silent.
 */
export const decidingSides = (model: Model): ReadonlyArray<Side> => {
  const { boxes, compiled, numbers, ranking } = model
  const none = ranking.deciders.length
  const added = boxes.slice(numbers.reduce((sum, some) => sum + some.length, 0))
  const ranks = [...numbers.flatMap((some, rule) => some.map(() => ranking.ofRule[rule]!)), ...added.map(() => none)]
  const layers = [
    ...numbers.flatMap((some, rule) => some.map(() => compiled.rules[rule]!.layer)),
    ...added.map(() => -1)
  ]
  return [
    { ranks, none },
    ...silentLayers(model).map((layer): Side => ({
      ranks: layers.map((other) => (other === layer ? 0 : 1)),
      none: 1,
      idle: { side: 0, rank: ranking.ofLayer[layer]! }
    }))
  ]
}

const silentLayers = (model: Model): ReadonlyArray<number> =>
  model.ranking.ofLayer.flatMap((rank, layer) => (rank === null ? [] : [layer]))

/** Points by what decides them, by rank; 0 for a decider that decides nothing. */
export const volumesOf = (model: Model, counted: Counted & { readonly complete: true }): ReadonlyArray<bigint> => {
  const volumes = model.ranking.deciders.map(() => 0n)
  const silent = silentLayers(model)
  for (const { ranks, volume } of counted.regions) {
    const rank = silent.reduce(
      (best, layer, side) => (ranks[side + 1] === 1 ? Math.min(best, model.ranking.ofLayer[layer]!) : best),
      ranks[0]!
    )
    volumes[rank] = volumes[rank]! + volume
  }
  return volumes
}

/** Points that come out below `require_review` and lie in the part that the diagram's last side, at 0, marks. */
export const permittedVolume = (model: Model, counted: Counted & { readonly complete: true }): bigint => {
  const marked = counted.regions.filter(({ ranks }) => ranks.at(-1) === 0)
  return volumesOf(model, { ...counted, regions: marked }).reduce(
    (sum, volume, rank) =>
      severityOf(model.ranking.deciders[rank]!.outcome) < severityOf("require_review") ? sum + volume : sum,
    0n
  )
}

/** Lays out the same envelope for another question. */
export const variantOf = ({ compiled, grid }: Model, project: (box: Box) => Box, added: ReadonlyArray<Box>): Model =>
  modelOf(
    compiled,
    project,
    added,
    grid.levels.map(({ index }) => index)
  )
