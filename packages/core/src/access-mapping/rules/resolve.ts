/** What the claims of a token come to under a mapping. Pure. */
import type { MappedRole, MappingDocument } from "./document.ts"

/** Claims that rules match. */
export interface Claims {
  readonly roles: ReadonlyArray<string>
  readonly groups: ReadonlyArray<string>
  readonly userIds: ReadonlyArray<string>
}

/** Every matched role, strongest first, and the org units of the strongest. */
export interface Resolved {
  readonly roles: ReadonlyArray<MappedRole>
  readonly orgUnits: "*" | ReadonlyArray<string>
}

/** Roles, strongest first. */
export const strongestFirst: ReadonlyArray<MappedRole> = ["admin", "governor", "operator", "reviewer", "auditor"]

/**
 * Resolves claims. The order of rules and of claims changes nothing, and one more rule never takes away a role.
 *
 * - `canonicalUnit`: the org unit in which our own role names count, where they are trusted.
 * - Spec: document 1 section 4, resolve-draft; api.md "Who may call": the strongest role counts, and the org units of the rules that grant it unite.
 */
export const resolveClaims = (mapping: MappingDocument, claims: Claims, canonicalUnit = "*"): Resolved => {
  const held = { roles: new Set(claims.roles), groups: new Set(claims.groups), user_ids: new Set(claims.userIds) }
  const grants = mapping.rules.filter(({ claim, value }) => held[claim].has(value)).map(({ orgUnit, role }) => ({ role, orgUnit }))
  if (mapping.trustCanonical) grants.push(...strongestFirst.filter((role) => held.roles.has(role)).map((role) => ({ role, orgUnit: canonicalUnit })))
  const roles = strongestFirst.filter((role) => grants.some((grant) => grant.role === role))
  const units = new Set(grants.filter(({ role }) => role === roles[0]).map(({ orgUnit }) => orgUnit))
  return { roles, orgUnits: units.has("*") ? "*" : [...units].sort() }
}
