/**
 * The queue before the examiner: who may ask, and in which order. Spec: api.md, "other errors" (429); decision 0029.
 *
 * A principal has a bounded number of examinations under way, from the first read to the last write. One at a time in
 * each lane is with the examiner, and principals take turns. Publications go first: they have a lane of their own, and
 * no
 * other question begins while one waits or runs. The store is neither read nor written during a turn, so a call that it
 * does not answer holds up no other.
 */
import { ExaminationQueueFull } from "@flyball/contract"
import { Effect } from "effect"
import { Lane, MAX_PER_PRINCIPAL } from "../../../foundation/lane.ts"
import { counterBy } from "../../../foundation/metrics.ts"

const refusals = counterBy(
  "flyball_examination_refusals_total",
  "Examinations of envelopes refused because the principal had as many under way as it may, by lane.",
  "lane",
  ["publish", "question"]
)

/** `publish` for publications; `question` for lint, diff and backtest, which change nothing. */
export type LaneName = "publish" | "question"

/** Runs a question to the examiner when its turn comes. */
export type InTurn = <A, E, R>(question: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The queue of one governor. */
export class ExaminerQueue {
  readonly #lanes: { readonly [name in LaneName]: Lane } = { publish: new Lane(), question: new Lane() }

  /**
   * Does `work`, which asks the examiner through `inTurn`. A caller that is interrupted leaves the queue.
   *
   * - Fails: `ExaminationQueueFull` at once, when the principal has {@link MAX_PER_PRINCIPAL} under way in this lane.
   */
  admit<A, E, R>(
    name: LaneName,
    principal: string,
    work: (inTurn: InTurn) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | ExaminationQueueFull, R> {
    const lane = this.#lanes[name]
    return lane.admitted(
      principal,
      Effect.suspend(() => work((question) => lane.inTurn(principal, question, () => this.#callNext()))),
      Effect.andThen(
        refusals[name].one,
        Effect.suspend(() => Effect.fail(new ExaminationQueueFull({ limit: MAX_PER_PRINCIPAL })))
      )
    )
  }

  #callNext(): void {
    this.#lanes.publish.callNext()
    if (this.#lanes.publish.isIdle) this.#lanes.question.callNext()
  }
}
