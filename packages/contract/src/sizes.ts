/**
 * Bounds what a bad input costs: without this, finding every problem of a list of millions holds the thread for a
 * minute.
 *
 * A list that is longer than its shape allows has that one problem and is not looked into; of members that a shape does
 * not have only so many are told.
 */
import type { Schema, SchemaAST } from "effect"
import type { CheckDetail } from "./fields.ts"

/** A list that is too long, and where. */
export interface LongList {
  readonly path: ReadonlyArray<string>
  readonly detail: CheckDetail
  readonly input: ReadonlyArray<unknown>
}

/** An input cut down to what is worth telling of. */
export interface Trimmed {
  /**
   * With empty lists where they were too long, and without members that the shape does not have beyond the first so
   * many.
   */
  readonly value: unknown
  readonly long: ReadonlyArray<LongList>
}

/** The sizes that a shape bounds. */
export interface Sizes {
  /** Whether a list in the value is too long. It looks at lists only. */
  readonly hasLongList: (value: unknown) => boolean
  readonly trim: (value: unknown, mostExtra: number) => Trimmed
}

/** The sizes of a shape. */
export const sizesOf = (schema: Schema.Top): Sizes => {
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
  /** `lists` are those of the members that hold a list. */
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

/** Members that a shape does not have, listed of one object. The next ones add nothing. */
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
    // `__proto__` is a name like any other here.
    Object.defineProperty(cut, name, { value: member, enumerable: true, configurable: true, writable: true })
  }
  return cut
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
