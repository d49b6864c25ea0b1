/**
 * The access mapping as it travels: which claims of a person's token grant which role where. Spec: document 1 section
 * 2, "Access draft resolution"; api.md "Who may call".
 */
import { Schema } from "effect"
import { defaulted, identifier, integer, leftOut, list, name, oneOf, optional, text } from "./foundation/fields.ts"
import { roles } from "./session.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { inDocument, inPart, showsRecords } from "./foundation/place.ts"

/** Claims that a rule can match. */
export const mappingClaims = ["roles", "groups", "user_ids"] as const

/** One of {@link mappingClaims}. */
export type MappingClaim = (typeof mappingClaims)[number]

/** Longest value of a claim that is matched. Unit: characters. */
export const CLAIM_LIMIT = 256
/** Most rules of a mapping, which is read at every request of a person. */
export const MAX_MAPPING_RULES = 1_000

/**
 * A rule: a person with this value in this claim has this role, in this org unit or in all (`*`). Spec: document 1
 * section 5, item 7; decision 0016.
 */
export const MappingRule = Schema.Struct({
  /** The rule's own name; `r1`, `r2`, … by position when left out. */
  id: Schema.optionalKey(identifier(64)),
  match: Schema.Struct({ claim: oneOf(mappingClaims), value: text(1, CLAIM_LIMIT) }),
  role: oneOf(roles),
  org_unit: name(100)
})
export type MappingRule = typeof MappingRule.Type

/** A person with this value in this claim has this role, in this org unit or in all (`*`). */
export interface MappingRuleInput extends Input<typeof MappingRule> {}

const rules = list(MappingRule, 0, MAX_MAPPING_RULES)

/** Body of PUT /admin/entitlement-rules: the whole mapping. Spec: decision 0016. */
export const MappingIn = Schema.Struct({
  /**
   * Up to 1,000. Some rule makes somebody admin of every org unit, unless there are none or our own names are trusted.
   */
  rules,
  /** True when our own role names count in the claim `roles`. Default false. */
  trust_canonical: defaulted(Schema.Boolean, false),
  /** The version that was read; another one there is refused. */
  if_version: optional(integer(0))
})
export type MappingIn = typeof MappingIn.Type

/** A whole access mapping. */
export interface MappingInput extends Input<typeof MappingIn> {}

/** The mapping in force. `version` 0: none was ever set. Spec: decision 0016. */
export const MappingOut = Schema.Struct({
  rules: inPart(
    "mapping",
    Schema.Array(Schema.Struct({ ...MappingRule.fields, id: Schema.String, org_unit: Schema.String }))
  ),
  trust_canonical: inPart("mapping", Schema.Boolean),
  version: inDocument(Schema.Int)
}).annotate(showsRecords(["mapping.changed"], { body: ["rules", "writer"] }))
export type MappingOut = typeof MappingOut.Type

/** The mapping in force. `version` 0: none was ever set. */
export interface MappingInfo extends Info<typeof MappingOut> {}

const claimValues = list(text(0, CLAIM_LIMIT), 0, 1_000)

/** Body of POST /admin/entitlement-rules/resolve-draft. Spec: document 1 section 2, "Access draft resolution". */
export const ResolveDraftIn = Schema.Struct({
  rules: leftOut(rules, []),
  roles: leftOut(claimValues, []),
  groups: leftOut(claimValues, []),
  user_ids: leftOut(claimValues, []),
  trust_canonical: defaulted(Schema.Boolean, false)
})
export type ResolveDraftIn = typeof ResolveDraftIn.Type

/** Groups, roles and user ids that a token claims for a person. */
export interface ClaimsInput extends Pick<Input<typeof ResolveDraftIn>, "groups" | "roles" | "user_ids"> {}

/**
 * Roles that claims resolve to: every matched role, strongest first, and the org units of the strongest. `grants` lists
 * each matched rule; `rule_id` is null for a role name that `trust_canonical` accepts. Spec: document 1 section 2,
 * "Access draft resolution"; api.md, resolve-draft.
 */
export const ResolvedOut = Schema.Struct({
  roles: Schema.Array(oneOf(roles)),
  org_units: Schema.Array(Schema.String),
  grants: Schema.Array(
    Schema.Struct({ role: oneOf(roles), org_unit: Schema.String, rule_id: Schema.NullOr(Schema.String) })
  )
})
export type ResolvedOut = typeof ResolvedOut.Type

/**
 * The grants that claims resolve to: every matched role, strongest first, and the org units of the strongest (`*` for
 * all).
 */
export interface ResolvedInfo extends Info<typeof ResolvedOut> {}
