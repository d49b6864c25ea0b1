/** Converts conditions to boxes. Spec: `SPEC.md` sections 5 and 8. */
import { both, type Boxes, either, everything, interval, leastPoint, nothing, others, pointSet } from "./boxes.ts"
import type { Axis } from "./compiled.ts"
import type { Condition, Constant, Test } from "./envelope.ts"
import { holdsFor, normalOf } from "./text-cells.ts"

/** Axes with their places by name. */
export interface Grid {
  readonly axes: ReadonlyArray<Axis>
  readonly places: ReadonlyMap<string, number>
}

/** The points at which all of some conditions hold. Throws `TooManyBoxes`. */
export const allOf = (conditions: ReadonlyArray<Condition>, grid: Grid): Boxes =>
  conditions.reduce(
    (boxes: Boxes, condition) => (boxes.length === 0 ? boxes : both(boxes, boxesOf(condition, grid))),
    everything
  )

/** The points at which any of some conditions holds. Throws `TooManyBoxes`. */
export const anyOf = (conditions: ReadonlyArray<Condition>, grid: Grid): Boxes =>
  conditions.reduce((boxes: Boxes, condition) => either(boxes, boxesOf(condition, grid)), nothing)

const boxesOf = (condition: Condition, grid: Grid): Boxes => {
  switch (condition.kind) {
    case "all":
      return allOf(condition.of, grid)
    case "any":
      return anyOf(condition.of, grid)
    case "not":
      return others(boxesOf(condition.of, grid), grid.axes)
    case "test": {
      const place = grid.places.get(condition.name)
      if (place === undefined) throw new TypeError(`A condition names ${condition.name}, which is no axis.`)
      return testBoxes(condition.test, place, grid.axes)
    }
  }
}

/** Absence is the point below `min`, and no test but `present: false` takes it in. */
const testBoxes = (test: Test, place: number, axes: ReadonlyArray<Axis>): Boxes => {
  const axis = axes[place]!
  const at = (from: number, to: number): Boxes =>
    interval(place, axis, Math.max(from, axis.min), Math.min(to, axis.max))
  const { text } = axis
  if (text !== undefined && test.op !== "present")
    return pointSet(place, axis, (point) => {
      const normal = point < axis.min ? null : normalOf(text, axis.values![point]!)
      return normal === null ? point >= axis.min && isUnreadable(test) : holdsFor(test, text, normal)
    })
  switch (test.op) {
    case "in":
      return valueBoxes(test.values, place, axis, at)
    case "nin":
      return both(at(axis.min, axis.max), others(valueBoxes(test.values, place, axis, at), axes))
    case "eq":
      return valueBoxes([test.value], place, axis, at)
    case "lt":
      return at(axis.min, pointOf(test.value, axis) - 1)
    case "lte":
      return at(axis.min, pointOf(test.value, axis))
    case "gt":
      return at(pointOf(test.value, axis) + 1, axis.max)
    case "gte":
      return at(pointOf(test.value, axis), axis.max)
    case "between":
      return at(pointOf(test.from, axis), pointOf(test.to, axis))
    case "is":
      return at(Number(test.value), Number(test.value))
    case "prefix":
      return pointSet(place, axis, (point) => axis.values?.[point]?.startsWith(String(test.prefix.value)) ?? false)
    case "present":
      return test.value
        ? at(axis.min, axis.max)
        : axis.mayBeAbsent
          ? interval(place, axis, leastPoint(axis), leastPoint(axis))
          : nothing
    default:
      throw new TypeError(`${axis.name} is of type ${axis.kind}, which has no test ${test.op}.`)
  }
}

/** Of the tests on what is there, one text that is unreadable passes one. */
const isUnreadable = (test: Test): boolean => test.op === "readable" && !test.value

/** Neighbouring integers share an interval. */
const valueBoxes = (
  values: ReadonlyArray<Constant>,
  place: number,
  axis: Axis,
  at: (from: number, to: number) => Boxes
): Boxes => {
  const points = new Set(
    values.map((constant) => pointOf(constant, axis)).filter((point) => point >= axis.min && point <= axis.max)
  )
  if (axis.kind !== "int") return pointSet(place, axis, (point) => points.has(point))
  const sorted = [...points].sort((a, b) => a - b)
  return sorted.flatMap((from, i) => {
    if (points.has(from - 1)) return []
    let last = i
    while (sorted[last + 1] === sorted[last]! + 1) last++
    return at(from, sorted[last]!)
  })
}

/**
 * Where a constant lies. A value that an inner layer's enum does not have lies nowhere: above the axis, for no order
 * compares it (`ordered` enums are the same in all layers).
 */
const pointOf = (constant: Constant, axis: Axis): number => {
  if (axis.kind === "int") return constant.value as number
  if (axis.kind === "bool") return Number(constant.value)
  const index = axis.values!.indexOf(constant.value as string)
  return index < 0 ? axis.max + 1 : index
}
