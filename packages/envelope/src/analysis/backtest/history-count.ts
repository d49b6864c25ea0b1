import type { Compiled } from "../../language/compiled.ts"
import { type Inputs, pointOf } from "../cells/inputs.ts"
import { holding, type Point, verdictAt } from "../cells/verdict-at.ts"

/** How recorded inputs come out under an envelope. */
export interface HistoryCount {
  /** Inputs that have a point in the envelope; the others are `unreadable`. */
  readonly total: number
  readonly unreadable: number
  /** By rule: in how many it held, and in how many it decided. */
  readonly held: ReadonlyArray<number>
  readonly decided: ReadonlyArray<number>
  /** By rule: the first input that it decided; null if none. */
  readonly firstDecided: ReadonlyArray<Point | null>
  /** By layer: in how many its silence decided. */
  readonly silent: ReadonlyArray<number>
}

/** Runs recorded inputs through an envelope. */
export const countHistory = (compiled: Compiled, inputs: ReadonlyArray<Inputs>): HistoryCount => {
  const held = compiled.rules.map(() => 0)
  const decided = compiled.rules.map(() => 0)
  const firstDecided = compiled.rules.map((): Point | null => null)
  const silent = compiled.otherwise.map(() => 0)
  let total = 0
  for (const input of inputs) {
    const read = pointOf(compiled.axes, input)
    if (!("point" in read)) continue
    total++
    const holds = holding(compiled, read.point)
    holds.forEach((is, rule) => {
      if (is) held[rule] = held[rule]! + 1
    })
    const decider = verdictAt(compiled, read.point, holds)
    if (decider.kind === "rule") {
      decided[decider.rule] = decided[decider.rule]! + 1
      firstDecided[decider.rule] ??= read.point
    } else silent[decider.layer] = silent[decider.layer]! + 1
  }
  return { total, unreadable: inputs.length - total, held, decided, firstDecided, silent }
}
