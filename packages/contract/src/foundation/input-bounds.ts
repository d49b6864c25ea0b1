/**
 * Bounds the cost of invalid input before it is decoded. Without the bounds, reporting every problem of a list of
 * millions blocks the thread for a minute.
 *
 * A list longer than its shape allows has that one problem, and its items are not decoded. Members that a shape does
 * not have are reported up to a maximum.
 */
import type { Schema, SchemaAST } from "effect"
import type { CheckDetail } from "./fields.ts"

/** A list that is too long, with its path. */
export interface LongList {
  readonly path: ReadonlyArray<string>
  readonly detail: CheckDetail
  readonly input: ReadonlyArray<unknown>
}

/** An input reduced to what is reported. */
export interface Trimmed {
  /** Lists that are too long are empty here. Members that the shape does not have are cut off after a maximum. */
  readonly value: unknown
  readonly long: ReadonlyArray<LongList>
}

/** The bounds of a shape. */
export interface InputBounds {
  /** True when a list in the value is too long. Checks nothing else. */
  readonly hasLongList: (value: unknown) => boolean
  readonly trim: (value: unknown, mostExtra: number) => Trimmed
}

/** Reads the bounds of a shape. */
export const inputBounds = (schema: Schema.Top): InputBounds => {
  const shape = shapeOf(schema.ast)
  const lists = shape === null || !holdsList(shape) ? null : shape
  return {
    hasLongList: (value) => lists !== null && isLong(lists, value),
    trim: (value, mostExtra) => {
      const state: State = { long: [], extraLeft: mostExtra }
      return { value: shape === null ? value : trimmed(shape, value, [], state), long: state.long }
    }
  }
}

type Shape =
  | { readonly kind: "list"; readonly most: CheckDetail | null; readonly item: Shape | null }
  /** `lists`: the members that hold a list. */
  | {
      readonly kind: "struct"
      readonly members: ReadonlyMap<string, Shape | null>
      readonly lists: ReadonlyArray<readonly [name: string, shape: Shape]>
    }
  | { readonly kind: "union"; readonly of: ReadonlyArray<Shape> }

interface State {
  readonly long: Array<LongList>
  extraLeft: number
}

const shapeOf = (ast: SchemaAST.AST): Shape | null => {
  switch (ast._tag) {
    case "Arrays":
      return { kind: "list", most: mostOf(ast), item: ast.rest[0] === undefined ? null : shapeOf(ast.rest[0]) }
    case "Objects":
      return ast.indexSignatures.length > 0
        ? null
        : structOf(ast.propertySignatures.map(({ name, type }) => [String(name), shapeOf(type)]))
    case "Union": {
      const of = ast.types.map(shapeOf).filter((one) => one !== null)
      return of.length === 0 ? null : of.length === 1 ? of[0]! : { kind: "union", of }
    }
    default:
      return null
  }
}

const structOf = (members: ReadonlyArray<readonly [name: string, shape: Shape | null]>): Shape => ({
  kind: "struct",
  members: new Map(members),
  lists: members.flatMap(([name, shape]) => (shape !== null && holdsList(shape) ? [[name, shape] as const] : []))
})

const mostOf = (ast: SchemaAST.Arrays): CheckDetail | null => {
  for (const { annotations } of ast.checks ?? []) {
    const detail = annotations?.["detail"] as CheckDetail | undefined
    if (detail?.type === "too_long") return detail
  }
  return null
}

const holdsList = (shape: Shape): boolean => {
  if (shape.kind === "list") return true
  return shape.kind === "union" ? shape.of.some(holdsList) : shape.lists.length > 0
}

const isOver = (most: CheckDetail | null, value: ReadonlyArray<unknown>): most is CheckDetail =>
  most !== null && value.length > Number(most.ctx?.["max_length"])

const isLong = (shape: Shape, value: unknown): boolean => {
  switch (shape.kind) {
    case "list": {
      if (!Array.isArray(value)) return false
      const { item } = shape
      return isOver(shape.most, value) || (item !== null && holdsList(item) && value.some((one) => isLong(item, one)))
    }
    case "struct":
      if (!isObject(value)) return false
      return shape.lists.some(([name, member]) => Object.hasOwn(value, name) && isLong(member, value[name]))
    case "union":
      return shape.of.some((one) => isLong(one, value))
  }
}

const trimmed = (shape: Shape, value: unknown, path: ReadonlyArray<string>, state: State): unknown => {
  if (shape.kind === "union") return shape.of.reduce((cut, one) => trimmed(one, cut, path, state), value)
  if (shape.kind === "struct") return isObject(value) ? trimmedObject(shape.members, value, path, state) : value
  if (!Array.isArray(value)) return value
  const { item, most } = shape
  if (isOver(most, value)) {
    state.long.push({ path, detail: most, input: value })
    return []
  }
  return item === null ? value : value.map((one, index) => trimmed(item, one, [...path, String(index)], state))
}

/** The most members of one object that are reported as unknown to the shape. */
const MAX_EXTRA = 100

const trimmedObject = (
  members: ReadonlyMap<string, Shape | null>,
  value: { readonly [name: string]: unknown },
  path: ReadonlyArray<string>,
  state: State
): unknown => {
  const cut = {}
  let extraHere = MAX_EXTRA
  for (const name of Object.keys(value)) {
    const shape = members.get(name)
    if (shape === undefined && (--extraHere < 0 || --state.extraLeft < 0)) continue
    const member =
      shape === undefined || shape === null ? value[name] : trimmed(shape, value[name], [...path, name], state)
    // `__proto__` is an ordinary name here.
    Object.defineProperty(cut, name, { value: member, enumerable: true, configurable: true, writable: true })
  }
  return cut
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
