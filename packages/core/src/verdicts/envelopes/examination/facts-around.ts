/**
 * What lint is told of the world around an envelope: out of the agents it is for, of who has which role, and of what
 * was seen.
 */
import { strongestFirst } from "@flyball/rules"
import type { History } from "../history.ts"
import type { Envelope, LintFacts } from "@flyball/envelope"
import { blastBounds } from "./blast-bounds.ts"
import type { Surroundings } from "./questions.ts"

/**
 * The facts. What no module knows yet is said to be so; what is not there is left out, and lint says that it was not
 * asked.
 */
export const factsAround = (
  { blastRadii, grantable, toolsSeen }: Surroundings,
  envelope: Envelope,
  history: History | null
): Omit<LintFacts, "envelope" | "history" | "safety"> => {
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
    // Roles of other names are for reviews to know.
    reviewers: {
      grantable: grantable === "any" ? "any" : new Set(grantable),
      among: new Set(strongestFirst),
      ownerOnly: "not_built"
    },
    reviewLoad: "not_built"
  }
}
