/** The form of an A2A card that its signatures are made over. */
import type { JsonObject, JsonValue } from "@flyball/evidence"
import { agentCard, type CardMessage, type CardType } from "./agent-card.ts"

/**
 * An A2A card without its signatures and without members that hold no more than their default: what is then written in
 * RFC 8785.
 *
 * Null for a card that has a member which the schema does not name, or one of another type. Consumers that read a card
 * into the schema's types never see
 * such a member, so that a signature over it says nothing of what they read.
 *
 * - Spec: A2A 1.0 section 8.4.1.
 */
export const signedForm = (card: JsonObject): JsonObject | null => {
  const { signatures: _, ...rest } = card
  return messageOf(agentCard, rest)
}

const messageOf = (shape: CardMessage, value: JsonObject): JsonObject | null => {
  const members: Array<readonly [string, JsonValue]> = []
  for (const [name, given] of Object.entries(value)) {
    const member = Object.hasOwn(shape, name) ? shape[name]! : null
    const form = member === null ? null : formOf(member.is, given)
    if (member === null || form === null) return null
    if (member.kept || !isDefault(form.value)) members.push([name, form.value])
  }
  return Object.fromEntries(members)
}

/** A value in its signed form; null where it is of another type. */
const formOf = (type: CardType, value: JsonValue): { readonly value: JsonValue } | null => {
  switch (type.type) {
    case "text":
      return typeof value === "string" ? { value } : null
    case "flag":
      return typeof value === "boolean" ? { value } : null
    case "any":
      return isObject(value) ? { value } : null
    case "message": {
      const form = isObject(value) ? messageOf(type.of, value) : null
      return form === null ? null : { value: form }
    }
    case "list": {
      if (!isList(value)) return null
      const forms = value.map((item) => formOf(type.of, item))
      return forms.includes(null) ? null : { value: forms.map((form) => form!.value) }
    }
    case "map": {
      if (!isObject(value)) return null
      const forms = Object.entries(value).map(([name, item]) => [name, formOf(type.of, item)] as const)
      return forms.some(([, form]) => form === null)
        ? null
        : { value: Object.fromEntries(forms.map(([name, form]) => [name, form!.value])) }
    }
  }
}

const isDefault = (value: JsonValue): boolean =>
  value === "" ||
  value === false ||
  (isList(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0)

const isList = (value: JsonValue): value is ReadonlyArray<JsonValue> => Array.isArray(value)
/** True for a JSON object. */
export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
