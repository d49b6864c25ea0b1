/** A replay in plain sentences. */
import type { RecomputeVerdict } from "@flyball/rules"
import { countedVerdicts, listed } from "./counted.ts"
import { actEntries } from "./four-eyes-report.ts"
import { type ListedEvaluation, mismatchCount, type ReplayReport } from "./replay-report.ts"

/** One sentence per verdict. */
export const replayText: { readonly [verdict in RecomputeVerdict]: string } = {
  ok: "It follows from its rules.",
  envelope_unknown: "It names an envelope that was not published as it says.",
  envelope_not_in_force: "It was not decided under what was in force.",
  signal_invalid: "Its signals were taken for right where they are wrong, or the other way round.",
  tier_mismatch: "The agent had another tier or status.",
  meter_mismatch: "A meter held something else.",
  rule_mismatch: "Another rule decides.",
  outcome_mismatch: "The outcome is another one.",
  trace_mismatch: "The trace of the decision is wrong.",
  advice_mismatch: "What it asks of the agent does not follow from it.",
  id_mismatch: "Its id is not the one that derives from the request.",
  made_twice: "The same was evaluated twice.",
  ended_twice: "It ends what had ended.",
  reference_mismatch: "It names another record than it should.",
  review_mismatch: "Its review does not follow from the records before it.",
  approval_reused: "The approval had been consumed before.",
  self_approved: "Who answered it is its requester, an author of its envelope, answered before or is no person.",
  approved_other_action: "The approval is that of another action.",
  expired_approval: "The review was over when it was approved, or presented.",
  killed_but_allowed: "It was not denied, although the kill switch was on for its agent.",
  activation_mismatch: "Other activations of the kill switch reached its agent.",
  release_not_allowed: "Its writer may not release that halt.",
  standing_approval_mismatch: "A standing approval does not approve it, or an act on one was not allowed.",
  standing_approval_too_wide: "The box of the standing approval is wider than the review that it is made from.",
  local_verdict_mismatch: "The verdict of the agent's SDK does not follow from what it had read.",
  local_verdict_not_allowed: "The agent's SDK must not decide that alone.",
  drill_result_mismatch: "The drill measured something else, or its starter attests it.",
  writer_mismatch: "Who wrote it could not have written it.",
  breaker_value_mismatch: "The breaker comes to something else.",
  trip_missing: "A breaker had to trip before.",
  as_recorded: "It follows from its rules, given what its own record tells.",
  withheld: "It could not be made again."
}

/** How many evaluations there are, by verdict. */
export const replayCounts = ({ evaluations, local_verdicts: local, verdicts }: ReplayReport): string => {
  const alone = local === 0 ? "" : ` ${local} of them by the agent's SDK alone.`
  return evaluations === 0 ? "none." : `${evaluations} made again: ${countedVerdicts(replayText, verdicts)}.${alone}`
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
            title: `Evaluations that do not follow from their rules: ${wrong}${listed(replay.mismatches, wrong)}`,
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
              `Records ${replay.late.seqs.join(", ")}: more than ${replay.late.beyond_ms / 60_000} minutes lie ` +
                "between the time that the evaluation names and that of its record."
            ]
          }
        ]),
    ...(open === 0
      ? []
      : [
          {
            title:
              "Evaluations that could not be made " +
              `again${recorded === 0 ? "" : ", or not out of the records before them"}: ` +
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
