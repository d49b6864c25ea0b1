/** The principal as state: which person a pseudonym stands for. Only here, and erasable. */

/**
 * A principal's document. Both members are null once the identity was erased. Spec: format 1 section 8,
 * `principal.seen`; decision 0006.
 */
export type PrincipalDocument = {
  readonly kind: string
  readonly issuer: string | null
  readonly subject: string | null
}

/** Members that come from the part `identity`. */
export const identityMembers = ["issuer", "subject"] as const
