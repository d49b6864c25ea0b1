/**
 * Bounds the bytes of capture that are under way, per key and over all keys, from before a body is read until it is
 * answered. What has no room waits with its body unread: the sender's own buffers hold it.
 */
import { CaptureQueueFull } from "@flyball/contract"
import { FairLine } from "@flyball/core"
import { Clock, Effect } from "effect"

/** Bounds of the admission of capture. */
export interface CaptureBounds {
  /** Bytes of bodies of one key. A request counts as half of that at most, so that two always fit. */
  readonly perKeyBytes: number
  /** Bytes of bodies of all keys. */
  readonly allBytes: number
  /** How long a request waits unread. */
  readonly waitMs: number
}

/**
 * Two batches of a thousand small decisions of a key, one that is written and one that is read; twice that over all
 * keys. More makes nothing faster, and every other request wait longer.
 */
export const captureBounds: CaptureBounds = { perKeyBytes: 900_000, allBytes: 1_800_000, waitMs: 3_000 }

/** Longest `Retry-After`. Unit: seconds. */
const MAX_RETRY_S = 30

interface Ticket {
  readonly key: string
  readonly bytes: number
  isCalled: boolean
  call: () => void
}

/** The admission of capture of one server. */
export class CaptureAdmission {
  readonly #bounds: CaptureBounds
  readonly #line = new FairLine<Ticket>()
  readonly #underWay = new Map<string, number>()
  #allUnderWay = 0
  readonly #pace = new Pace()

  constructor(bounds: CaptureBounds = captureBounds) {
    this.#bounds = bounds
  }

  /**
   * Does `work`, which reads a body of so many bytes and answers it, when there is room: keys take turns.
   *
   * - Fails: `CaptureQueueFull` where there is none within the time that a request waits.
   */
  pass<A, E, R>(
    key: string,
    bodyBytes: number,
    work: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | CaptureQueueFull, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
        const bytes = Math.min(bodyBytes, this.#bounds.perKeyBytes / 2)
        const ticket: Ticket = { key, bytes, isCalled: false, call: () => undefined }
        this.#line.add(ticket, key, bytes)
        if (this.#allUnderWay === 0) this.#pace.begins(nowMs)
        this.#callNext()
        const turn = ticket.isCalled ? Effect.void : restore(Effect.timeoutOption(called(ticket), this.#bounds.waitMs))
        const passed = Effect.flatMap(turn, (): Effect.Effect<A, E | CaptureQueueFull, R> =>
          ticket.isCalled ? restore(work) : this.#refuse(ticket)
        )
        return Effect.onExit(passed, () => Effect.map(Clock.currentTimeMillis, (endMs) => this.#leave(ticket, endMs)))
      })
    )
  }

  #refuse({ key }: Ticket): Effect.Effect<never, CaptureQueueFull> {
    const before = this.#of(key) + this.#line.sum((one) => (one.key === key ? one.bytes : 0))
    const keys = new Set([...this.#underWay.keys(), key]).size
    const seconds = Math.ceil((before * keys) / this.#pace.bytesPerS())
    return Effect.fail(new CaptureQueueFull({ retryAfterS: Math.min(MAX_RETRY_S, Math.max(1, seconds)) }))
  }

  #of(key: string): number {
    return this.#underWay.get(key) ?? 0
  }

  #callNext(): void {
    for (;;) {
      // Where the next one finds no room among all keys, those behind it wait too: else a large one would for ever.
      const next = this.#line.first(({ bytes, key }) => this.#of(key) + bytes <= this.#bounds.perKeyBytes)
      if (next === undefined || this.#allUnderWay + next.bytes > this.#bounds.allBytes) return
      this.#line.take(next)
      this.#underWay.set(next.key, this.#of(next.key) + next.bytes)
      this.#allUnderWay += next.bytes
      next.isCalled = true
      next.call()
    }
  }

  #leave(ticket: Ticket, nowMs: number): void {
    if (!ticket.isCalled) return void this.#line.remove(ticket)
    const left = this.#of(ticket.key) - ticket.bytes
    if (left > 0) this.#underWay.set(ticket.key, left)
    else this.#underWay.delete(ticket.key)
    this.#allUnderWay -= ticket.bytes
    this.#pace.ended(ticket.bytes, nowMs)
    this.#callNext()
  }
}

/** Bytes that are answered in a second while there are any under way, the last ones most. */
class Pace {
  #bytes = 0
  #ms = 0
  #sinceMs = 0

  begins(nowMs: number): void {
    this.#sinceMs = nowMs
  }

  ended(bytes: number, nowMs: number): void {
    this.#bytes = this.#bytes * 0.9 + bytes
    this.#ms = this.#ms * 0.9 + Math.max(0, nowMs - this.#sinceMs)
    this.#sinceMs = nowMs
  }

  bytesPerS(): number {
    return Math.max(1, (this.#bytes * 1_000) / Math.max(1, this.#ms))
  }
}

const called = (ticket: Ticket): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (ticket.isCalled) resume(Effect.void)
    else ticket.call = () => resume(Effect.void)
  })
