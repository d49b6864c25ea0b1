/** Which effect class the tier floor decided by. */
import { HOLDS } from "../compile/table.ts"
import { type EffectClass, effectClasses } from "../language/envelope.ts"
import { TIER_FLOOR } from "../language/tier-floor.ts"
import type { Ready } from "./decide.ts"
import type { Decision } from "./decision.ts"

/**
 * The effect class if the tier floor decided; null if a rule, a meter or an earlier step did. Spec: `envelope/1`
 * section 10.
 */
export const decidedByFloor = (
  { floorCount, rules }: Ready,
  { failedOn, matchedRule }: Pick<Decision, "failedOn" | "matchedRule">
): EffectClass | null => {
  if (matchedRule !== TIER_FLOOR) return null
  // A tool has one class and an agent one tier, so one rule of the floor holds at most.
  const place = rules.slice(0, floorCount).findIndex((_, i) => failedOn[i] === HOLDS)
  const [, name] = rules[place]?.id.split(":") ?? []
  return effectClasses.find((effect) => effect === name) ?? null
}
