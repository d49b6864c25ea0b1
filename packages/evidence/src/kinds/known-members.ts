/** Bodies that a later version wrote: what this version knows of them. Spec: format 1 sections 6.1 and 8. */
import type { JsonObject, JsonValue } from "../json/value.ts"
import { kindRow } from "./catalogue.ts"
import { checkBody } from "./check-body.ts"
import type { MemberType } from "./members.ts"
import type { BodyMember } from "./row.ts"

/**
 * A body without the members that its row does not name, at any depth; what is left is as the catalogue says.
 *
 * Null where nothing can be left out so that it is: the kind has no row, the body has no such member, or what it has
 * besides is wrong. Spec: format 1 section 6.1, "Later kinds and members".
 */
export const knownMembers = (kind: string, body: JsonObject): JsonObject | null => {
  const row = kindRow(kind)
  if (row === null || checkBody(kind, body) === null) return null
  const known = membersOf(row.body, body)
  return checkBody(kind, known) === null ? (known as JsonObject) : null
}

const membersOf = (members: ReadonlyArray<BodyMember>, value: JsonValue): JsonValue => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const object = value as JsonObject
  return Object.fromEntries(
    members.flatMap(({ name, type }) => (Object.hasOwn(object, name) ? [[name, known(type, object[name]!)]] : []))
  )
}

const known = (type: MemberType, value: JsonValue): JsonValue => {
  if (type.type === "object") return membersOf(type.members, value)
  return type.type === "list" && Array.isArray(value) ? value.map((one: JsonValue) => known(type.of, one)) : value
}
