import { leastPoint } from "../../language/boxes.ts"
import type { Axis, Box, Compiled, Range } from "../../language/compiled.ts"
import { joinedCells, placeOfText } from "../../language/text-cells.ts"
import { admits } from "./cells.ts"

/**
 * Two envelopes on one list of axes. Inputs that one of them would refuse to decode lie in its `invalid` boxes, and are
 * denied by it.
 */
export interface CommonAxes {
  readonly axes: ReadonlyArray<Axis>
  readonly from: OnCommonAxes
  readonly to: OnCommonAxes
  /** How each difference in signals was treated, as sentences. */
  readonly notes: ReadonlyArray<string>
}

/** Two versions on the axes that they share. */
export interface OnCommonAxes {
  /** By rule, in the order of the rules. A box may become several. */
  readonly boxes: ReadonlyArray<ReadonlyArray<Box>>
  readonly invalid: ReadonlyArray<Box>
}

/**
 * Puts two versions onto one list of axes.
 *
 * - A signal of one version alone: the other ignores it.
 * - Bounds that moved, a new member of an enum, an absence that one version does not know: where a version has no such
 *   value, it denies (`@invalid_signal`, `@missing_signal`).
 * - A text: one division into cells by the constants of both versions.
 * - A signal that changed its type, its form or base, or its place in the arguments: two axes, as if it were two
 *   signals.
 * - Spec: a gap; decision 0022.
 */
export const commonAxes = (from: Compiled, to: Compiled): CommonAxes => {
  const notes: Array<string> = []
  const axes: Array<Axis> = from.axes.map((axis) => {
    const other = to.axes.find(({ name }) => name === axis.name)
    if (other === undefined) {
      notes.push(`${axis.name} is in the old version alone: the new one ignores it.`)
      return axis
    }
    if (!isSame(other, axis)) {
      notes.push(
        (readAs(other) === readAs(axis)
          ? `${axis.name} was read from ${placeOf(axis)} and is read from ${placeOf(other)}`
          : `${axis.name} was ${readAs(axis)} and is ${readAs(other)}`) +
          ": the two are compared as two signals, each seen by its own version alone."
      )
      return axis
    }
    return hullOf(axis, other, notes)
  })
  const places = to.axes.map((axis) => {
    const found = from.axes.findIndex((old) => old.name === axis.name && isSame(old, axis))
    if (found !== -1) return found
    const renamed = from.axes.some(({ name }) => name === axis.name)
    if (!renamed) notes.push(`${axis.name} is in the new version alone: the old one ignores it.`)
    axes.push(renamed ? { ...axis, name: `${axis.name} (new)` } : axis)
    return axes.length - 1
  })
  return { axes, from: carry(from, axes, [...from.axes.keys()]), to: carry(to, axes, places), notes }
}

const isSame = (one: Axis, other: Axis): boolean => readAs(one) === readAs(other) && one.from === other.from

/** In words, how values are read. */
const readAs = ({ kind, text }: Axis): string =>
  `${kind}${text === undefined || text.form === null ? "" : ` of form ${text.form}`}` +
  (text === undefined || text.base === null ? "" : ` and base ${text.base}`)

const placeOf = ({ from, origin }: Axis): string => (from === undefined ? origin : `the arguments at "${from}"`)

const hullOf = (from: Axis, to: Axis, notes: Array<string>): Axis => {
  const text = from.text === undefined || to.text === undefined ? undefined : joinedCells(from.text, to.text)
  const values =
    from.values === null
      ? null
      : text !== undefined
        ? text.values
        : [...from.values, ...to.values!.filter((value) => !from.values!.includes(value))]
  if (
    values !== null &&
    text === undefined &&
    (values.length !== from.values!.length || values.length !== to.values!.length)
  )
    notes.push(`${from.name} has other values in the two versions: each denies those it does not have.`)
  if (values === null && (from.min !== to.min || from.max !== to.max))
    notes.push(
      `${from.name} is ${from.min} to ${from.max} in the old version and ${to.min} to ${to.max} in the new ` +
        "one: each denies what lies outside its own."
    )
  if (from.mayBeAbsent !== to.mayBeAbsent)
    notes.push(
      `${from.name} may be absent in the ${from.mayBeAbsent ? "old" : "new"} version alone: the other denies ` +
        "where it is. A value of on_missing is not compared."
    )
  return {
    ...from,
    min: values === null ? Math.min(from.min, to.min) : 0,
    max: values === null ? Math.max(from.max, to.max) : values.length - 1,
    values,
    mayBeAbsent: from.mayBeAbsent || to.mayBeAbsent,
    ...(text === undefined ? {} : { text })
  }
}

const carry = (
  { axes: own, rules }: Compiled,
  axes: ReadonlyArray<Axis>,
  places: ReadonlyArray<number>
): OnCommonAxes => {
  const domains = own.map((axis, index) => ({ axis, place: places[index]!, target: axes[places[index]!]! }))
  return {
    boxes: rules.map(({ boxes }) =>
      boxes.flatMap((box) =>
        box
          .reduce(
            (parts: ReadonlyArray<Box>, range) => {
              const { axis, place, target } = domains[range.axis]!
              const ranges = carryRange((point) => admits(range, axis, point), range, axis, target, place)
              return parts.flatMap((part) => ranges.map((one) => [...part, one]))
            },
            [[]]
          )
          .map((part) => [...part].sort((left, right) => left.axis - right.axis))
      )
    ),
    invalid: domains.flatMap(({ axis, place, target }) => outsideOf(axis, target, place).map((range) => [range]))
  }
}

/**
 * A range on the common axis: a set by its values, an interval by its bounds, with absence apart where the bounds below
 * it moved.
 */
const carryRange = (
  admitted: (point: number) => boolean,
  range: Range,
  axis: Axis,
  target: Axis,
  place: number
): ReadonlyArray<Range> => {
  if (range.kind === "set" && axis.kind !== "int")
    return [
      setOf(target, place, (point) => {
        const own = ownPoint(axis, target, point)
        return own !== null && admitted(own)
      })
    ]
  if (range.kind === "set") {
    // A set on integers is short by its nature: each of its points becomes an interval.
    return Array.from({ length: axis.max - leastPoint(axis) + 1 }, (_, bit) => leastPoint(axis) + bit)
      .filter(admitted)
      .map((point) => onePoint(place, point < axis.min ? leastPoint(target) : point))
  }
  const present: ReadonlyArray<Range> =
    range.to < axis.min
      ? []
      : [{ axis: place, kind: "interval", from: Math.max(range.from, axis.min), to: Math.min(range.to, axis.max) }]
  const absent: ReadonlyArray<Range> =
    axis.mayBeAbsent && range.from < axis.min ? [onePoint(place, leastPoint(target))] : []
  return [...absent, ...present]
}

const onePoint = (axis: number, point: number): Range => ({ axis, kind: "interval", from: point, to: point })

const setOf = (axis: Axis, place: number, admitted: (point: number) => boolean): Range => {
  const least = leastPoint(axis)
  const bits = new Uint32Array(Math.ceil((axis.max - least + 1) / 32))
  for (let point = least; point <= axis.max; point++)
    if (admitted(point)) bits[(point - least) >>> 5]! |= 1 << ((point - least) & 31)
  return { axis: place, kind: "set", bits }
}

/** The point of a version's own axis that stands for a point of the common one; null where it has none. */
const ownPoint = (axis: Axis, target: Axis, point: number): number | null => {
  if (point < target.min) return axis.mayBeAbsent ? leastPoint(axis) : null
  if (axis.text !== undefined) return placeOfText(axis.text, target.values![point]!)
  const own = axis.values === null ? point : axis.values.indexOf(target.values![point]!)
  return own < axis.min || own > axis.max ? null : own
}

/** Ranges of the common axis that a version's own axis lacks. */
const outsideOf = (axis: Axis, target: Axis, place: number): ReadonlyArray<Range> => {
  if (axis.kind !== "int") {
    const range = setOf(target, place, (point) => ownPoint(axis, target, point) === null)
    return range.kind === "set" && range.bits.some((word) => word !== 0) ? [range] : []
  }
  return [
    ...(target.mayBeAbsent && !axis.mayBeAbsent ? [onePoint(place, leastPoint(target))] : []),
    ...(target.min < axis.min ? [{ axis: place, kind: "interval", from: target.min, to: axis.min - 1 } as const] : []),
    ...(target.max > axis.max ? [{ axis: place, kind: "interval", from: axis.max + 1, to: target.max } as const] : [])
  ]
}
