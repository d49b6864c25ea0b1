/**
 * The surroundings that lint needs to know of an envelope: the agents it is for, the roles that people have, and the
 * tools that were seen.
 */
import { answeringRoles } from "@flyball/rules"
import type { History } from "../history.ts"
import type { Envelope, LintFacts } from "@flyball/envelope"
import { blastBounds } from "./blast-bounds.ts"
import type { Surroundings } from "./questions.ts"

/** The facts. What is missing is left out, and lint reports that it was not checked. */
export const factsAround = (
  { blastRadii, grantable, ownerOnly = [], safety, toolsSeen }: Surroundings,
  envelope: Envelope,
  history: History | null
): Omit<LintFacts, "envelope" | "history"> => {
  const bounds = blastBounds(envelope, blastRadii)
  const seen = [
    ...toolsSeen,
    ...(history?.evaluations ?? []).flatMap(({ signals }) =>
      typeof signals?.["tool"] === "string" ? [signals["tool"]] : []
    )
  ]
  return {
    ...(bounds.length === 0 ? {} : { blastRadius: bounds }),
    ...(seen.length === 0 ? {} : { toolsSeen: seen }),
    safety,
    reviewers: {
      grantable: new Set(grantable === "any" ? answeringRoles : grantable),
      othersUnknown: grantable === "any",
      ownerOnly: new Set(ownerOnly)
    }
  }
}
