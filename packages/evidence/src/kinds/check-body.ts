/** Checks bodies against the catalogue. Each row is compiled once: readers check every record. */
import type { JsonValue } from "../json/value.ts"
import { recordKinds } from "./catalogue.ts"
import { isMember, type MemberType } from "./members.ts"
import type { BodyMember } from "./row.ts"

/**
 * Describes the problem with a body of this kind in one sentence; null when it conforms to the catalogue.
 *
 * The sentence names members and bounds, never a value: it may reach a log. Spec: format 1 section 8; decision 0035.
 */
export const checkBody = (kind: string, body: unknown): string | null => {
  const row = rows.get(kind)
  if (row === undefined) return `Kind ${kind} is not in the catalogue. Add its row before writing it.`
  return row.holds(body) ? null : problemOf(row.members, body, `The body of ${kind}`)
}

type Test = (value: unknown) => boolean

/**
 * Holds of an object that has these members. It expects them in the order of their names, as records have them; in
 * another order it searches for each name.
 */
const objectTest = (members: ReadonlyArray<BodyMember>): Test => {
  const names = members.map(({ name }) => name)
  const required = members.map((member) => member.required)
  const tests = members.map(({ type }) => testOf(type))
  const places = new Map(names.map((name, i) => [name, i]))
  const inAnyOrder = (object: { readonly [name: string]: unknown }, keys: ReadonlyArray<string>): boolean =>
    names.every((name, i) => !required[i] || Object.hasOwn(object, name)) &&
    keys.every((key) => places.has(key) && tests[places.get(key)!]!(object[key]))
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false
    const object = value as { readonly [name: string]: unknown }
    const keys = Object.keys(object)
    let next = 0
    for (const key of keys) {
      while (next < names.length && names[next] !== key) {
        if (required[next]) return inAnyOrder(object, keys)
        next++
      }
      if (next === names.length) return inAnyOrder(object, keys)
      if (!tests[next]!(object[key])) return false
      next++
    }
    for (; next < names.length; next++) if (required[next]) return false
    return true
  }
}

const testOf = (type: MemberType): Test => {
  if (type.type === "object") return objectTest(type.members)
  if (type.type !== "list") return isMember(type)
  return type.of.type === "integer" ? integersTest(type, type.of) : listTest(type, testOf(type.of))
}

const listTest =
  ({ max, min }: { readonly min: number; readonly max: number }, item: Test): Test =>
  (value) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) return false
    for (const one of value) if (!item(one)) return false
    return true
  }

/** The trace of an evaluation has a number for each rule: a call for each would take longer than all other members. */
const integersTest =
  (
    list: { readonly min: number; readonly max: number },
    { max, min }: { readonly min: number; readonly max: number }
  ): Test =>
  (value) => {
    if (!Array.isArray(value) || value.length < list.min || value.length > list.max) return false
    for (const one of value)
      if (typeof one !== "number" || !(one >= min && one <= max) || Math.floor(one) !== one) return false
    return true
  }

const rows: ReadonlyMap<string, { readonly members: ReadonlyArray<BodyMember>; readonly holds: Test }> = new Map(
  recordKinds.map(({ body, kind }) => [kind, { members: body, holds: objectTest(body) }])
)

/** The first thing that is wrong with an object that should have these members. */
const problemOf = (members: ReadonlyArray<BodyMember>, value: unknown, what: string): string => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${what} is not an object.`
  const object = value as { readonly [name: string]: JsonValue | undefined }
  for (const { name, required, type } of members) {
    if (!Object.hasOwn(object, name)) {
      if (required) return `${what} lacks ${name}.`
    } else if (!testOf(type)(object[name])) {
      return problemOfMember(type, object[name], name, what)
    }
  }
  return `${what} has a member that the catalogue does not name.`
}

const problemOfMember = (type: MemberType, value: unknown, name: string, what: string): string => {
  if (type.type === "object") return problemOf(type.members, value, `${what}, ${name},`)
  const items =
    type.type === "list" &&
    type.of.type === "object" &&
    Array.isArray(value) &&
    value.length >= type.min &&
    value.length <= type.max
      ? value
      : []
  const item = items.find((one: unknown) => type.type === "list" && !testOf(type.of)(one))
  return type.type === "list" && type.of.type === "object" && item !== undefined
    ? problemOf(type.of.members, item, `${what}, ${name},`)
    : `${what} has a ${name} out of its bounds.`
}
