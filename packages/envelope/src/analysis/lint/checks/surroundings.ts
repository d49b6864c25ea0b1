import { GUARDED_TIER } from "../facts.ts"
import type { Inspection } from "../inspection.ts"
import { listed } from "./words.ts"

/**
 * E108, W210, W211, W212: faults not in the rules but between them and their surroundings. Each is checked only where
 * the fact is known.
 */
export const checkSurroundings = (inspection: Inspection): void => {
  checkReviewers(inspection)
  checkReviewLoad(inspection)
  checkTools(inspection)
  checkSafety(inspection)
}

/**
 * E108: too few approvals required, a role that nobody can have, or one that only the owner has where two people beside
 * the owner are needed.
 */
const checkReviewers = ({ facts, held, model, notChecked, own, say }: Inspection): void => {
  const { envelope, reviewers } = facts
  if (envelope === undefined || reviewers === undefined) {
    notChecked.push({
      code: "E108",
      rules: [],
      reason: envelope === undefined ? "The obligations of the rules were not given." : "Who can review was not given."
    })
    return
  }
  const { grantable, othersUnknown = false, ownerOnly } = reviewers
  for (const { id, obligations, outcome } of envelope.rules) {
    const rule = model.compiled.rules.findIndex((one) => one.id === id && one.layer === own)
    const needsTwo = obligations.some(({ type }) => type === "two_person")
    const isOwners = grantable !== "any" && grantable.size > 0 && [...grantable].every((role) => ownerOnly.has(role))
    if (outcome === "require_review" && needsTwo && isOwners && rule !== -1)
      say(
        "E108",
        [rule],
        `The rule ${id} asks for two people, and only the agent's owner can answer reviews. ` +
          "Nobody could ever approve; grant a role to somebody else.",
        { example: held(rule) }
      )
    for (const obligation of obligations) {
      if (obligation.type !== "reviewers" || rule === -1) continue
      const { approvals, role } = obligation
      const canHave = grantable === "any" || grantable.has(role)
      const problem =
        approvals < 1
          ? `asks for ${approvals} approvals, which is no review. Ask for one at least`
          : !canHave && !othersUnknown
            ? `asks for reviewers with the role ${role}, which nobody can have. Nobody could ever approve; name ` +
              `${listed([...grantable], "or")}`
            : needsTwo && !isOwners && ownerOnly.has(role)
              ? `asks for two people and for the role ${role}, which only the agent's owner has. Nobody could ever ` +
                "approve; name another role or grant it to somebody"
              : null
      if (problem !== null) say("E108", [rule], `The rule ${id} ${problem}.`, { example: held(rule) })
      else if (!canHave)
        notChecked.push({
          code: "E108",
          rules: [id],
          reason: `Whether anybody has the role ${role} is for the host to say, which gives people their roles.`
        })
    }
  }
}

/** W210: more reviews a day than the queue takes. */
const checkReviewLoad = ({ facts: { reviewLoad }, notChecked, say }: Inspection): void => {
  if (reviewLoad === undefined)
    notChecked.push({ code: "W210", rules: [], reason: "No backtest and no capacity of the review queue were given." })
  else if (reviewLoad.perDay > reviewLoad.capacityPerDay) {
    say(
      "W210",
      [],
      `By the backtest ${reviewLoad.perDay} reviews a day are to be expected; the reviewers handle ` +
        `${reviewLoad.capacityPerDay}. Reviews would expire, which denies. Narrow the rules or find more ` +
        "reviewers."
    )
  }
}

/** W211: tools that were seen and are not among the values of `tool`: each call of them is denied. */
const checkTools = ({ facts: { toolsSeen }, model, notChecked, say }: Inspection): void => {
  const tool = model.compiled.axes.find(({ kind, name }) => name === "tool" && kind === "enum")
  if (toolsSeen === undefined || tool === undefined) {
    notChecked.push({
      code: "W211",
      rules: [],
      reason:
        tool === undefined ? "The envelope has no enum signal named tool." : "Which tools were seen was not given."
    })
    return
  }
  const unknown = [...new Set(toolsSeen)].filter((name) => !tool.values!.includes(name)).sort()
  if (unknown.length > 0)
    say(
      "W211",
      [],
      `${listed(unknown)} ${unknown.length === 1 ? "was" : "were"} seen and the signal tool does not have ` +
        `${unknown.length === 1 ? "it" : "them"}: every call is denied as invalid. Add ` +
        `${unknown.length === 1 ? "it" : "them"}, or leave it so on purpose.`,
      { input: { tool: unknown[0]! } }
    )
}

/** W212: agents from tier 3 on without an armed breaker, or without a drill that counts. */
const checkSafety = ({ facts: { safety }, notChecked, say }: Inspection): void => {
  if (safety === undefined) {
    notChecked.push({ code: "W212", rules: [], reason: "What guards the agents concerned was not given." })
    return
  }
  const missing = [
    [safety.withoutBreaker, "no armed breaker"],
    [safety.withoutDrill, "no attested drill that counts"]
  ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${count === 1 ? "has" : "have"} ${what}`]))
  if (missing.length > 0)
    say(
      "W212",
      [],
      `Of the agents concerned at tier ${GUARDED_TIER} or above ${missing.join(", and ")}. Arm a breaker, run a ` +
        "drill and have it attested, or lower the tier."
    )
}
