/** Reads the access mapping out of its document, and writes it for the wire. */
import type { MappingOut, MappingRule, ResolvedOut } from "@flyball/contract"
import type { Document } from "../../storage/port.ts"
import { emptyMapping, type MappedRule, type MappingDocument } from "@flyball/rules"
import type { MatchedGrant, Resolved } from "@flyball/rules"

/** The mapping as it was read; version 0 where there is none. */
export interface StoredMapping {
  readonly version: number
  readonly body: MappingDocument
}

/** The mapping in the document; only this folder writes there. */
export const storedMapping = (document: Document | null): StoredMapping =>
  document === null
    ? { version: 0, body: emptyMapping }
    : { version: document.version, body: document.body as MappingDocument }

/** The rules of an input, each with a name. */
export const mappedRules = (rules: ReadonlyArray<MappingRule>): ReadonlyArray<MappedRule> =>
  rules.map(({ id, match, org_unit, role }, index) => ({
    id: id ?? `r${index + 1}`,
    claim: match.claim,
    value: match.value,
    role,
    orgUnit: org_unit
  }))

/** The mapping as the interface shows it. */
export const mappingOut = ({ body, version }: StoredMapping): MappingOut => ({
  rules: body.rules.map(({ claim, id, orgUnit, role, value }) => ({
    id,
    match: { claim, value },
    role,
    org_unit: orgUnit
  })),
  trust_canonical: body.trustCanonical,
  version
})

/** Converts resolved roles, org units and grants to their wire form. */
export const resolvedOut = ({ orgUnits, roles }: Resolved, grants: ReadonlyArray<MatchedGrant>): ResolvedOut => ({
  roles,
  org_units: orgUnits === "*" ? ["*"] : orgUnits,
  grants: grants.map(({ orgUnit, role, ruleId }) => ({ role, org_unit: orgUnit, rule_id: ruleId }))
})
