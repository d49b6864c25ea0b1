/**
 * Rules in the order in which they win, and their boxes as plain conditions, for the engines that have a form of their
 * own.
 */
import { hasBit } from "../../packages/envelope/src/language/boxes.ts"
import type { Combination } from "../../packages/envelope/src/compile/compile.ts"
import { type Axis, outcomes, type Range } from "../../packages/envelope/src/language/compiled.ts"
import type { Answer } from "./engines.ts"

/** The values of one signal: a list, or from and to. */
export type Condition =
  | { readonly name: string; readonly values: ReadonlyArray<string | boolean> }
  | { readonly name: string; readonly from: number | null; readonly to: number | null }

/** A rule that holds where all conditions of any of its boxes do. */
export interface PlainRule {
  readonly answer: Answer
  readonly boxes: ReadonlyArray<ReadonlyArray<Condition>>
}

/** The most restrictive first, of these the earliest. Only for envelopes without signals that may be absent. */
export const inWinningOrder = ({ compiled: { axes, rules } }: Combination): ReadonlyArray<PlainRule> =>
  rules
    .map((rule) => ({
      answer: { outcome: rule.outcome, rule: rule.id },
      boxes: rule.boxes.map((box) => box.map((range) => conditionOf(range, axes[range.axis]!)))
    }))
    .sort((a, b) => severity(b.answer) - severity(a.answer))

/** How restrictive an answer is. */
export const severity = ({ outcome }: Answer): number => outcomes.findIndex((one) => one === outcome)

/** Answer where no rule holds. */
export const silence = ({ compiled }: Combination): Answer => ({ outcome: compiled.otherwise[0]!, rule: "@default" })

const conditionOf = (range: Range, { kind, max, min, name, values }: Axis): Condition => {
  if (range.kind === "interval")
    return { name, from: range.from > min ? range.from : null, to: range.to < max ? range.to : null }
  const points = Array.from({ length: max - min + 1 }, (_, i) => i).filter((i) => hasBit(range.bits, i))
  return { name, values: points.map((i) => (kind === "bool" ? i === 1 : values![i]!)) }
}
