/** The types that members of bodies can have. */
import { isOrigin } from "../checkpoint/checkpoint.ts"
import { isForeignName } from "./foreign-name.ts"
import type { BodyMember } from "./row.ts"
import { parseVkey } from "../note/vkey.ts"
import { parseInstant } from "../record/instant.ts"
import { isHashText, partNameForm } from "../record/record.ts"

/** Type and bound of a member. Spec: format 1 section 8. */
export type MemberType =
  /** Prefix and 26 lower-case Crockford base-32 characters. */
  | { readonly type: "id"; readonly prefix: string }
  | { readonly type: "enum"; readonly values: ReadonlyArray<string> }
  | { readonly type: "integer"; readonly min: number; readonly max: number }
  | { readonly type: "boolean" }
  /** 24 characters, as a record's `at`. */
  | { readonly type: "instant" }
  /** 64 lower-case hex digits. */
  | { readonly type: "hash" }
  /** A caller's identifier: no text, since it has no spaces. */
  | { readonly type: "name"; readonly max: number }
  /** A name that others gave, of a tool or a model: visible characters of any script. */
  | { readonly type: "foreign_name"; readonly max: number }
  | { readonly type: "writer" }
  | { readonly type: "origin" }
  | { readonly type: "vkey" }
  | { readonly type: "key_id" }
  | { readonly type: "part_name" }
  | { readonly type: "list"; readonly of: MemberType; readonly min: number; readonly max: number }
  | { readonly type: "object"; readonly members: ReadonlyArray<BodyMember> }

const writerForm = new RegExp(`^(?:(?:system|policy|breaker):[a-z0-9_-]{1,64})$`)
const keyIdForm = /^[0-9a-f]{8}$/

/**
 * Holds of a text that is a prefix and 26 characters of Crockford's base 32, of which the first is at most 7: 128 bits.
 */
const isId = (prefix: string): ((text: string) => boolean) => {
  const length = prefix.length + 26
  return (text) => {
    if (text.length !== length || !text.startsWith(prefix)) return false
    const first = text.charCodeAt(prefix.length)
    if (first < 0x30 || first > 0x37) return false
    for (let i = prefix.length + 1; i < length; i++) if ((kindOf[text.charCodeAt(i)]! & CROCKFORD) === 0) return false
    return true
  }
}

const isName =
  (max: number) =>
  (text: string): boolean => {
    if (text.length === 0 || text.length > max) return false
    for (let i = 0; i < text.length; i++) if ((kindOf[text.charCodeAt(i)]! & IN_NAME) === 0) return false
    return true
  }

const IN_NAME = 1
const CROCKFORD = 2
/**
 * Character classes of the 65,536 code units: a table, since these two tests are most of the work of reading a body.
 */
const kindOf = new Uint8Array(65_536)
for (const sign of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/@+-")
  kindOf[sign.charCodeAt(0)]! |= IN_NAME
for (const sign of "0123456789abcdefghjkmnpqrstvwxyz") kindOf[sign.charCodeAt(0)]! |= CROCKFORD

const isKey = isId("key_")
const isPerson = isId("usr_")
const isPlatformKey = isId("pky_")
const isWriter = (text: string): boolean =>
  isKey(text) || isPerson(text) || isPlatformKey(text) || writerForm.test(text)

/**
 * The same test, which accepts the text that it accepted last without a check: neighbours have the same writer, and
 * name the same envelope.
 */
const sameAsBefore = (holds: (text: string) => boolean): ((text: string) => boolean) => {
  let before = ""
  return (text) => {
    if (text === before && text !== "") return true
    if (!holds(text)) return false
    before = text
    return true
  }
}

/** Holds of the texts that are of a type whose values are texts. */
const isText = (
  type: Exclude<MemberType, { readonly type: "boolean" | "integer" | "list" | "object" }>
): ((text: string) => boolean) => {
  switch (type.type) {
    case "id":
      return isId(type.prefix)
    case "enum":
      return (text) => type.values.includes(text)
    case "instant":
      return (text) => parseInstant(text) !== null
    case "hash":
      return sameAsBefore(isHashText)
    case "name":
      return isName(type.max)
    case "foreign_name": {
      const isPlain = isName(type.max)
      return (text) => isPlain(text) || isForeignName(text, type.max)
    }
    case "writer":
      return sameAsBefore(isWriter)
    case "origin":
      return isOrigin
    case "vkey":
      return (text) => parseVkey(text).ok
    case "key_id":
      return (text) => keyIdForm.test(text)
    case "part_name":
      return (text) => partNameForm.test(text)
  }
}

/** Makes the check for values of a type that is neither a list nor an object. */
export const isMember = (
  type: Exclude<MemberType, { readonly type: "list" | "object" }>
): ((value: unknown) => boolean) => {
  if (type.type === "integer")
    return (value) => Number.isSafeInteger(value) && (value as number) >= type.min && (value as number) <= type.max
  if (type.type === "boolean") return (value) => typeof value === "boolean"
  const holds = isText(type)
  return (value) => typeof value === "string" && holds(value)
}

const describeNamed = ({ name, required, type }: BodyMember): string =>
  `\`${name}${required ? "" : "?"}\` (${describeMember(type)})`

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
    case "foreign_name":
      return `foreign name, 1 to ${type.max}`
    case "list":
      return `list of ${type.min} to ${type.max}: ${describeMember(type.of)}`
    case "object":
      return `object: ${type.members.map(describeNamed).join(", ")}`
    case "key_id":
      return "key id"
    case "part_name":
      return "part name"
    default:
      return type.type
  }
}
