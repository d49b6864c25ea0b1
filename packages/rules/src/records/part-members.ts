/**
 * Members of a part in both spellings: `org_unit` in the part and on the wire, `orgUnit` in the document.
 *
 * What is left of a part once it was erased lists its members. Reading, writing and erasing derive from that list, and
 * a test proves it equal to the catalogue of records.
 */
import type { Json, JsonMap } from "./record.ts"

/**
 * The members of a part in a document, with the value that each has once the part was erased.
 *
 * `null` stands for a text, an empty list for a list, and an empty object for an object.
 */
export type PartMembersOf = { readonly [member: string]: Json }

type WireName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${WireName<Rest>}`
  : ""

/** The members as the part and the wire name them. All are there. */
export type WireMembers<T> = { readonly [Name in keyof T & string as WireName<Name>]: T[Name] }

/** A member's name in the part and on the wire. */
export const wireName = (member: string): string => {
  const known = wireNames.get(member)
  if (known !== undefined) return known
  const name = member.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
  wireNames.set(member, name)
  return name
}

/** Names that were derived before. Members are those that the code lists, so the map stays small. */
const wireNames = new Map<string, string>()

/** The names of the members in a document. */
export const namesOf = <T extends PartMembersOf>(erased: T): ReadonlyArray<keyof T & string> => Object.keys(erased)

/**
 * Reads the members of a part or a request. Absent members, and those of another type, get the value of an erased part.
 * Spec: decision 0006.
 */
export const readMembers = <T extends PartMembersOf>(wire: { readonly [name: string]: unknown }, erased: T): T => {
  const read: { [member: string]: Json } = {}
  for (const [member, empty] of Object.entries(erased)) {
    const value = wire[wireName(member)]
    read[member] = isLike(value, empty) ? value : empty
  }
  return read as T
}

/** The members of a document as the part and the wire name them. Spec: decision 0006. */
export const writeMembers = <T extends PartMembersOf>(document: T, erased: T): WireMembers<T> => {
  const wire: { [name: string]: Json } = {}
  for (const member of namesOf(erased)) wire[wireName(member)] = document[member] ?? erased[member]!
  return wire as WireMembers<T>
}

const isLike = (value: unknown, empty: Json): value is Json =>
  Array.isArray(empty) ? Array.isArray(value) : isMap(empty) ? isMap(value) : typeof value === "string"

const isMap = (value: unknown): value is JsonMap => typeof value === "object" && value !== null && !Array.isArray(value)
