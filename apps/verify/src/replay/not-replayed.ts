/**
 * Members of records that replay does not check, or only in part, because no record determines them. Spec:
 * decision 0026, "Not proved".
 */
export const notReplayed: ReadonlyArray<string> = [
  "action_digest: stated by the caller. An approval counts for the same digest only. It is compared with the part " +
    "args, where that is shown and has all arguments.",
  "approval_id: where it names a review, the records of that review decide. Where it names none, or is that of a " +
    "decision, it is stated by the caller, and permits nothing.",
  "evaluation_id of a decision: stated by the caller. It is compared where the decision is settled with amounts.",
  "review_id: compared with the evaluation that opens the review, and with the approval that was presented.",
  "run_id: stated by the caller. It is compared where an evaluation depends on a latch of the run.",
  "writer: checked to be no rule, and to have written nothing before the record that creates it. What a key wrote " +
    "long after its end is withheld. Which person it was is not checked.",
  "capture: stated by the writer. Only whether its key may state mediated is checked.",
  "decision_seq of a settlement without amounts: checked to be a decision of the agent, but not which one."
]

/** The same as a list below the findings. */
export const notReplayedEntry = {
  title: "Members that replay does not check, or only in part",
  items: notReplayed
} as const
