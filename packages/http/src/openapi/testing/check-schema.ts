/**
 * Holds values against the JSON Schemas that the description has. It knows the keywords in use and throws at any other,
 * so that a misspelt one is no schema that takes everything.
 *
 * `format`, `contentEncoding` and `discriminator` are notes there, and are not checked.
 */
import { isDeepStrictEqual } from "node:util"
import type { JsonSchema } from "../json-schema.ts"

/** Where schemas are looked up, and how strictly objects are read. */
export interface Checking {
  readonly schemas: { readonly [name: string]: JsonSchema }
  /** Members that an object's schema does not list are problems, though it leaves them open. */
  readonly closed: boolean
}

type Keyword = (
  bound: never,
  value: unknown,
  at: string,
  schema: JsonSchema,
  checking: Checking
) => ReadonlyArray<string>

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const typeName = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)
const hasType = (value: unknown, type: string): boolean =>
  type === "integer" ? Number.isInteger(value) : typeName(value) === type
const when = (wrong: boolean, at: string, says: string): ReadonlyArray<string> => (wrong ? [`${at} ${says}`] : [])
const length = (value: unknown): number | null => (typeof value === "string" ? [...value].length : null)
const note: Keyword = () => []

const keywords: { readonly [keyword: string]: Keyword } = {
  type: (type: string | ReadonlyArray<string>, value, at) =>
    when(![type].flat().some((one) => hasType(value, one)), at, `is ${typeName(value)} and should be ${String(type)}`),
  const: (only: unknown, value, at) => when(!isDeepStrictEqual(only, value), at, `should be ${String(only)}`),
  enum: (words: ReadonlyArray<unknown>, value, at) =>
    when(!words.includes(value), at, `is ${JSON.stringify(value)} and should be one of ${words.join(", ")}`),
  minLength: (least: number, value, at) => when((length(value) ?? least) < least, at, "is too short"),
  maxLength: (most: number, value, at) => when((length(value) ?? most) > most, at, "is too long"),
  pattern: (pattern: string, value, at) =>
    when(typeof value === "string" && !new RegExp(pattern, "u").test(value), at, `should match ${pattern}`),
  minimum: (least: number, value, at) => when(typeof value === "number" && value < least, at, `is below ${least}`),
  maximum: (most: number, value, at) => when(typeof value === "number" && value > most, at, `is above ${most}`),
  minItems: (least: number, value, at) => when(Array.isArray(value) && value.length < least, at, "has too few items"),
  maxItems: (most: number, value, at) => when(Array.isArray(value) && value.length > most, at, "has too many items"),
  items: (items: JsonSchema, value, at, _, checking) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => problemsOfValue(items, item, `${at}[${index}]`, checking))
      : [],
  required: (names: ReadonlyArray<string>, value, at) =>
    isObject(value)
      ? names.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}.${name} is missing`)
      : [],
  properties: (properties: { readonly [name: string]: JsonSchema }, value, at, schema, checking) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, member]) => {
          if (Object.hasOwn(properties, name))
            return problemsOfValue(properties[name]!, member, `${at}.${name}`, checking)
          return when(
            checking.closed && schema["additionalProperties"] === undefined,
            at,
            `has the member ${name}, which is not described`
          )
        })
      : [],
  additionalProperties: (others: JsonSchema | false, value, at, { properties = {} }, checking) =>
    isObject(value)
      ? Object.entries(value)
          .filter(([name]) => !Object.hasOwn(properties as object, name))
          .flatMap(([name, member]) =>
            others === false
              ? [`${at}.${name} is not expected`]
              : problemsOfValue(others, member, `${at}.${name}`, checking)
          )
      : [],
  anyOf: (of: ReadonlyArray<JsonSchema>, value, at, _, checking) =>
    when(
      !of.some((one) => problemsOfValue(one, value, at, checking).length === 0),
      at,
      "has none of the forms that are possible"
    ),
  oneOf: (of: ReadonlyArray<JsonSchema>, value, at, _, checking) =>
    when(
      of.filter((one) => problemsOfValue(one, value, at, checking).length === 0).length !== 1,
      at,
      "does not have exactly one of the forms that are possible"
    ),
  not: (not: JsonSchema, value, at, _, checking) =>
    when(problemsOfValue(not, value, at, checking).length === 0, at, "is what it must not be"),
  $ref: (reference: string, value, at, _, checking) => {
    const name = /^#\/components\/schemas\/(.+)$/.exec(reference)?.[1]
    const schema = name === undefined ? undefined : checking.schemas[name]
    if (schema === undefined) throw new Error(`${reference} leads nowhere`)
    return problemsOfValue(schema, value, at, checking)
  },
  format: note,
  contentEncoding: note,
  description: note,
  default: note,
  examples: note,
  discriminator: note
}

/** Problems of a value under a schema; empty when it is valid. */
export const problemsOfValue = (
  schema: JsonSchema,
  value: unknown,
  at: string,
  checking: Checking
): ReadonlyArray<string> =>
  Object.entries(schema).flatMap(([keyword, bound]) => {
    const check = keywords[keyword]
    if (check === undefined) throw new Error(`${at}: ${keyword} is no keyword that is known here`)
    return check(bound as never, value, at, schema, checking)
  })
