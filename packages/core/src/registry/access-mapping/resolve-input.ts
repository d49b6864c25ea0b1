/** Resolves claims as they travel, each of which may be left out. */
import type { ResolvedOut, ResolveDraftIn } from "@flyball/contract"
import { matchedGrants, type MappingDocument, resolveClaims } from "@flyball/rules"
import { mappedRules, resolvedOut } from "./document.ts"

/** Resolves claims under a mapping. */
export const resolveInput = (
  mapping: MappingDocument,
  { groups = [], roles = [], user_ids: userIds = [] }: Pick<ResolveDraftIn, "groups" | "roles" | "user_ids">
): ResolvedOut => {
  const claims = { roles, groups, userIds }
  return resolvedOut(resolveClaims(mapping, claims), matchedGrants(mapping, claims))
}

/** Resolves claims under the draft mapping in the same request. Spec: document 1 section 4, resolve-draft. */
export const resolveDraft = ({ rules = [], trust_canonical: trustCanonical, ...claims }: ResolveDraftIn): ResolvedOut =>
  resolveInput({ rules: mappedRules(rules), trustCanonical }, claims)
