import type { Outcome } from "../../language/compiled.ts"
import type { Envelope, Obligation, Rule } from "../../language/envelope.ts"
import { listed } from "../lint/checks/words.ts"
import { renderAll } from "./condition.ts"
import { type Names, namesOf } from "./names.ts"
import { renderValue } from "./value.ts"

const verbs: Readonly<Record<Outcome, string>> = {
  allow: "Allow",
  allow_with_notice: "Allow with notice",
  require_review: "Ask for a review",
  deny: "Deny",
  halt: "Halt the agent"
}

/**
 * A rule as one English sentence, and one more for each thing it obliges to.
 *
 * "Deny when tool is wire_transfer or refund and confidence is under 50.00 %, unless amount is at most 20.00 EUR."
 * Stable: the same rule always gives the same text.
 * - Spec: decision 0022.
 */
export const ruleSentence = (rule: Rule, names: Names): string => {
  const when = rule.when.length === 0 ? "always" : `when ${renderAll(rule.when, names)}`
  const unless = rule.unless.map((exception) => `, unless ${renderAll(exception, names)}`).join("")
  const extra = [
    ...rule.obligations.map(renderObligation),
    ...(rule.noticeMs === null ? [] : [`The notice is due within ${renderValue(rule.noticeMs, "ms")}.`]),
    ...(rule.retryAfterMs === null
      ? []
      : [`The same action stays denied for ${renderValue(rule.retryAfterMs, "ms")}.`]),
    ...(rule.suggestion === null ? [] : [`Suggestion: ${rule.suggestion}`])
  ]
  return [`${verbs[rule.outcome]} ${when}${unless}.`, ...extra].join(" ")
}

/** Renders an envelope as sentences, one line per rule, and one for the default. */
export const envelopeSentences = (envelope: Envelope): string => {
  const names = namesOf(envelope)
  const lines = envelope.rules.map(
    (rule) => `${rule.id}: ${ruleSentence(rule, names)}${rule.reason === null ? "" : ` Reason: ${rule.reason}`}`
  )
  const last = envelope.otherwise === null ? [] : [`Otherwise: ${verbs[envelope.otherwise]}.`]
  return [...lines, ...last, "The most restrictive rule that holds decides.", ""].join("\n")
}

const renderObligation = (obligation: Obligation): string => {
  switch (obligation.type) {
    case "notify":
      return `Tell ${listed(obligation.to)}.`
    case "redact_fields":
      return `Redact ${listed(obligation.fields)}.`
    case "reviewers":
      return (
        `It takes ${obligation.approvals} approval${obligation.approvals === 1 ? "" : "s"} by ` +
        `${obligation.role} within ${renderValue(obligation.ttlMs, "ms")}.`
      )
    case "sample_for_eval_bp":
      return `${renderValue(obligation.bp, "bp")} are sampled for evaluation.`
    case "cooldown_ms":
      return `The next such action waits ${renderValue(obligation.ms, "ms")}.`
    case "two_person":
      return "It takes two people."
  }
}
