/** Requires a proof that what one person published allows nothing new. Spec: decisions 0025 and 0026. */
import type { RecomputedPublication } from "@flyball/rules"
import type { ActVerdict } from "./act.ts"

/**
 * Judges a publication by one person. It needs no second one only where it is proved that nothing is newly allowed. The
 * record's own statement proves nothing.
 */
export const publishedAloneProblem = (found: RecomputedPublication, reported: string): ActVerdict | null => {
  if ("notCompared" in found)
    return {
      verdict: "withheld",
      reason: `One person published it as ${reported}, and it was not compared: ${found.notCompared}`
    }
  const { change, isOpen, isWhole, sentence } = found
  if (isOpen)
    return {
      verdict: "withheld",
      reason:
        `One person published it as ${reported}, and that is not proved: the comparison with ` +
        "the versions before it ended with its budget."
    }
  if (change === "loosens" || change === "unknown")
    return {
      verdict: "second_person_missing",
      reason:
        `One person published it as ${reported}. Compared again with the versions before it, it is ${change}: ` +
        `${sentence.slice(0, MAX_SENTENCE)}`
    }
  return isWhole
    ? null
    : {
        verdict: "withheld",
        reason:
          `One person published it as ${reported}, and envelopes of agents that it must be ` +
          "compared with are not shown."
      }
}

/** Most characters shown of a difference between versions. Unit: characters. */
const MAX_SENTENCE = 1_000
