/**
 * Says a shape in JSON Schema (draft 2020-12), as it stands on the wire.
 *
 * Written for the bricks of the contract: each check carries pydantic's word and its bound, and that is what JSON
 * Schema needs. A brick that this does not know is an error at
 * the first reading, so that nothing is described as wider than it is without anybody noticing. Decision 0017 says why
 * it is not Effect's own.
 */
import type { CheckDetail } from "@flyball/contract"
import { type Schema, SchemaAST } from "effect"

/** One JSON Schema. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** Inputs are closed: an unknown member is refused. Outputs are open: a later version may add members. */
export type Direction = "input" | "output"

/** Returns the reference to a shape that has a name; null for those that are written out where they stand. */
export type Named = (ast: SchemaAST.AST, direction: Direction) => JsonSchema | null

/** The JSON Schema of a shape. */
export const jsonSchemaOf = (schema: Schema.Top, direction: Direction, named: Named): JsonSchema =>
  walk(schema.ast, direction, named)

/** The full schema of a shape that is being given its name. */
export const writtenOut = (ast: SchemaAST.AST, direction: Direction, named: Named): JsonSchema => ({
  ...bare(ast, direction, named),
  ...keywordsOf(ast)
})

/** True for a member that may be left out. */
export const mayBeLeftOut = (ast: SchemaAST.AST): boolean => SchemaAST.isOptional(SchemaAST.toEncoded(ast))

const walk = (ast: SchemaAST.AST, direction: Direction, named: Named): JsonSchema =>
  named(ast, direction) ?? writtenOut(ast, direction, named)

const bare = (ast: SchemaAST.AST, direction: Direction, named: Named): JsonSchema => {
  switch (ast._tag) {
    case "String":
      return { type: "string" }
    case "Number":
      return { type: "number" }
    case "Boolean":
      return { type: "boolean" }
    case "Null":
      return { type: "null" }
    case "Unknown":
      return {}
    case "Literal":
      return { type: typeof ast.literal, const: ast.literal }
    case "Union":
      return unionOf(ast, direction, named)
    case "Arrays":
      return { type: "array", items: ast.rest[0] === undefined ? {} : walk(ast.rest[0], direction, named) }
    case "Objects":
      return ast.indexSignatures[0] === undefined
        ? structOf(ast, direction, named)
        : { type: "object", additionalProperties: walk(ast.indexSignatures[0].type, direction, named) }
    default:
      throw new Error(`the interface description has no JSON Schema for ${ast._tag}`)
  }
}

const structOf = (ast: SchemaAST.Objects, direction: Direction, named: Named): JsonSchema => {
  const required = ast.propertySignatures.filter(({ type }) => !mayBeLeftOut(type)).map(({ name }) => String(name))
  return {
    type: "object",
    properties: Object.fromEntries(
      ast.propertySignatures.map(({ name, type }) => [String(name), walk(type, direction, named)])
    ),
    ...(required.length > 0 ? { required } : {}),
    ...(direction === "input" ? { additionalProperties: false } : {})
  }
}

const unionOf = (ast: SchemaAST.Union, direction: Direction, named: Named): JsonSchema => {
  const types = ast.types.filter(({ _tag }) => _tag !== "Null")
  const one =
    types.length === 1
      ? walk(types[0]!, direction, named)
      : types.every(SchemaAST.isLiteral)
        ? {
            type: types.every(({ literal }) => typeof literal === "number") ? "integer" : "string",
            enum: types.map(({ literal }) => literal)
          }
        : { anyOf: types.map((type) => walk(type, direction, named)) }
  return types.length === ast.types.length ? one : orNull(one)
}

const orNull = (schema: JsonSchema): JsonSchema => {
  const { anyOf, const: only, enum: words, type, ...rest } = schema
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] }
  if (typeof type !== "string") return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: "null" }] }
  const listed = Array.isArray(words) ? words : only === undefined ? null : [only]
  return { type: [type, "null"], ...(listed === null ? {} : { enum: [...listed, null] }), ...rest }
}

/** JSON Schema keywords for the checks of a shape, those of its encoded side included. */
const keywordsOf = (ast: SchemaAST.AST): JsonSchema => {
  const leftOut = leftOutOf(ast)
  return Object.assign(
    {},
    ...checksOf(ast).map((check) => keywordsOfCheck(ast, check)),
    leftOut === undefined ? {} : { default: leftOut }
  )
}

type Annotated = { readonly annotations?: { readonly [name: string]: unknown } | undefined }

const checksOf = (ast: SchemaAST.AST): ReadonlyArray<Annotated> => [
  ...(ast.checks ?? []),
  ...(ast.encoding ?? []).flatMap(({ to }) => checksOf(to))
]

const leftOutOf = (ast: SchemaAST.AST): unknown =>
  ast.annotations?.["leftOut"] ?? ast.checks?.at(-1)?.annotations?.["leftOut"]

const keywordsOfCheck = (ast: SchemaAST.AST, { annotations = {} }: Annotated): JsonSchema => {
  const { detail, keywords, representation } = annotations as {
    readonly detail?: CheckDetail
    readonly keywords?: JsonSchema
    readonly representation?: { readonly id?: unknown }
  }
  if (detail !== undefined) return { ...keywordsOfDetail(ast, detail), ...keywords }
  if (representation?.id === "effect/schema/isInt") return { type: "integer" }
  throw new Error(`the interface description does not know a check of ${ast._tag}: ${JSON.stringify(annotations)}`)
}

const keywordsOfDetail = (ast: SchemaAST.AST, { ctx = {}, msg, type }: CheckDetail): JsonSchema => {
  switch (type) {
    case "string_too_short":
      return { minLength: ctx["min_length"] }
    case "string_too_long":
      return { maxLength: ctx["max_length"] }
    case "string_pattern_mismatch":
      return { pattern: ctx["pattern"] }
    case "greater_than_equal":
      return { minimum: ctx["ge"] }
    case "less_than_equal":
      return { maximum: ctx["le"] }
    case "int_type":
    case "int_parsing":
      return { type: "integer" }
    case "dict_type":
      return { type: "object" }
    case "datetime_parsing":
      return { format: "date-time" }
    case "too_short":
      return { minItems: ctx["min_length"] }
    case "too_long":
      return ast._tag === "Arrays" ? { maxItems: ctx["max_length"] } : { description: msg }
    case "value_error":
      return {}
    default:
      throw new Error(`the interface description has no keyword for ${type}`)
  }
}
