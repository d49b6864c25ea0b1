/** The types that members of bodies can have. */
import { isOrigin } from "./checkpoint/checkpoint.ts"
import type { BodyMember } from "./kinds.ts"
import { parseVkey } from "./note/vkey.ts"
import { parseInstant } from "./record/instant.ts"
import { isHashText, partNameForm } from "./record/record.ts"

/** Type and bound of a member. */
export type MemberType =
  /** Prefix and 26 lower-case Crockford base-32 characters. */
  | { readonly type: "id"; readonly prefix: string }
  | { readonly type: "enum"; readonly values: ReadonlyArray<string> }
  | { readonly type: "integer"; readonly min: number; readonly max: number }
  /** 24 characters, as a record's `at`. */
  | { readonly type: "instant" }
  /** 64 lower-case hex digits. */
  | { readonly type: "hash" }
  /** A caller's name for a tool, a run, a model: no text, since it has no spaces. */
  | { readonly type: "name"; readonly max: number }
  | { readonly type: "writer" }
  | { readonly type: "origin" }
  | { readonly type: "vkey" }
  | { readonly type: "key_id" }
  | { readonly type: "part_name" }
  | { readonly type: "list"; readonly of: MemberType; readonly min: number; readonly max: number }
  | { readonly type: "object"; readonly members: ReadonlyArray<BodyMember> }

const tail = "[0-7][0-9a-hjkmnp-tv-z]{25}"
const ids = new Map<string, RegExp>()
const idForm = (prefix: string): RegExp => {
  const known = ids.get(prefix)
  if (known !== undefined) return known
  const form = new RegExp(`^${prefix}${tail}$`)
  ids.set(prefix, form)
  return form
}

const nameForm = /^[A-Za-z0-9._:/@+-]+$/
const writerForm = new RegExp(`^(?:(?:key|usr)_${tail}|(?:system|policy|breaker):[a-z0-9_-]{1,64})$`)
const keyIdForm = /^[0-9a-f]{8}$/

/** Whether a value is of a type. Objects are looked into by `checkBody`, which can name the member. */
export const isMember = (type: MemberType, value: unknown): boolean => {
  if (type.type === "integer") return Number.isSafeInteger(value) && (value as number) >= type.min && (value as number) <= type.max
  if (type.type === "list") return Array.isArray(value) && value.length >= type.min && value.length <= type.max && value.every((item) => isMember(type.of, item))
  if (typeof value !== "string") return false
  switch (type.type) {
    case "id":
      return idForm(type.prefix).test(value)
    case "enum":
      return type.values.includes(value)
    case "instant":
      return parseInstant(value) !== null
    case "hash":
      return isHashText(value)
    case "name":
      return value.length <= type.max && nameForm.test(value)
    case "writer":
      return writerForm.test(value)
    case "origin":
      return isOrigin(value)
    case "vkey":
      return parseVkey(value).ok
    case "key_id":
      return keyIdForm.test(value)
    case "part_name":
      return partNameForm.test(value)
    case "object":
      return false
  }
}

/** A type and its bound in the words of `SPEC.md`. */
export const describeMember = (type: MemberType): string => {
  switch (type.type) {
    case "id":
      return `id \`${type.prefix}\``
    case "enum":
      return type.values.map((value) => `\`${value}\``).join(", ")
    case "integer":
      return `integer ${type.min} to ${type.max === Number.MAX_SAFE_INTEGER ? "2^53 - 1" : type.max}`
    case "name":
      return `name, 1 to ${type.max}`
    case "list":
      return `list of ${type.min} to ${type.max}: ${describeMember(type.of)}`
    case "object":
      return `object: ${type.members.map((member) => `\`${member.name}${member.required ? "" : "?"}\` (${describeMember(member.type)})`).join(", ")}`
    case "key_id":
      return "key id"
    case "part_name":
      return "part name"
    default:
      return type.type
  }
}
