/** The access mapping in the embedding API, derived from the contract. */
import type { MappingIn, MappingOut, MappingRule, ResolvedOut, ResolveDraftIn, Role } from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Info, Input } from "@flyball/contract"

/** Roles that a person may have here, strongest first. */
export type RoleName = Role

/** A person with this value in this claim has this role, in this org unit or in all (`*`). */
export interface MappingRuleInput extends Input<typeof MappingRule> {}

/** A whole access mapping. */
export interface MappingInput extends Input<typeof MappingIn> {}

/** The mapping in force. `version` 0: none was ever set. */
export interface MappingInfo extends Info<typeof MappingOut> {}

/** Groups, roles and user ids that a token claims for a person. */
export interface ClaimsInput extends Pick<Input<typeof ResolveDraftIn>, "groups" | "roles" | "user_ids"> {}

/**
 * The grants that claims resolve to: every matched role, strongest first, and the org units of the strongest (`*` for
 * all).
 */
export interface ResolvedInfo extends Info<typeof ResolvedOut> {}

/**
 * The mapping of claims to roles. The library checks no roles itself: a host does, with `resolve`, before it calls.
 * Spec: document 1 section 2, "Access draft resolution", and section 5, item 7; decision 0016.
 */
export interface AccessMappingClient {
  get(options?: CallOptions): Promise<MappingInfo>
  /** Replaces all of it. */
  set(mapping: MappingInput, options?: ActOptions): Promise<MappingInfo>
  /** Resolves these claims under the mapping in force. */
  resolve(claims: ClaimsInput, options?: CallOptions): Promise<ResolvedInfo>
  /** Resolves them under this mapping. Changes nothing. */
  resolveDraft(draft: Input<typeof ResolveDraftIn>, options?: CallOptions): Promise<ResolvedInfo>
}
