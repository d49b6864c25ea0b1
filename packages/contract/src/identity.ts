/** An agent's identity as it travels. Spec: document 1 section 2, `IdentityIn`; api.md "agents and registry". */
import { Schema } from "effect"
import { check, identifier, instant, jsonObjectUpTo, name, oneOf, optional } from "./foundation/fields.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { computed, inBody, inDocument, inPart, showsRecords } from "./foundation/place.ts"

/**
 * Characters of a card in base64.
 *
 * - Unit: characters. Cards in the field have a few KiB; the body's own limit is 1 MiB.
 */
export const CARD_LIMIT = 524_288

/**
 * Characters of the JSON text of a card that is sent as an object.
 *
 * - Unit: UTF-16 units. As many as the bytes that {@link CARD_LIMIT} characters of base64 hold.
 */
export const CARD_OBJECT_LIMIT = 393_216

/** Base64 with padding, in its one form, of what `holds` says. */
const base64 = (max: number, holds: string) =>
  Schema.String.check(
    check<string>((value) => value.length > 0, {
      type: "string_too_short",
      msg: "String should have at least 1 character",
      ctx: { min_length: 1 }
    }),
    check<string>((value) => value.length <= max, {
      type: "string_too_long",
      msg: `String should have at most ${max} characters`,
      ctx: { max_length: max }
    }),
    check<string>(
      (value) => isBase64(value),
      { type: "value_error", msg: "The text is not base64 with padding (RFC 4648 section 4)" },
      { contentEncoding: "base64", description: `${holds}, in base64 with padding.` }
    )
  )

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/** A last digit before padding must leave no bits over, or a text would have two forms. */
const isBase64 = (value: string): boolean => {
  if (value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) return false
  const pads = value.endsWith("==") ? 2 : value.endsWith("=") ? 1 : 0
  return pads === 0 || (digits.indexOf(value[value.length - pads - 1]!) & (pads === 2 ? 15 : 3)) === 0
}

/**
 * A signed agent card. With `signature` it is Ed25519 over the card's bytes, by the key that `key_id` or `public_key`
 * names; without it the card is an A2A card that carries its own `signatures`. A public key only selects the entry of
 * the trust store that holds it. A card that is a JSON object stands for its RFC 8785 bytes. Spec: document 1 section
 * 2, "Identity input"; decision 0015.
 */
export const SignedCard = Schema.Struct({
  card: Schema.Union([base64(CARD_LIMIT, "The bytes of the card"), jsonObjectUpTo(CARD_OBJECT_LIMIT)]),
  signature: optional(base64(1_024, "The 64 bytes of an Ed25519 signature over the card's bytes")),
  public_key: optional(base64(1_024, "The 32 bytes of an Ed25519 key as in its JWK, not a PEM file")),
  key_id: optional(identifier(200))
})
export type SignedCard = typeof SignedCard.Type

/**
 * Body of POST /agents/{agent_id}/identity: a signed card, or both members of a declaration. Spec: document 1 section
 * 2, "Identity input"; decision 0015.
 */
export const IdentityIn = Schema.Struct({
  /**
   * Base64, but for a `card` that is a JSON object: that stands for its RFC 8785 bytes. With `signature`: Ed25519 over
   * the card's bytes, by the key that
   * `key_id` or `public_key` names. Without: an A2A card with its own `signatures`.
   */
  signed_card: optional(SignedCard),
  /**
   * Where the declared identity is from: `spiffe`, `entra_agent_id`, `okta_agent`, `oidc_workload`,
   * `aws_agent_registry`, `did`, or a word of yours.
   */
  declared_source: optional(name(200)),
  declared_ref: optional(name(2_048)),
  /** The declaration takes the place of a verified identity, which is withdrawn. Refused to ingest keys. */
  withdraw_verified: optional(Schema.Boolean)
})
export type IdentityIn = typeof IdentityIn.Type

/**
 * An agent's identity: a signed card, or both members of a declaration. Spec: document 1 section 2, "Identity input";
 * decision 0015.
 */
export interface IdentityInput extends Input<typeof IdentityIn> {}

/** Verdicts on an identity that is attached. Spec: format 1 section 8, `agent.identity_attested`. */
export const identityVerdicts = ["verified", "declared", "rejected"] as const

/** Reasons of a verdict. Spec: format 1 section 8, `agent.identity_attested`. */
export const identityReasons = [
  "ok",
  "signature_invalid",
  "key_unknown",
  "key_revoked",
  "key_expired",
  "alg_not_allowed",
  "card_malformed",
  "name_mismatch"
] as const

/** The agent's identity after an attempt. A rejected card leaves it as it was. */
export const IdentityStanding = Schema.Struct({
  identity_verified: Schema.Boolean,
  identity_source: Schema.NullOr(Schema.String),
  identity_ref: Schema.NullOr(Schema.String)
})
export type IdentityStanding = typeof IdentityStanding.Type

/**
 * The verdict. `identity_*` is the identity of this attempt, false and null for a rejected card; `standing` is the
 * agent's identity after it. Spec: document 1 section 2, "Identity input"; decision 0015.
 */
export const IdentityVerdict = Schema.Struct({
  agent_id: inBody(Schema.String),
  identity_verified: inBody(Schema.Boolean, "verdict"),
  identity_source: inPart("identity", Schema.NullOr(Schema.String)),
  identity_ref: inPart("identity", Schema.NullOr(Schema.String)),
  verdict: inBody(oneOf(identityVerdicts)),
  reason_code: inBody(oneOf(identityReasons)),
  standing: inDocument(IdentityStanding),
  /** SHA-256 of the card's bytes as they were sent. */
  card_digest: inBody(Schema.NullOr(Schema.String)),
  /** The key's id; what the card calls it where the trust store has none such. */
  key_id: inBody(Schema.NullOr(Schema.String)),
  alg: inBody(Schema.NullOr(Schema.String)),
  checked_at: inBody(instant),
  seq: computed(Schema.Int),
  record_hash: computed(Schema.String)
}).annotate(showsRecords(["agent.identity_attested"], { body: ["source", "writer"], parts: ["claim"] }))
export type IdentityVerdict = typeof IdentityVerdict.Type

/**
 * The result. `identity_*` is the identity of this attempt, false and null for a rejected card; `standing` is the
 * agent's identity afterwards. Spec: document 1 section 2, "Identity input"; decision 0015.
 */
export interface IdentityInfo extends Info<typeof IdentityVerdict> {}
