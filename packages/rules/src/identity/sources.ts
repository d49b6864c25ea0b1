/**
 * Where an identity comes from: the words that a record's body may say. Spec: research "agent governance" 6.2; decision
 * 0015.
 */

/** Sources of a card: one whose bytes were signed, and one that carries its signatures. */
export const cardSources = ["signed_card", "a2a_signed_card"] as const

/** Origins of a declared identity that have a word of their own. Any other text is `other`, and stands in a part. */
export const declaredSources = [
  "spiffe",
  "entra_agent_id",
  "okta_agent",
  "oidc_workload",
  "aws_agent_registry",
  "did",
  "other"
] as const

/** A word that a body may say. */
export type IdentitySource = (typeof cardSources)[number] | (typeof declaredSources)[number]

const words: ReadonlyArray<string> = [...cardSources, ...declaredSources]

/** The word for a source: itself, or `other` for what only its caller knows. */
export const sourceWord = (text: string): IdentitySource => (words.includes(text) ? (text as IdentitySource) : "other")
