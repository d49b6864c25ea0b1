import { type Bits, bitsOf } from "../cells/bits.ts"
import { exampleOn } from "../cells/inputs.ts"
import { severityOf } from "../cells/ranking.ts"
import { findInput, type Query, SEARCH_BUDGET } from "../cells/search.ts"
import type { Point } from "../cells/verdict-at.ts"
import type { Version, Versions } from "./versions.ts"

/**
 * Inputs, one at most for whatever decides in the one version, on which the other is less restrictive. Complete: where
 * there is none, that is proved.
 */
export interface Laxer {
  readonly points: ReadonlyArray<Point>
  readonly complete: boolean
}

/**
 * Asks everything that decides in `strict` for an input on which `lax` comes out less restrictive. Needs no diagram:
 * each question stays within one rule's boxes.
 *
 * - `budget`: states of all its searches together.
 * - Spec: the gate of publication holds where a diagram grows past its budget; decision 0022.
 */
export const findLaxer = ({ grid }: Versions, strict: Version, lax: Version, budget: number): Laxer => {
  const points: Array<Point> = []
  let complete = true
  let left = budget
  const set = (numbers: Iterable<number>): Bits => bitsOf(grid.words, numbers)
  const ask = (within: ReadonlyArray<number>, avoid: ReadonlyArray<number>, need: ReadonlyArray<Bits>): boolean => {
    const answer = findInput(grid, { within: set(within), avoid: set(avoid), need }, Math.min(left, SEARCH_BUDGET))
    left = Math.max(0, left - answer.states)
    if (answer.kind === "found") points.push(exampleOn(grid, answer.path))
    if (answer.kind === "open") complete = false
    return answer.kind === "found"
  }
  const laxer = (severity: number): { readonly avoid: ReadonlyArray<number>; readonly need: Query["need"] } => ({
    avoid: [
      ...lax.invalid,
      ...lax.numbers.flatMap((numbers, rule) =>
        severityOf(lax.compiled.rules[rule]!.outcome) >= severity ? numbers : []
      )
    ],
    need: lax.compiled.otherwise.flatMap((outcome, layer) =>
      outcome !== null && severityOf(outcome) >= severity ? [lax.ofLayer[layer]!] : []
    )
  })
  /** `lax` refuses to decode: that is a denial, laxer than halt alone. */
  const refuses = (within: ReadonlyArray<number>, severity: number, avoid: ReadonlyArray<number>): boolean =>
    severity > severityOf("deny") && lax.invalid.some((box) => ask([...within, box], avoid, []))
  const search = (within: ReadonlyArray<number>, severity: number, avoid: ReadonlyArray<number>): boolean => {
    const { avoid: more, need } = laxer(severity)
    return ask(within, [...avoid, ...more], need) || refuses(within, severity, avoid)
  }
  strict.compiled.rules.forEach(
    ({ outcome }, rule) => void strict.numbers[rule]!.some((box) => search([box], severityOf(outcome), strict.invalid))
  )
  strict.compiled.otherwise.forEach((outcome, layer) => {
    if (outcome === null) return
    const spoken = strict.numbers.flatMap((numbers, rule) =>
      strict.compiled.rules[rule]!.layer === layer ? numbers : []
    )
    search([], severityOf(outcome), [...strict.invalid, ...spoken])
  })
  strict.invalid.some((box) => search([box], severityOf("deny"), []))
  return { points, complete }
}
