/** The port that answers questions about envelopes and behaviour. */
import { Context, Effect } from "effect"
import { inSlices } from "../../../foundation/in-slices.ts"
import { answerInSlices } from "./answer.ts"
import { type Answers, inPlaceLimits, type Kind, type Questions } from "./questions.ts"

/** Answers questions about envelopes and behaviour. Spec: decisions 0029 and 0073. */
export interface ExaminerApi {
  /**
   * Answers one question. It asks nothing of a store and changes nothing. Of one governor at most two about envelopes
   * run at a time: a publication, and one of the others that began before it.
   *
   * - Fails: never. A question that nobody could answer is a defect.
   */
  readonly ask: <K extends Kind>(kind: K, about: Questions[K]) => Effect.Effect<Answers[K]>
}

/**
 * Port of the examiner. Default: the host's own thread, within a budget that keeps the time short; on Node
 * `@flyball/node` has a separate thread.
 *
 * - Spec: decision 0029.
 */
export const Examiner = Context.Reference<ExaminerApi>("flyball/core/Examiner", {
  defaultValue: () => ({
    ask: (kind, about) => Effect.suspend(() => inSlices(answerInSlices({ kind, about }, inPlaceLimits)))
  })
})
