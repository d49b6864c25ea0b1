/** The result of recomputing an answer, and its line in a report. */

/** The result. `differs`: the first member that is another; null where all are the same. */
export interface AnswerReport {
  readonly agent_id: string
  readonly as_of_seq: number
  readonly differs: string | null
}

/** The line beside the contents. */
export const answerText = ({ agent_id: agentId, as_of_seq: asOf, differs }: AnswerReport): string =>
  differs === null
    ? `the change of ${agentId} as of record ${asOf}, recomputed: the same.`
    : `the change of ${agentId} as of record ${asOf}, recomputed: another at ${differs === "" ? "its root" : differs}.`
