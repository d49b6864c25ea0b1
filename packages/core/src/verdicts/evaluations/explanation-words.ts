/** Writes in words what decided an evaluation. Spec: api.md, `explain`: a reason in words always. */
import { type ExplanationOut, tierConditionWords } from "@flyball/contract"
import { decidedByFloor, floorSentence, type Outcome, type Ready, signalWords } from "@flyball/envelope"
import {
  argsOf,
  decisionOf,
  killStateOf,
  readActivations,
  readSide,
  signalsOf,
  type AutonomyTier,
  type JsonMap,
  lostCondition
} from "@flyball/rules"
import type { EvaluationRecord } from "./evaluation-out.ts"
import { tierNeeds } from "../tier-needs.ts"

/** Reserved names that say too little: which signal, which effect class, which meter. */
const reserved = /^@(invalid_signal|missing_signal|tier_floor|budget:.*)$/

/**
 * Says in words why an evaluation decided as it did: the reason of the rule, or what a reserved name leaves open. Null
 * where there is nothing more to say. `ready` is null where its envelopes are erased.
 */
export const reasonOf = (record: EvaluationRecord, ready: Ready | null): string | null => {
  const rule = String(record.body["matched_rule"])
  return reserved.test(rule)
    ? decidedWords(record, ready)
    : (ready?.rules.find(({ id }) => id === rule)?.reason ?? null)
}

/** Result of the search for a less restrictive verdict: its sentence, or the code of why there is none. */
export type Searched = { readonly nearest: string } | { readonly reason: Exclude<ExplanationOut["reason"], null> }

/**
 * Explains one evaluation: what decided it, and the result of the search. `ready` is null where its envelopes are
 * erased.
 */
export const explanationWords =
  (record: EvaluationRecord, ready: Ready | null, tierReason: string | null, approval: ExplanationOut["approval"]) =>
  (searched: Searched): string =>
    [decidedWords(record, ready), approvalWords(approval), tierReason, searchedWords(searched)]
      .filter((one) => one !== null)
      .join(" ")

const approvalWords = (approval: ExplanationOut["approval"]): string | null =>
  approval === null
    ? null
    : `It asks for a review; ${approval.review_id ?? approval.standing_approval_id}, approved by ` +
      `${approval.approved_by.join(" and ")}, let the action through.`

const searchedWords = (searched: Searched): string | null => {
  if ("nearest" in searched) return searched.nearest
  switch (searched.reason) {
    case "least_restrictive":
      return "No verdict is less restrictive."
    case "no_cell":
      return null
    case "none":
      return "No change of up to three signals or meters makes the verdict less restrictive."
    case "partial":
      return "The search for a less restrictive verdict was stopped at its limit; simpler rules can be searched whole."
    case "withheld":
      return (
        "The changes cannot be computed: an input of the evaluation was erased, or differs from the agent's " +
        "current registration."
      )
  }
}

/** Effect of each outcome, as a phrase that follows "it is". */
const done: { readonly [O in Outcome]: string } = {
  allow: "allowed",
  allow_with_notice: "allowed with notice",
  require_review: "to be reviewed",
  deny: "denied",
  halt: "denied, and the agent is to be halted"
}

const decidedWords = ({ body, parts }: EvaluationRecord, ready: Ready | null): string => {
  const side = readSide(body)
  const { matchedRule, outcome } = side
  const part = parts.get("signals")
  switch (matchedRule) {
    case "@killed":
      return killedWords(body)
    case "@suspended":
      return (
        "The agent was suspended, or due to be, so the action is denied whatever its signals are. " +
        "Activate the agent."
      )
    case "@not_active":
      return `The agent had the status ${String(body["agent_status"])}; only an active one may act. Activate the agent.`
    case "@no_envelope":
      return "No envelope was in force for the agent, so every action is denied. Publish one."
    case "@invalid_signal":
    case "@missing_signal":
      return ready === null
        ? `A signal was ${matchedRule === "@invalid_signal" ? "invalid" : "missing"}, and its envelope is gone.`
        : signalWords(
            ready.combination,
            { rule: matchedRule, signal: side.stoppedOn },
            part === undefined ? undefined : signalsOf(part),
            argsOf(parts.get("args"), body["action_digest"])
          )
    case "@default":
      return `No rule that holds decides, so the envelope's default does: the action is ${done[outcome]}.`
    default: {
      const budget = side.meters.find(({ id }) => matchedRule === `@budget:${id}`)
      if (budget !== undefined) {
        const meter = ready?.combination.meters.find(({ id }) => id === budget.id)
        const bounds = meter === undefined ? "" : ` (at most ${meter.max}, in ${meter.maxCount} actions)`
        return (
          `The meter \`${budget.id}\` stands at ${budget.value} and has no room for this action${bounds}; ` +
          "it is denied."
        )
      }
      const effect = ready === null ? null : decidedByFloor(ready, decisionOf(side))
      if (effect !== null) {
        const subject = part === undefined ? "The tool (its name was erased)" : subjectOf(signalsOf(part))
        return `${floorSentence(effect, subject, tierNeeds)} The agent acted at ${tiersOf(body).effective}.`
      }
      const reason = ready?.rules.find(({ id }) => id === matchedRule)?.reason ?? null
      return (
        `The rule \`${matchedRule}\` decides: the action is ${done[outcome]}.` +
        (reason === null ? "" : ` Its reason: ${/[.!?…]$/.test(reason) ? reason : `${reason}.`}`)
      )
    }
  }
}

const killedWords = (body: EvaluationRecord["body"]): string => {
  const { activation, effectiveResponse } = killStateOf(readActivations(body["activations"]))
  const named = activation === null ? "" : ` (${activation.id}: ${effectiveResponse})`
  return `The kill switch was on for the agent${named}, so the action is denied whatever its signals are.`
}

const subjectOf = (signals: unknown): string => {
  const tool = typeof signals === "object" && signals !== null && "tool" in signals ? signals.tool : null
  return typeof tool === "string" ? `\`${tool}\`` : "A call that names no tool"
}

/** The tiers that the body of an evaluation names: the agent's own, and the one at which it acted. */
export const tiersOf = (body: JsonMap): { readonly tier: AutonomyTier; readonly effective: AutonomyTier } => ({
  tier: String(body["tier"]) as AutonomyTier,
  effective: String(body["effective_tier"] ?? body["tier"]) as AutonomyTier
})

/**
 * Why the agent of an evaluation acted below its tier: what is missing, and for which tier, or the activation of the
 * kill switch that lowers it; both where both do. Null where it acted at its tier.
 */
export const lostWords = (body: JsonMap): string | null => {
  const { effective, tier } = tiersOf(body)
  if (effective >= tier) return null
  const { activation, effectiveResponse } = killStateOf(readActivations(body["activations"]))
  const stepped = effectiveResponse === "step_down" ? activation : null
  const before = stepped === null ? effective : (`L${Number(effective.slice(1)) + 1}` as AutonomyTier)
  const lost = lostCondition(tier, before)
  return [
    ...(lost === null ? [] : [`${lost.tier} needs ${tierConditionWords[lost.condition] ?? lost.condition}`]),
    ...(stepped === null ? [] : [`the kill switch lowers it by one (${stepped.id})`])
  ].join(", and ")
}

/** The reason of a lower effective tier, as a sentence. */
export const tierReason = (body: JsonMap): string | null => {
  const { effective, tier } = tiersOf(body)
  const words = lostWords(body)
  return words === null ? null : `The agent is registered at ${tier} and acts at ${effective}: ${words}.`
}
