/** The tier floor in words. Spec: `SPEC.md` section 10. */
import type { Outcome } from "./compiled.ts"
import type { EffectClass } from "./envelope.ts"
import { tierFloorTable } from "./tier-floor.ts"

/**
 * Conditions, in words, for an agent to act at each tier, L0 to L4; a tier also needs the conditions of the tiers below
 * it. The host of the language provides them: the language has no identities and no drills.
 */
export type TierNeeds = ReadonlyArray<ReadonlyArray<string>>

/** Words for the outcomes of the floor; both outcomes that let the action through need nobody else. */
const words: { readonly [O in Outcome]: string } = {
  allow: "alone",
  allow_with_notice: "alone",
  require_review: "reviewed",
  deny: "denied",
  halt: "denied"
}

/**
 * Describes in one sentence how the floor treats a tool of a class at each tier: "`refund` is `money`: at L0 it is
 * denied, from L1 reviewed, alone from L3 with a verified identity."
 *
 * `subject` is what has the class, as the sentence begins with it. Spec: `envelope/1` section 10.
 */
export const floorSentence = (effect: EffectClass, subject: string, needs: TierNeeds = []): string => {
  const row = tierFloorTable[effect]
  const steps = row.flatMap((outcome, tier) => {
    const said = words[outcome]
    if (tier > 0 && said === words[row[tier - 1]!]) return []
    if (tier === 0) {
      const last = row.findLastIndex((other) => words[other] === said)
      return [
        said === "alone" ? "it runs alone at every tier" : `at ${last === 0 ? "L0" : `L0 to L${last}`} it is ${said}`
      ]
    }
    if (said !== "alone") return [`from L${tier} ${said}`]
    const needed = needs.slice(0, tier + 1).flat()
    return [`alone from L${tier}${needed.length === 0 ? "" : ` with ${needed.join(" and ")}`}`]
  })
  return `${subject} is \`${effect}\`: ${steps.join(", ")}.`
}
