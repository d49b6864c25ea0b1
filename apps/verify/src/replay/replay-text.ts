/** A replay in plain sentences. */
import type { RecomputeVerdict } from "@flyball/rules"
import { countedVerdicts, listed } from "./counted.ts"
import { actEntries } from "./four-eyes-report.ts"
import { type ListedEvaluation, mismatchCount, type ReplayReport } from "./replay-report.ts"

/** One sentence per verdict. */
export const replayText: { readonly [verdict in RecomputeVerdict]: string } = {
  ok: "It follows from its rules.",
  envelope_unknown: "It names an envelope version that was not published with this content.",
  envelope_not_in_force: "It was not decided under the envelopes in force.",
  signal_invalid: "It accepted invalid signals, or rejected valid ones.",
  tier_mismatch: "The agent had a different tier or status.",
  meter_mismatch: "A meter had a different value.",
  rule_mismatch: "Another rule decides.",
  outcome_mismatch: "The outcome is different.",
  trace_mismatch: "The trace of the decision is wrong.",
  advice_mismatch: "Its obligations do not follow from its rules.",
  id_mismatch: "Its id is not the one that derives from the request.",
  made_twice: "The same request was evaluated twice.",
  ended_twice: "It ends something that had already ended.",
  reference_mismatch: "It names the wrong record.",
  review_mismatch: "Its review does not follow from the records before it.",
  approval_reused: "The approval was already used.",
  self_approved: "Its reviewer is its requester, an author of its envelope, had already answered, or is not a person.",
  approved_other_action: "The approval is for another action.",
  expired_approval: "The review was over when it was approved, or presented.",
  killed_but_allowed: "It was not denied, although the kill switch was on for its agent.",
  activation_mismatch: "Other activations of the kill switch reached its agent.",
  release_not_allowed: "Its writer may not release that halt.",
  acknowledgement_mismatch: "The instance could not have reported this about that stop, or could not be missing.",
  standing_approval_mismatch: "A standing approval does not approve it, or an act on one was not allowed.",
  standing_approval_too_wide: "The box of the standing approval is wider than the review that it is made from.",
  local_verdict_mismatch: "The verdict of the agent's SDK does not follow from the envelopes that it had read.",
  local_verdict_not_allowed: "The agent's SDK may not decide this alone.",
  drill_result_mismatch: "The drill's measurements differ, or its starter attested it.",
  time_mismatch: "It says a time that was not, or not yet.",
  rules_mismatch: "It names other rules than those that decide.",
  part_mismatch: "Its part holds another number of things than it says.",
  not_judged: "A rule failed on it.",
  drift_mismatch: "The alarm does not follow from the agent's decisions.",
  eval_mismatch: "Counts or comparison do not follow from the cases.",
  manifest_mismatch: "The list of tools, its digests or its finding differ.",
  fairness_mismatch: "Counts or verdict do not follow from the decisions of the window.",
  gateway_mismatch: "Its cost or its verdict differs.",
  execution_mismatch: "It does not follow from the definition and the answers before it.",
  route_mismatch: "A plan of routes, its totals or its digests do not follow from its problem and search.",
  analysis_mismatch: "Counts, p-values or verdicts do not follow from the data set.",
  positions_mismatch: "The hour, the count or the revision of positions cannot be.",
  extraction_mismatch: "Fields or facts do not follow from the document, or it was read without leave.",
  alert_mismatch: "It does not follow from the monitor, its counts and the alert before it.",
  response_mismatch: "It does not follow from the response policy.",
  writer_mismatch: "Its writer may not write it, or did not exist yet.",
  breaker_value_mismatch: "The breaker's reading differs.",
  trip_missing: "A breaker should have tripped before.",
  as_recorded: "It follows from its rules, given the facts that its own record states.",
  withheld: "It could not be recomputed."
}

/** How many judged records there are, by verdict. */
export const replayCounts = ({ evaluations, local_verdicts: local, verdicts }: ReplayReport): string => {
  const alone = local === 0 ? "" : ` ${local} of them by the agent's SDK alone.`
  return evaluations === 0 ? "none." : `${evaluations} recomputed: ${countedVerdicts(replayText, verdicts)}.${alone}`
}

/** The lists below the findings. */
export const replayEntries = (
  replay: ReplayReport
): ReadonlyArray<{ readonly title: string; readonly items: ReadonlyArray<string> }> => {
  const wrong = mismatchCount(replay)
  const recorded = replay.verdicts.as_recorded ?? 0
  const open = (replay.verdicts.withheld ?? 0) + recorded
  return [
    ...(wrong === 0
      ? []
      : [
          {
            title: `Judged records that do not follow from their rules: ${wrong}${listed(replay.mismatches, wrong)}`,
            items: replay.mismatches.map(item)
          }
        ]),
    ...(replay.late.count === 0
      ? []
      : [
          {
            title:
              "Evaluations made long before they were recorded: " +
              `${replay.late.count}${listed(replay.late.seqs, replay.late.count)}`,
            items: [
              `Records ${replay.late.seqs.join(", ")}: the evaluation's time is more than ` +
                `${replay.late.beyond_ms / 60_000} minutes before that of its record.`
            ]
          }
        ]),
    ...(open === 0
      ? []
      : [
          {
            title:
              `Judged records that could not be ` +
              `recomputed${recorded === 0 ? "" : ", or not from the records before them"}: ` +
              `${open}${listed(replay.withheld, open)}`,
            items: replay.withheld.map(item)
          }
        ]),
    ...actEntries(replay.four_eyes)
  ]
}

const item = ({ agent_id, evaluation_id, reason, seq, verdict }: ListedEvaluation): string =>
  `Record ${seq}: ${replayText[verdict]} ${reason} (${verdict}${whose(evaluation_id, agent_id)})`

/** Records that are no evaluations name none, and those of keys and people no agent. */
const whose = (evaluationId: string, agentId: string): string =>
  agentId === "" ? "" : evaluationId === "" ? `, of ${agentId}` : `, ${evaluationId} of ${agentId}`
