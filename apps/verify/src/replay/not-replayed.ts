/**
 * Members of records that replay does not check, or only in part, since no record says what they should be. Spec:
 * decision 0026, "Not proved".
 */
export const notReplayed: ReadonlyArray<string> = [
  "action_digest: what a caller says. An approval counts for the same one alone. It is compared with the part args, " +
    "where that is shown and holds all arguments.",
  "approval_id: where it names a review, what the records before say of that decides. Where it names none, or is " +
    "that of a decision, it is what a caller says, and excuses nothing.",
  "evaluation_id of a decision: what a caller says. It is compared where the decision is settled with amounts.",
  "review_id: compared with the evaluation that opens the review, and with the approval that was presented.",
  "run_id: what a caller says. It is compared where an evaluation rests on a latch of the run.",
  "writer: that it is no rule, and wrote nothing before the record that gives it its name, is checked. Whether " +
    "a key was open then, or which person it was, is not.",
  "capture: what a writer claims of how it captured a decision. Only that a key may say mediated is checked.",
  "decision_seq of a settlement without amounts: that it is a decision of the agent is checked, and not which one."
]

/** The same as a list below the findings. */
export const notReplayedEntry = { title: "Members that replay does not check, or in part", items: notReplayed } as const
