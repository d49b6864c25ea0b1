/** Explains a recorded evaluation: the changes that would have led to a less restrictive outcome. */
import type { ExplanationOut } from "@flyball/contract"
import type { StoredAgent } from "../../registry/agents/document.ts"
import { decide, explain, outcomes, type Ready, type Values } from "@flyball/envelope"
import type { EvaluationRecord } from "./evaluation-out.ts"
import { tierReason, tiersOf, explanationWords } from "./explanation-words.ts"
import { argsOf, readSide, serverSignals, signalsOf } from "@flyball/rules"

/**
 * Explains an evaluation. Its point is found again from its signals, its tier and its meters as recorded, and from what
 * the registry says of the agent today.
 *
 * `reason`: `least_restrictive`: it was allowed; `no_cell`: it ended before any rule was checked, or a meter was full;
 * `withheld`: an input is missing or has changed, so the same verdict cannot be found again; `none` and `partial`: no
 * change of up to three things helps, or the search was given up. `sentence` says each in words.
 */
export const explainEvaluation = (
  record: EvaluationRecord,
  ready: Ready | null,
  agent: StoredAgent,
  latches: ReadonlySet<string>,
  approval: ExplanationOut["approval"] = null,
  document: Values = {}
): ExplanationOut => {
  const { body, parts } = record
  const side = readSide(body)
  const { effective } = tiersOf(body)
  const base = {
    effective_tier: effective,
    tier_reason: tierReason(body),
    approval,
    evaluation_id: String(body["evaluation_id"]),
    outcome: side.outcome,
    matched_rule: side.matchedRule
  }
  const sentenceOf = explanationWords(record, ready, base.tier_reason, approval)
  const without = (
    reason: Exclude<ExplanationOut["reason"], null>,
    ruleReason: string | null = null
  ): ExplanationOut => ({
    ...base,
    rule_reason: ruleReason,
    nearest: null,
    reason,
    sentence: sentenceOf({ reason })
  })
  const ruleReason = ready?.rules.find(({ id }) => id === side.matchedRule)?.reason ?? null
  if (side.outcome === outcomes[0]) return without("least_restrictive", ruleReason)
  if (side.trace.length === 0 || side.matchedRule.startsWith("@budget:")) return without("no_cell")
  const signals = parts.get("signals")
  if (ready === null || signals === undefined) return without("withheld")
  const decision = decide(
    ready,
    {
      signals: signalsOf(signals),
      args: argsOf(parts.get("args"), body["action_digest"]),
      runId: typeof body["run_id"] === "string" ? body["run_id"] : null
    },
    {
      kill: "none",
      agent: { id: agent.id, orgUnit: agent.body.orgUnit ?? "", isActive: true },
      server: { ...serverSignals({ ...agent.body, autonomyTier: effective, status: "active" }), ...document },
      latches,
      windows: (meter) => ({ value: side.meters.find(({ id }) => id === meter.id)?.value ?? 0, count: 0 }),
      approved: false
    }
  )
  if (decision.matchedRule !== side.matchedRule || decision.failedOn.join() !== side.trace.join())
    return without("withheld", ruleReason)
  const found = explain(ready.combination, ready.table, ready.point)
  if (found.found === null) return without(found.reason, ruleReason)
  const { changes, held, outcome } = found.found
  // The other elements of a list may come out as before.
  const ofOne = ready.decoder.rows.length > 1 ? " That is of one element of the list, the first that decides." : ""
  const sentence = `${found.found.sentence}${ofOne}`
  return {
    ...base,
    rule_reason: ruleReason,
    nearest: {
      outcome,
      held,
      sentence,
      changes: changes.map(({ axis, from, origin, to }) => ({
        signal: axis,
        source: origin,
        from,
        to,
        interval: typeof from === "number" && typeof to === "number" ? { at_least: from, at_most: to } : null
      }))
    },
    reason: null,
    sentence: sentenceOf({ nearest: sentence })
  }
}
