/** The access mapping as state. Plain data. */

/** A service role. */
export type MappedRole = "admin" | "governor" | "operator" | "reviewer" | "auditor"

/** A rule of the mapping. Spec: document 1 section 5, item 7; decision 0016. */
export type MappedRule = {
  readonly id: string
  readonly claim: "roles" | "groups" | "user_ids"
  readonly value: string
  readonly role: MappedRole
  /** `*` is every org unit. */
  readonly orgUnit: string
}

/** The one document of the collection. Spec: document 1 section 5, item 7; decision 0016. */
export type MappingDocument = {
  readonly rules: ReadonlyArray<MappedRule>
  /** Role names of ours in a token's `roles` count as themselves, in every org unit. */
  readonly trustCanonical: boolean
}

/** Nobody is mapped: none was ever set, or its part was erased. */
export const emptyMapping: MappingDocument = { rules: [], trustCanonical: false }

/** Members that come from the part `mapping`. */
export const mappingMembers = ["rules", "trustCanonical"] as const
