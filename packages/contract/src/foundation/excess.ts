/**
 * Finds members that a shape does not have.
 *
 * Effect's own check of this leaves the compiled path, at ten times the cost; this one runs beside it.
 */
import { type Schema, SchemaAST } from "effect"

/** Checks if a value that fits the shape otherwise holds a member that the shape does not name. */
export type ExcessCheck = (value: unknown) => boolean

/** The check for a shape's encoded side; null when no object in it has a closed list of members. */
export const excessCheck = (schema: Schema.Top): ExcessCheck | null => ofAst(SchemaAST.toEncoded(schema.ast))

const ofAst = (ast: SchemaAST.AST): ExcessCheck | null => {
  switch (ast._tag) {
    case "Objects":
      return ast.indexSignatures.length > 0 ? null : ofStruct(ast)
    case "Arrays":
      return ofItems(ast.rest[0] === undefined ? null : ofAst(ast.rest[0]))
    case "Union":
      return ofMembers(ast.types.map(ofMember).filter((member) => member !== null))
    default:
      return null
  }
}

const ofStruct = (ast: SchemaAST.Objects): ExcessCheck => {
  const members = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), ofAst(type)]))
  return (value) => {
    if (!isObject(value)) return false
    for (const name in value) {
      const inner = members.get(name)
      if (inner === undefined || (inner !== null && inner(value[name]))) return true
    }
    return false
  }
}

/**
 * The check for a member of a union. An object with another tag is not this one, and so has the names of this one in
 * excess.
 */
const ofMember = (ast: SchemaAST.AST): ExcessCheck | null => {
  const check = ofAst(ast)
  if (check === null || ast._tag !== "Objects") return check
  const tags = ast.propertySignatures.flatMap(({ name, type }) =>
    type._tag === "Literal" ? [[name, type.literal] as const] : []
  )
  return (value) => check(value) || (isObject(value) && tags.some(([name, tag]) => value[name] !== tag))
}

const isObject = (value: unknown): value is { readonly [name: PropertyKey]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const ofItems = (item: ExcessCheck | null): ExcessCheck | null =>
  item === null ? null : (value) => Array.isArray(value) && value.some(item)

const ofMembers = (members: ReadonlyArray<ExcessCheck>): ExcessCheck | null =>
  members.length === 0 ? null : members.length === 1 ? members[0]! : (value) => members.every((member) => member(value))
