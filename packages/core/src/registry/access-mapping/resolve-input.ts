/** Resolves claims as they travel, each of which may be left out. */
import type { ResolvedOut, ResolveDraftIn } from "@flyball/contract"
import { mappedRules, resolvedOut } from "./document.ts"
import type { MappingDocument } from "@flyball/rules"
import { resolveClaims } from "@flyball/rules"

/** Resolves claims under a mapping. */
export const resolveInput = (
  mapping: MappingDocument,
  { groups = [], roles = [], user_ids: userIds = [] }: Pick<ResolveDraftIn, "groups" | "roles" | "user_ids">
): ResolvedOut => resolvedOut(resolveClaims(mapping, { roles, groups, userIds }))

/** Resolves claims under the draft mapping in the same request. Spec: document 1 section 4, resolve-draft. */
export const resolveDraft = ({ rules = [], trust_canonical: trustCanonical, ...claims }: ResolveDraftIn): ResolvedOut =>
  resolveInput({ rules: mappedRules(rules), trustCanonical }, claims)
