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
import { counterBy } from "../../../foundation/metrics.ts"

const refusals = counterBy(
  "flyball_examination_refusals_total",
  "Examinations of envelopes refused because the principal had as many under way as it may, by lane.",
  "lane",
  ["publish", "question"]
)

/** Examinations of one principal under way in one lane. A person has one or two; scripts come again. */
export const MAX_PER_PRINCIPAL = 8

/** `publish` for publications; `question` for lint, diff and backtest, which change nothing. */
export type LaneName = "publish" | "question"

/** Runs a question to the examiner when its turn comes. */
export type InTurn = <A, E, R>(question: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A question that waits or runs. */
interface Ticket {
  readonly principal: string
  isCalled: boolean
  call: () => void
}

/** One lane: one question runs, the others wait. */
class Lane {
  readonly #underWay = new Map<string, number>()
  #running: Ticket | null = null
  /** By principal, in the order of their next turns. No list is empty. */
  readonly #waiting = new Map<string, ReadonlyArray<Ticket>>()

  get isIdle(): boolean {
    return this.#running === null && this.#waiting.size === 0
  }

  /** Counts one more of a principal; false where it has as many as it may. */
  admit(principal: string): boolean {
    const before = this.#underWay.get(principal) ?? 0
    if (before >= MAX_PER_PRINCIPAL) return false
    this.#underWay.set(principal, before + 1)
    return true
  }

  release(principal: string): void {
    const left = this.#underWay.get(principal)! - 1
    if (left === 0) this.#underWay.delete(principal)
    else this.#underWay.set(principal, left)
  }

  join(ticket: Ticket): void {
    this.#waiting.set(ticket.principal, [...(this.#waiting.get(ticket.principal) ?? []), ticket])
  }

  leave(ticket: Ticket): void {
    if (this.#running === ticket) {
      this.#running = null
      return
    }
    const left = (this.#waiting.get(ticket.principal) ?? []).filter((one) => one !== ticket)
    if (left.length === 0) this.#waiting.delete(ticket.principal)
    else this.#waiting.set(ticket.principal, left)
  }

  /** Calls the next one where none runs. Its principal goes to the end. */
  callNext(): void {
    if (this.#running !== null) return
    for (const [principal, [first, ...others]] of this.#waiting) {
      this.#waiting.delete(principal)
      if (others.length > 0) this.#waiting.set(principal, others)
      this.#running = first!
      first!.isCalled = true
      first!.call()
      return
    }
  }
}

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
    return Effect.uninterruptibleMask((restore): Effect.Effect<A, E | ExaminationQueueFull, R> => {
      if (!lane.admit(principal))
        return Effect.andThen(refusals[name].one, Effect.fail(new ExaminationQueueFull({ limit: MAX_PER_PRINCIPAL })))
      const admitted = work((question) => this.#inTurn(lane, principal, question))
      return Effect.onExit(restore(admitted), () => Effect.sync(() => lane.release(principal)))
    })
  }

  #inTurn<A, E, R>(lane: Lane, principal: string, question: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.uninterruptibleMask((restore) => {
      const ticket: Ticket = { principal, isCalled: false, call: () => undefined }
      lane.join(ticket)
      this.#callNext()
      return Effect.onExit(restore(Effect.andThen(called(ticket), question)), () =>
        Effect.sync(() => {
          lane.leave(ticket)
          this.#callNext()
        })
      )
    })
  }

  #callNext(): void {
    this.#lanes.publish.callNext()
    if (this.#lanes.publish.isIdle) this.#lanes.question.callNext()
  }
}

/**
 * Waits for the turn, and then for a later turn of the event loop. An examiner on the host's own thread begins after
 * the answer before is out, and after calls made in a row have joined: a publication among them is not last.
 */
const called = (ticket: Ticket): Effect.Effect<void> =>
  Effect.andThen(
    Effect.callback<void>((resume) => {
      if (ticket.isCalled) resume(Effect.void)
      else ticket.call = () => resume(Effect.void)
    }),
    Effect.yieldNow
  )
