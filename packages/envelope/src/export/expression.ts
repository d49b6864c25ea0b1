/**
 * Boxes as an expression of another language. Exact on every point of the grid; what lies outside a signal's domain it
 * says nothing about.
 */
import { hasBit, leastPoint, pointCount } from "../language/boxes.ts"
import type { Axis, Box, CompiledRule, Range } from "../language/compiled.ts"
import { allOf, type Grid } from "../language/conditions.ts"
import type { Condition, Rule, Test } from "../language/envelope.ts"
import { forms } from "../language/forms/forms.ts"
import type { TextCells } from "../language/text-cells.ts"

/** Syntax of an export language. Integers and `&&`, `||`, `!`, `==`, `>=`, `<=` are the same in all of them. */
export interface Dialect {
  readonly value: (name: string) => string
  readonly isThere: (name: string) => string
  readonly text: (value: string) => string
  readonly isOneOf: (value: string, list: ReadonlyArray<string>) => string
  readonly beginsWith: (value: string, text: string) => string
  readonly endsWith: (value: string, text: string) => string
  /** Length of a text in code points; null where the language has none. */
  readonly lengthOf: ((value: string) => string) | null
}

/**
 * Expression that is true where a rule holds: made of its boxes or, where it tests texts, of its conditions, for the
 * cells of texts mean nothing elsewhere.
 */
export const ruleExpression = (
  rule: Rule,
  { boxes }: CompiledRule,
  axes: ReadonlyArray<Axis>,
  dialect: Dialect
): string => {
  const grid: Grid = { axes, places: new Map(axes.map(({ name }, place) => [name, place])) }
  const conditions = [...rule.when, ...rule.unless.map((of): Condition => ({ kind: "not", of: { kind: "all", of } }))]
  return testsText({ kind: "all", of: conditions }, grid)
    ? conditionExpression({ kind: "all", of: conditions }, grid, dialect)
    : expressionOf(boxes, axes, dialect)
}

const testsText = (condition: Condition, grid: Grid): boolean =>
  condition.kind === "test"
    ? axisOf(condition.name, grid).text !== undefined
    : condition.kind === "not"
      ? testsText(condition.of, grid)
      : condition.of.some((one) => testsText(one, grid))

const axisOf = (name: string, { axes, places }: Grid): Axis => axes[places.get(name)!]!

const conditionExpression = (condition: Condition, grid: Grid, dialect: Dialect): string => {
  if (condition.kind === "not") return `!(${conditionExpression(condition.of, grid, dialect)})`
  if (condition.kind !== "test") {
    const parts = condition.of
      .map((one) => conditionExpression(one, grid, dialect))
      .map((part, _, all) => (all.length > 1 ? grouped(part) : part))
    return parts.length === 0
      ? String(condition.kind === "all")
      : parts.join(condition.kind === "all" ? " && " : " || ")
  }
  const { mayBeAbsent, name, text } = axisOf(condition.name, grid)
  if (text === undefined) return expressionOf(allOf([condition], grid), grid.axes, dialect)
  const { test } = condition
  const isThere = dialect.isThere(name)
  if (test.op === "present") return test.value ? isThere : `!(${isThere})`
  const holds = textExpression(test, dialect.value(name), text, dialect)
  return mayBeAbsent ? `${isThere} && ${grouped(holds)}` : holds
}

/** A test of a text that is there: of its normal form, which is empty where it is unreadable. */
const textExpression = (test: Test, value: string, { form }: TextCells, dialect: Dialect): string => {
  const isReadable = `${value} != ${dialect.text("")}`
  switch (test.op) {
    case "eq":
      return `${value} == ${dialect.text(String(test.value.value))}`
    case "in":
    case "nin": {
      const texts = test.values.map((one) => dialect.text(String(one.value)))
      const isIn = dialect.isOneOf(value, texts)
      return test.op === "in" ? isIn : `${form === null ? "" : `${isReadable} && `}!(${isIn})`
    }
    case "prefix":
      return dialect.beginsWith(value, String(test.prefix.value))
    case "suffix":
      return dialect.endsWith(value, String(test.value.value))
    case "under": {
      const root = String(test.value.value)
      if (forms[form!].under === "suffix")
        return `${value} == ${dialect.text(root)} || ${dialect.endsWith(value, `.${root}`)}`
      return root === "/"
        ? dialect.beginsWith(value, root)
        : `${value} == ${dialect.text(root)} || ${dialect.beginsWith(value, `${root}/`)}`
    }
    case "length": {
      const length = dialect.lengthOf!(value)
      return `${length} >= ${Number(test.from.value)} && ${length} <= ${Number(test.to.value)}`
    }
    case "readable":
      return test.value ? isReadable : `${value} == ${dialect.text("")}`
    default:
      throw new TypeError(`A text has no test ${test.op}.`)
  }
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
