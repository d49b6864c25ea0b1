/** Decides who may release an activation. Pure: the live service and the verifier both run it. */
import type { AutonomyTier } from "../agents/document.ts"
import type { ActivationDocument } from "./document.ts"
import { halts } from "./response.ts"

/**
 * Lowest tier at which the release of a real halt needs a second person. Spec: format 1 section 8, `writer` of
 * `kill.released`; decision 0047.
 */
export const FOUR_EYES_TIER: AutonomyTier = "L3"

/** Why a release is not allowed. `automatic`: a rule released it; only a person does, except for a live drill. */
export type ReleaseProblem = "automatic" | "same_person"

/** Writer of releases of expired live drills. Spec: decision 0048. */
export const DRILL_WRITER = "system:drill"

/**
 * True when a person other than its activator must release an activation: it is real, it halts, and it reached an agent
 * at L3 or above when it was made, or reaches one now. Spec: format 1 section 8, `writer` of `kill.released`; decision
 * 0047.
 */
export const needsSecondPerson = (
  { drill, highestTier, response }: Pick<ActivationDocument, "drill" | "highestTier" | "response">,
  tierNow: AutonomyTier | null
): boolean =>
  drill === null && halts(response) && [highestTier, tierNow].some((tier) => tier !== null && tier >= FOUR_EYES_TIER)

/** True for a writer that is a rule, such as a breaker: it activates and never releases. Spec: format 1 section 7. */
export const isRule = (writer: string): boolean => writer.startsWith("breaker:") || writer.startsWith("policy:")

/**
 * Why this writer may not release an activation; null if it may. Whether two pseudonyms are one person is not known
 * here. Spec: format 1 section 8, `writer` of `kill.released`; decision 0047.
 */
export const releaseProblem = (
  activation: Pick<ActivationDocument, "actor" | "drill" | "highestTier" | "response">,
  tierNow: AutonomyTier | null,
  writer: string
): ReleaseProblem | null => {
  if (isRule(writer) || writer.startsWith("key_")) return "automatic"
  if (writer === DRILL_WRITER && activation.drill?.mode !== "live") return "automatic"
  return needsSecondPerson(activation, tierNow) && activation.actor === writer ? "same_person" : null
}
