/**
 * Describes the caller: roles, and what the service says about it. Spec: document 1 section 5; api.md "Who may call".
 */
import { Schema } from "effect"
import type { Info } from "./foundation/plain.ts"
import { oneOf } from "./foundation/fields.ts"

/** Service roles, strongest first. Spec: document 1 section 5 leaves the names open; decision 0016. */
export const roles = ["admin", "governor", "operator", "reviewer", "auditor"] as const

/** One of {@link roles}. */
export type Role = (typeof roles)[number]

/**
 * Answer of GET /me. An ingest key has no role and no grants. `org_units` holds `*` where every unit is meant.
 *
 * `role` is the strongest of the person's roles, `org_units` are the units of that role. `grants` holds all: each is
 * judged by itself.
 */
export const MeOut = Schema.Struct({
  subject: Schema.String,
  kind: oneOf(["user", "key"]),
  role: Schema.NullOr(oneOf(roles)),
  org_units: Schema.Array(Schema.String),
  name: Schema.NullOr(Schema.String),
  grants: Schema.Array(Schema.Struct({ role: oneOf(roles), org_unit: Schema.String }))
})
export type MeOut = typeof MeOut.Type

/**
 * Answer of GET /principals/{principal_id}. `issuer` and `subject` are of a person, as the identity provider names
 * them; `name`, `org_unit` and `created_by` are of an ingest key. Members of the other kind are null, and so is what
 * was erased; `erased` is then true.
 */
export const PrincipalOut = Schema.Struct({
  id: Schema.String,
  kind: oneOf(["user", "key"]),
  issuer: Schema.NullOr(Schema.String),
  subject: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  org_unit: Schema.NullOr(Schema.String),
  created_by: Schema.NullOr(Schema.String),
  erased: Schema.Boolean
})
export type PrincipalOut = typeof PrincipalOut.Type

/** The person behind a pseudonym. `issuer` and `subject` are null once the identity was erased. */
export interface PersonInfo extends Info<typeof PrincipalOut> {}

/** Claims of a token of the development issuer. Spec: document 1 section 5, item 7; decision 0016. */
export const TokenClaims = Schema.Struct({
  iss: Schema.String,
  aud: Schema.Union([Schema.String, Schema.Array(Schema.String)]),
  sub: Schema.String,
  roles: Schema.Array(Schema.String),
  org_unit: Schema.String,
  exp: Schema.Int
})
export type TokenClaims = typeof TokenClaims.Type
