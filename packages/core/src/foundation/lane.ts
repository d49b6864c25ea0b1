/**
 * Admission of what takes long: each principal has a bounded number under way, and one work runs at a time. Spec:
 * api.md, "other errors" (429).
 */
import { Effect } from "effect"

/** Work of one principal under way in one lane. A person has one or two; scripts come again. */
export const MAX_PER_PRINCIPAL = 8

/** Work that waits or runs. */
interface Ticket {
  readonly principal: string
  isCalled: boolean
  call: () => void
}

/** One lane: one work runs, the others wait, and principals take turns. */
export class Lane {
  readonly #underWay = new Map<string, number>()
  #running: Ticket | null = null
  /** By principal, in the order of their next turns. No list is empty. */
  readonly #waiting = new Map<string, ReadonlyArray<Ticket>>()

  get isIdle(): boolean {
    return this.#running === null && this.#waiting.size === 0
  }

  /**
   * Does `work`, and counts it for its principal until it ends. Where the principal has {@link MAX_PER_PRINCIPAL} under
   * way, it is `full` at once.
   */
  admitted<A, E, R, F, S>(
    principal: string,
    work: Effect.Effect<A, E, R>,
    full: Effect.Effect<never, F, S>
  ): Effect.Effect<A, E | F, R | S> {
    return Effect.uninterruptibleMask((restore): Effect.Effect<A, E | F, R | S> => {
      if (!this.#admit(principal)) return full
      return Effect.onExit(restore(work), () => Effect.sync(() => this.#release(principal)))
    })
  }

  /** Does `work` when its turn comes: `callNext` calls the next one, of this lane or of others beside it. */
  inTurn<A, E, R>(
    principal: string,
    work: Effect.Effect<A, E, R>,
    callNext: () => void = () => this.callNext()
  ): Effect.Effect<A, E, R> {
    return Effect.uninterruptibleMask((restore) => {
      const ticket: Ticket = { principal, isCalled: false, call: () => undefined }
      this.#join(ticket)
      callNext()
      return Effect.onExit(restore(Effect.andThen(called(ticket), work)), () =>
        Effect.sync(() => {
          this.#leave(ticket)
          callNext()
        })
      )
    })
  }

  #admit(principal: string): boolean {
    const before = this.#underWay.get(principal) ?? 0
    if (before >= MAX_PER_PRINCIPAL) return false
    this.#underWay.set(principal, before + 1)
    return true
  }

  #release(principal: string): void {
    const left = this.#underWay.get(principal)! - 1
    if (left === 0) this.#underWay.delete(principal)
    else this.#underWay.set(principal, left)
  }

  #join(ticket: Ticket): void {
    this.#waiting.set(ticket.principal, [...(this.#waiting.get(ticket.principal) ?? []), ticket])
  }

  #leave(ticket: Ticket): void {
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

/**
 * Waits for the turn, and then for a later turn of the event loop. Work on the host's own thread begins after
 * the answer before is out, and after calls made in a row have joined.
 */
const called = (ticket: Ticket): Effect.Effect<void> =>
  Effect.andThen(
    Effect.callback<void>((resume) => {
      if (ticket.isCalled) resume(Effect.void)
      else ticket.call = () => resume(Effect.void)
    }),
    Effect.yieldNow
  )
