/**
 * Where an identity comes from: the words that a record's body may say. Spec: research "agent governance" 6.2; decision
 * 0015.
 */
import { kindRow } from "@flyball/evidence"

/** Sources of a card: one whose bytes were signed, and one that carries its signatures. Spec: decision 0015. */
export const cardSources = ["signed_card", "a2a_signed_card"] as const

/** The words of the catalogue of records. Of them `other` stands for a text that is in a part. */
const words: ReadonlySet<string> = new Set(
  kindRow("agent.identity_attested")!.body.flatMap(({ name, type }) =>
    name === "source" && type.type === "enum" ? type.values : []
  )
)

/** The word for a source: itself, or `other` for what only its caller knows. Spec: decision 0015. */
export const sourceWord = (text: string): string => (words.has(text) ? text : "other")
