/**
 * What a host without Effect does with the access mapping. The shapes of the interface as plain TypeScript; a test
 * holds them and the contract together.
 */
import type { ActOptions, CallOptions } from "./call-options.ts"

/** What a person may be here, strongest first. */
export type RoleName = "admin" | "governor" | "operator" | "reviewer" | "auditor"

/** Whoever has this value in this claim has this role, in this org unit or in all (`*`). */
export interface MappingRuleInput {
  /** The rule's own name; `r1`, `r2`, … by position when left out. */
  readonly id?: string | undefined
  readonly match: { readonly claim: "roles" | "groups" | "user_ids"; readonly value: string }
  readonly role: RoleName
  readonly org_unit: string
}

/** The whole mapping. */
export interface MappingInput {
  /**
   * Up to 1,000. Some rule makes somebody admin of every org unit, unless there are none or our own names are trusted.
   */
  readonly rules: ReadonlyArray<MappingRuleInput>
  /** Whether our own role names count in the claim `roles`. Default false. */
  readonly trust_canonical?: boolean | undefined
  /** The version that was read; another one there is refused. */
  readonly if_version?: number | null | undefined
}

/** The mapping in force. `version` 0: none was ever set. */
export interface MappingInfo {
  readonly rules: ReadonlyArray<{
    readonly id: string
    readonly match: MappingRuleInput["match"]
    readonly role: RoleName
    readonly org_unit: string
  }>
  readonly trust_canonical: boolean
  readonly version: number
}

/** What a token says of a person. */
export interface ClaimsInput {
  readonly roles?: ReadonlyArray<string> | undefined
  readonly groups?: ReadonlyArray<string> | undefined
  readonly user_ids?: ReadonlyArray<string> | undefined
}

/** What claims come to: every matched role, strongest first, and the org units of the strongest (`*` for all). */
export interface ResolvedInfo {
  readonly roles: ReadonlyArray<RoleName>
  readonly org_units: ReadonlyArray<string>
}

/** Who becomes what here. The library itself asks nobody for a role: a host does, with `resolve`, before it calls. */
export interface AccessMappingClient {
  get(options?: CallOptions): Promise<MappingInfo>
  /** Replaces all of it. */
  set(mapping: MappingInput, options?: ActOptions): Promise<MappingInfo>
  /** What these claims come to under the mapping in force. */
  resolve(claims: ClaimsInput, options?: CallOptions): Promise<ResolvedInfo>
  /** What they would come to under this mapping. Changes nothing. */
  resolveDraft(
    draft: ClaimsInput & {
      readonly rules?: MappingInput["rules"] | undefined
      readonly trust_canonical?: boolean | undefined
    },
    options?: CallOptions
  ): Promise<ResolvedInfo>
}
