import type { Inspection } from "../inspection.ts"
import { changesWithout, obligesAlone } from "./changes-without.ts"

/**
 * W202: a rule that decides somewhere, and without which every outcome and obligation would be the same. One that
 * decides nowhere is E102 or E107.
 */
export const checkRedundant = (inspection: Inspection): void => {
  const { findings, held, idOf, open, ownRules, say } = inspection
  const dead = new Set(findings.filter(({ code }) => code === "E102" || code === "E107").map(({ rules }) => rules[0]))
  for (const rule of ownRules) {
    if (dead.has(idOf(rule))) continue
    const before = open.length
    if (changesWithout(inspection, rule, "W202") || obligesAlone(inspection, rule, "W202")) continue
    if (open.length > before) continue
    say(
      "W202",
      [rule],
      `Without the rule ${idOf(rule)} every outcome and obligation would be the same. Remove it, or keep it for its ` +
        "words.",
      { example: held(rule) }
    )
  }
}
