/** A JSON Schema in words, as HTML. */
import { escaped, table, withCode } from "./html.ts"
import type { JsonSchema } from "./json-schema.ts"

const list = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]
const schemas = (value: unknown): ReadonlyArray<JsonSchema> => list(value) as ReadonlyArray<JsonSchema>
const code = (value: unknown): string =>
  `<code>${escaped(typeof value === "string" ? value : JSON.stringify(value))}</code>`

/** The last part of a reference. */
export const nameOf = (reference: unknown): string => String(reference).split("/").at(-1)!

/** A link to a shape. */
export const shapeLink = (name: string): string => `<a href="#shape-${escaped(name)}">${escaped(name)}</a>`

/** Renders the type of a value. */
export const typeOf = (schema: JsonSchema): string => {
  if (schema["$ref"] !== undefined) return shapeLink(nameOf(schema["$ref"]))
  const choice = schemas(schema["anyOf"] ?? schema["oneOf"])
  if (choice.length > 0) return choice.map(typeOf).join(" or ")
  const words = [...list(schema["enum"]), ...list(schema["const"])]
  if (words.length > 0) return words.map((word) => (word === null ? "null" : code(word))).join(", ")
  const types = list(schema["type"]).map((type) =>
    type === "array" && schema["items"] !== undefined
      ? `list of ${typeOf(schema["items"] as JsonSchema)}`
      : escaped(String(type))
  )
  return types.length === 0 ? "any JSON" : types.join(" or ")
}

/** Renders the constraints on a value besides its type. */
export const boundsOf = (schema: JsonSchema): string => {
  const range = (least: unknown, most: unknown, unit: string): ReadonlyArray<string> =>
    least === undefined && most === undefined
      ? []
      : [
          `${least === undefined ? "up" : escaped(String(least))} to ` +
            `${most === undefined ? "any number" : escaped(String(most))}${unit}`
        ]
  const says = [
    ...range(schema["minLength"], schema["maxLength"], " characters"),
    ...range(schema["minItems"], schema["maxItems"], " items"),
    ...range(schema["minimum"], schema["maximum"], ""),
    ...list(schema["pattern"]).map((pattern) => `matches ${code(pattern)}`),
    ...list(schema["format"]).map((format) => escaped(String(format))),
    ...list(schema["contentEncoding"]).map((encoding) => escaped(String(encoding))),
    ...schemas(schema["not"]).map((not) => `not ${typeOf(not)}`),
    ...(Object.hasOwn(schema, "default") ? [`left out: ${code(schema["default"])}`] : []),
    ...list(schema["description"]).map((text) => withCode(String(text))),
    ...(schema["type"] === "array" || list(schema["type"]).includes("array")
      ? boundsOfItems(schema["items"] as JsonSchema | undefined)
      : [])
  ]
  return says.join("; ")
}

const boundsOfItems = (items: JsonSchema | undefined): ReadonlyArray<string> => {
  const says = items === undefined ? "" : boundsOf(items)
  return says === "" ? [] : [`each ${says}`]
}

/** The members of an object, those of objects within it too; a sentence for what is no object. */
export const membersTable = (schema: JsonSchema): string => {
  const rows = rowsOf(schema, "")
  return rows.length === 0
    ? `<p>${typeOf(schema)}${boundsOf(schema) === "" ? "" : `; ${boundsOf(schema)}`}</p>`
    : table(["member", "needed", "type", "bounds"], rows)
}

const rowsOf = (schema: JsonSchema, before: string): ReadonlyArray<ReadonlyArray<string>> => {
  const required = list(schema["required"])
  return Object.entries((schema["properties"] ?? {}) as { readonly [name: string]: JsonSchema }).flatMap(
    ([name, member]) => [
      [
        `<code>${escaped(before + name)}</code>`,
        required.includes(name) ? "yes" : "no",
        typeOf(member),
        boundsOf(member)
      ],
      ...[
        member,
        ...schemas(member["anyOf"]),
        ...schemas(member["items"]),
        ...schemas((member["items"] as JsonSchema | undefined)?.["anyOf"])
      ].flatMap((inner) => (inner["properties"] === undefined ? [] : rowsOf(inner, `${before}${name}.`)))
    ]
  )
}
