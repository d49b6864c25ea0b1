/**
 * Boxes as an expression of another language. Exact on every point of the grid; what lies outside a signal's domain it
 * says nothing about.
 */
import { hasBit, leastPoint, pointCount } from "../language/boxes.ts"
import type { Axis, Box, Range } from "../language/compiled.ts"

/** Syntax of an export language. Integers and `&&`, `||`, `!`, `==`, `>=`, `<=` are the same in all of them. */
export interface Dialect {
  readonly value: (name: string) => string
  readonly isThere: (name: string) => string
  readonly text: (value: string) => string
  readonly isOneOf: (value: string, list: ReadonlyArray<string>) => string
}

/** Expression that is true where any of some boxes holds. */
export const expressionOf = (boxes: ReadonlyArray<Box>, axes: ReadonlyArray<Axis>, dialect: Dialect): string => {
  if (boxes.length === 0) return "false"
  const all = boxes.map((box) => conjunction(box.map((range) => rangeExpression(range, axes[range.axis]!, dialect))))
  return all.length === 1 ? all[0]! : all.map((one) => (one.includes(" && ") ? `(${one})` : one)).join(" || ")
}

const conjunction = (parts: ReadonlyArray<string>): string =>
  parts.length === 0
    ? "true"
    : parts.map((part) => (parts.length > 1 && part.includes(" || ") ? `(${part})` : part)).join(" && ")

const rangeExpression = (range: Range, axis: Axis, dialect: Dialect): string => {
  if (!axis.mayBeAbsent) return presentExpression(range, axis, dialect)!
  const present = presentExpression(range, axis, dialect)
  const isThere = dialect.isThere(axis.name)
  if (admits(range, leastPoint(axis), axis))
    return present === null ? `!(${isThere})` : `!(${isThere}) || ${grouped(present)}`
  return present === "true" || present === null ? isThere : `${isThere} && ${grouped(present)}`
}

const grouped = (part: string): string => (part.includes(" && ") || part.includes(" || ") ? `(${part})` : part)

/** Of the values that are there; null: none of them, "true": all. */
const presentExpression = (range: Range, axis: Axis, dialect: Dialect): string | null => {
  const name = dialect.value(axis.name)
  if (range.kind === "interval")
    return range.to < axis.min ? null : intervalExpression(name, range.from, range.to, axis)
  const chosen = Array.from({ length: pointCount(axis) }, (_, i) => leastPoint(axis) + i).filter(
    (point) => point >= axis.min && admits(range, point, axis)
  )
  if (chosen.length === 0) return null
  if (chosen.length === axis.max - axis.min + 1) return "true"
  if (axis.kind === "bool") return chosen[0] === 1 ? name : `!${name}`
  const texts = chosen.map((point) => dialect.text(axis.values![point]!))
  return texts.length === 1 ? `${name} == ${texts[0]}` : dialect.isOneOf(name, texts)
}

const intervalExpression = (name: string, from: number, to: number, { max, min }: Axis): string => {
  const parts =
    from === to
      ? [`${name} == ${from}`]
      : [...(from > min ? [`${name} >= ${from}`] : []), ...(to < max ? [`${name} <= ${to}`] : [])]
  return parts.length === 0 ? "true" : parts.join(" && ")
}

const admits = (range: Range, point: number, axis: Axis): boolean =>
  range.kind === "interval" ? point >= range.from && point <= range.to : hasBit(range.bits, point - leastPoint(axis))
