import type { Box, Compiled } from "../../language/compiled.ts"
import { admits } from "./cells.ts"
import { type Decider, severityOf } from "./ranking.ts"

/** One value for each axis, in the order of the axes. */
export type Point = ReadonlyArray<number>

/** True when a box holds a point. */
export const holds = (compiled: Compiled, box: Box, point: Point): boolean =>
  box.every((range) => admits(range, compiled.axes[range.axis]!, point[range.axis]!))

/** Which rules hold at a point, by their place. */
export const holding = (compiled: Compiled, point: Point): ReadonlyArray<boolean> =>
  compiled.rules.map(({ boxes }) => boxes.some((box) => holds(compiled, box, point)))

/**
 * Finds the deciding rule at a point, directly from the definition of an envelope. The slow twin of the evaluator: it
 * counts history and is what examples are held against.
 *
 * - Fails: never; the point has a value for every axis.
 * - Spec: `compiled.ts`.
 */
export const verdictAt = (
  compiled: Compiled,
  point: Point,
  held: ReadonlyArray<boolean> = holding(compiled, point)
): Decider => {
  let best: Decider | undefined
  compiled.rules.forEach(({ outcome }, rule) => {
    if (held[rule] && (best === undefined || severityOf(outcome) > severityOf(best.outcome)))
      best = { kind: "rule", rule, outcome }
  })
  compiled.otherwise.forEach((outcome, layer) => {
    if (outcome === null || compiled.rules.some((rule, index) => rule.layer === layer && held[index])) return
    if (best === undefined || severityOf(outcome) > severityOf(best.outcome)) best = { kind: "silence", layer, outcome }
  })
  if (best === undefined) throw new Error("No layer has a verdict: at least one `otherwise` must not be null.")
  return best
}
