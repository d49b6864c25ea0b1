/** Resolves the claims of a token to grants under a mapping. Pure. */
import type { MappedRole, MappingDocument } from "./document.ts"

/** Claims that rules match. Spec: document 1 section 5, item 7; decision 0016. */
export interface Claims {
  readonly roles: ReadonlyArray<string>
  readonly groups: ReadonlyArray<string>
  readonly userIds: ReadonlyArray<string>
}

/** A role in an org unit (`*` is every one), as one matched rule gives it. Spec: decision 0039. */
export interface Grant {
  readonly role: MappedRole
  readonly orgUnit: string
}

/** A grant with the rule that gives it; null where the token's own role name is trusted. */
export interface MatchedGrant extends Grant {
  readonly ruleId: string | null
}

/**
 * Every matched role, strongest first, and the org units of the strongest. Spec: document 1 section 2, "Access draft
 * resolution".
 */
export interface Resolved {
  readonly roles: ReadonlyArray<MappedRole>
  readonly orgUnits: "*" | ReadonlyArray<string>
}

/** Roles, strongest first. Spec: a gap of document 1 section 5; decision 0016. */
export const strongestFirst: ReadonlyArray<MappedRole> = ["admin", "governor", "operator", "reviewer", "auditor"]

/**
 * The grants of claims: one for each matched rule, each once, the strongest role first. What a person may do is judged
 * by each grant alone.
 *
 * The order of rules and of claims changes nothing, and one more rule or claim never takes a grant away.
 *
 * - `canonicalUnit`: the org unit in which our own role names count, where they are trusted.
 * - Spec: document 1 section 5; api.md "Who may call"; decision 0039.
 */
export const grantsOf = (mapping: MappingDocument, claims: Claims, canonicalUnit = "*"): ReadonlyArray<Grant> => {
  const units = new Map(strongestFirst.map((role) => [role, new Set<string>()]))
  for (const { orgUnit, role } of matchedGrants(mapping, claims, canonicalUnit)) units.get(role)!.add(orgUnit)
  return [...units].flatMap(([role, of]) => [...of].sort().map((orgUnit) => ({ role, orgUnit })))
}

/**
 * Lists the matched rules as grants, the strongest role first and then as they stand in the mapping. Parameters as for
 * {@link grantsOf}.
 *
 * - Spec: api.md, resolve-draft.
 */
export const matchedGrants = (
  { rules, trustCanonical }: MappingDocument,
  claims: Claims,
  canonicalUnit = "*"
): ReadonlyArray<MatchedGrant> => {
  const held = {
    roles: new Set(claims.roles),
    groups: new Set(claims.groups),
    user_ids: new Set(claims.userIds.map(caseless))
  }
  return strongestFirst.flatMap((role) => [
    ...(trustCanonical && held.roles.has(role) ? [{ role, orgUnit: canonicalUnit, ruleId: null }] : []),
    ...rules
      .filter((rule) => rule.role === role && held[rule.claim].has(matchedValue(rule)))
      .map(({ id, orgUnit }) => ({ role, orgUnit, ruleId: id }))
  ])
}

const matchedValue = ({ claim, value }: MappingDocument["rules"][number]): string =>
  claim === "user_ids" ? caseless(value) : value

/** Lowers the ASCII letters of an address, as mail does; any other id of a person keeps its case. */
const caseless = (userId: string): string =>
  userId.includes("@") ? userId.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : userId

/**
 * Sums grants up as the specification has it: every role, strongest first, and the org units of the strongest. For
 * people to read; it decides nothing.
 *
 * - Spec: document 1 section 4, resolve-draft; api.md "Who may call".
 */
export const summaryOf = (grants: ReadonlyArray<Grant>): Resolved => {
  const roles = strongestFirst.filter((role) => grants.some((grant) => grant.role === role))
  const units = new Set(grants.filter(({ role }) => role === roles[0]).map(({ orgUnit }) => orgUnit))
  return { roles, orgUnits: units.has("*") ? "*" : [...units].sort() }
}

/**
 * The summary of the grants of claims. Parameters as for {@link grantsOf}. Spec: document 1 section 2, "Access draft
 * resolution"; decision 0039.
 */
export const resolveClaims = (mapping: MappingDocument, claims: Claims, canonicalUnit = "*"): Resolved =>
  summaryOf(grantsOf(mapping, claims, canonicalUnit))
