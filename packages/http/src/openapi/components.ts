/**
 * The shapes that a description names, each written once. Their names are those under which the contract exports them.
 */
import * as contract from "@flyball/contract"
import { Schema, type SchemaAST } from "effect"
import { type Direction, type JsonSchema, jsonSchemaOf, type Named, writtenOut } from "./json-schema.ts"

/** Names of the specification where the contract has a shorter one. Spec: document 1 section 2. */
const specified: { readonly [name: string]: string } = { Agent: "AgentOut" }

/** The part of a struct's AST that stays the same object where annotations of a key copy the AST. */
const shapeOf = (ast: SchemaAST.AST): object => (ast._tag === "Objects" ? ast.propertySignatures : ast)

const names: ReadonlyMap<object, string> = new Map(
  Object.entries<unknown>(contract).flatMap(([name, value]) =>
    Schema.isSchema(value) && value.ast._tag === "Objects"
      ? [[shapeOf(value.ast), specified[name] ?? name] as const]
      : []
  )
)

/** Collects named shapes while a description is written. */
export interface Components {
  /** The JSON Schema of a shape; a reference where it has a name. */
  readonly schema: (of: Schema.Top, direction: Direction) => JsonSchema
  /** Puts a schema of another kind among them, and answers its reference. */
  readonly add: (name: string, schema: JsonSchema) => JsonSchema
  /** All of them, by name. */
  readonly schemas: () => { readonly [name: string]: JsonSchema }
}

/** The reference to a named schema. */
export const referenceTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/**
 * Starts a collection. Inputs must be requested before outputs: a shape that is both has its name for the input, and
 * `<name>Out` for the output.
 */
export const components = (): Components => {
  const found = new Map<string, JsonSchema>()
  const given = { input: new Map<object, string>(), output: new Map<object, string>() }
  const add: Components["add"] = (name, schema) => {
    const before = found.get(name)
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(schema))
      throw new Error(`two shapes of the interface description are called ${name}`)
    found.set(name, schema)
    return referenceTo(name)
  }
  const named: Named = (ast, direction) => {
    const shape = shapeOf(ast)
    const name = names.get(shape)
    if (name === undefined) return null
    const known = given[direction].get(shape)
    if (known !== undefined) return referenceTo(known)
    const own = direction === "output" && given.input.has(shape) ? `${name}Out` : name
    given[direction].set(shape, own)
    return add(own, writtenOut(ast, direction, named))
  }
  return {
    schema: (of, direction) => jsonSchemaOf(of, direction, named),
    add,
    schemas: () => Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
  }
}
