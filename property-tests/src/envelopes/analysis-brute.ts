/**
 * The definition of an envelope and of each finding, point by point, for domains small enough to list. Shares no code
 * with the analysis.
 */
import type { Axis, Box, Compiled, Outcome, Range } from "../../../packages/envelope/src/language/compiled.ts"

export type BrutePoint = ReadonlyArray<number>

const order: ReadonlyArray<Outcome> = ["allow", "allow_with_notice", "require_review", "deny", "halt"]
export const gravity = (outcome: Outcome): number => order.indexOf(outcome)

const least = (axis: Axis): number => axis.min - (axis.mayBeAbsent ? 1 : 0)

/** Every point of a list of axes. */
export const everyPoint = (axes: ReadonlyArray<Axis>): ReadonlyArray<BrutePoint> =>
  axes.reduce(
    (points: ReadonlyArray<BrutePoint>, axis) =>
      points.flatMap((point) =>
        Array.from({ length: axis.max - least(axis) + 1 }, (_, bit) => [...point, least(axis) + bit])
      ),
    [[]]
  )

const inRange = (range: Range, axis: Axis, value: number): boolean =>
  range.kind === "interval"
    ? value >= range.from && value <= range.to
    : ((range.bits[(value - least(axis)) >> 5]! >> ((value - least(axis)) & 31)) & 1) === 1

export const inBox = (axes: ReadonlyArray<Axis>, box: Box, point: BrutePoint): boolean =>
  box.every((range) => inRange(range, axes[range.axis]!, point[range.axis]!))

export const ruleHolds = ({ axes, rules }: Compiled, rule: number, point: BrutePoint): boolean =>
  rules[rule]!.boxes.some((box) => inBox(axes, box, point))

export interface BruteVerdict {
  readonly outcome: Outcome
  /** A rule's place, or null. */
  readonly rule: number | null
  /** The layer whose silence decided, or null. */
  readonly silent: number | null
}

/** Verdict of an envelope on a point; `without` leaves one rule out. */
export const bruteVerdict = (compiled: Compiled, point: BrutePoint, without = -1): BruteVerdict => {
  const held = compiled.rules.map((_, rule) => rule !== without && ruleHolds(compiled, rule, point))
  const said: Array<BruteVerdict> = [
    ...compiled.rules.flatMap(({ outcome }, rule) => (held[rule] ? [{ outcome, rule, silent: null }] : [])),
    ...compiled.otherwise.flatMap((outcome, layer) =>
      outcome === null || compiled.rules.some((rule, index) => rule.layer === layer && held[index])
        ? []
        : [{ outcome, rule: null, silent: layer }]
    )
  ]
  return said.reduce((worst, next) => (gravity(next.outcome) > gravity(worst.outcome) ? next : worst))
}

/** The point as a caller would send it. */
export const bruteInputs = (
  axes: ReadonlyArray<Axis>,
  point: BrutePoint
): Record<string, string | number | boolean> => {
  const inputs: Record<string, string | number | boolean> = {}
  axes.forEach(({ kind, min, name, values }, index) => {
    const value = point[index]!
    if (value >= min) inputs[name] = kind === "enum" ? values![value]! : kind === "bool" ? value === 1 : value
  })
  return inputs
}

/** The point of an input, or null where the envelope would refuse it. */
export const brutePoint = (
  axes: ReadonlyArray<Axis>,
  inputs: Readonly<Record<string, string | number | boolean>>
): BrutePoint | null => {
  const point = axes.map((axis): number | null => {
    const value = inputs[axis.name]
    if (value === undefined) return axis.mayBeAbsent ? least(axis) : null
    const place = axis.kind === "enum" ? axis.values!.indexOf(String(value)) : Number(value)
    return place < axis.min || place > axis.max ? null : place
  })
  return point.every((value) => value !== null) ? point.map(Number) : null
}
