import type { Inspection } from "../inspection.ts"

/** Share of history that one rule may decide before it is reported, in basis points. */
const DOMINANT_BP = 9_500

/**
 * W205 and W206: one rule decides more than 95 % of recorded inputs; a rule held for none of them. The examples: the
 * first of those inputs, and one for which it would hold.
 */
export const checkHistory = ({ facts, held, history, idOf, model, notChecked, ownRules, say }: Inspection): void => {
  if (history === null || facts.history === undefined || history.total === 0) {
    const reason =
      history === null
        ? "No recorded evaluations were given."
        : "None of the recorded evaluations has all signals of this envelope."
    for (const code of ["W205", "W206"] as const) notChecked.push({ code, rules: [], reason })
    return
  }
  const { days } = facts.history
  history.decided.forEach((count, rule) => {
    if (count * 10_000 <= history.total * DOMINANT_BP) return
    say(
      "W205",
      [rule],
      `The rule ${model.compiled.rules[rule]!.id} decides ${count} of ${history.total} recorded evaluations. A ` +
        "rule that decides nearly everything often says less than it seems to.",
      { example: history.firstDecided[rule]!, historyCount: count }
    )
  })
  for (const rule of ownRules) {
    if (history.held[rule] === 0)
      say(
        "W206",
        [rule],
        `The rule ${idOf(rule)} held for none of the ${history.total} evaluations of the last ${days} days. It ` +
          "may be right all the same; see that its conditions are what was meant.",
        { example: held(rule), historyCount: 0 }
      )
  }
}
