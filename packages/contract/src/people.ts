/** People as the embedding API names them. */
import { Schema } from "effect"
import type { Input } from "./foundation/plain.ts"
import { CLAIM_LIMIT } from "./access-mapping.ts"
import { check, optional } from "./foundation/fields.ts"

const rule = `Text should have 1 to ${CLAIM_LIMIT} characters, at least one of them visible`

/** Kept unchanged: another Unicode form of the same letters is another person. */
const exactly = Schema.String.check(
  check<string>(
    (text) => text.trim() !== "" && text.length <= CLAIM_LIMIT && text.isWellFormed() && !text.includes("\0"),
    { type: "value_error", msg: rule }
  )
)

/**
 * A person, as an identity provider names them: `subject` is unique within `issuer`. Without an issuer the host vouches
 * for the person.
 */
export const PersonIn = Schema.Struct({ issuer: optional(exactly), subject: exactly })
export type PersonIn = typeof PersonIn.Type

/** A person: `subject` as the identity provider `issuer` names them. Without an issuer it is the host's own name. */
export interface PersonInput extends Input<typeof PersonIn> {}
