/**
 * A world in which nothing happens by itself: one queue of what is ready, one list of timers, one source of choices.
 *
 * Every fiber of a simulation runs on its scheduler and sleeps on its clocks. What is ready runs in an order that the
 * seed chose; when nothing is
 * ready, time moves to the next timer. Only promises are outside: after each step all that they set off has come to
 * rest.
 */
import type { Pick } from "@flyball/testkit"
import { type Clock, Duration, Effect, type Fiber, Scheduler } from "effect"
import { createHash } from "node:crypto"

interface Timer {
  readonly atMs: number
  readonly order: number
  readonly fire: () => void
  cancelled: boolean
}

/** 2026-05-01: far from zero, so that a clock that steps back stays positive. */
export const START_MS = Date.UTC(2026, 4, 1)

/** Virtual time. */
export class VirtualTime {
  /** True time of the world; hosts see it through clocks that are wrong. Unit: milliseconds since 1970. */
  nowMs = START_MS
  /** Steps taken so far. */
  steps = 0
  readonly scheduler: Scheduler.Scheduler
  /** Sees each line of the trace; null when only the digest is wanted. */
  readonly #seen: ((line: string) => void) | null
  readonly #pick: Pick
  readonly #ready: Array<{ readonly run: () => void; cancelled: boolean }> = []
  readonly #timers: Array<Timer> = []
  readonly #trace = createHash("sha256")
  #order = 0
  #outside = 0

  constructor(pick: Pick, seen: ((line: string) => void) | null = null) {
    this.#pick = pick
    this.#seen = seen
    this.scheduler = new Scheduler.MixedScheduler("async", (run) => {
      const entry = { run, cancelled: false }
      this.#ready.push(entry)
      return () => {
        entry.cancelled = true
      }
    })
  }

  /** Writes one line of the trace. */
  note(text: string): void {
    const line = `${this.nowMs - START_MS} ${text}`
    this.#trace.update(`${line}\n`)
    this.#seen?.(line)
  }

  /** SHA-256 of the trace so far. */
  get digest(): string {
    return this.#trace.copy().digest("hex")
  }

  /**
   * A clock that is wrong by `offsetMs()` at each read. Sleeping is not: timers count elapsed time, whatever a clock
   * says.
   */
  clock(offsetMs: () => number = () => 0): Clock.Clock {
    const millis = (): number => this.nowMs + offsetMs()
    const nanos = (): bigint => BigInt(millis()) * 1_000_000n
    const monotonic = (): bigint => BigInt(this.nowMs - START_MS) * 1_000_000n
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: monotonic,
      monotonicTimeNanos: Effect.sync(monotonic),
      sleep: (duration) =>
        Effect.callback<void>((resume) => {
          const cancel = this.#after(Duration.toMillis(duration), () => resume(Effect.void))
          return Effect.sync(cancel)
        })
    }
  }

  /** Says that something outside (+1) has begun or (-1) has ended: until then time does not move. */
  wait(calls: 1 | -1): void {
    this.#outside += calls
  }

  /**
   * Lets the world continue until this fiber has ended. Throws when nothing is left to happen, or after `mostSteps`.
   */
  async until(fiber: Fiber.Fiber<unknown, unknown>, mostSteps: number): Promise<void> {
    await atRest()
    while (fiber.pollUnsafe() === undefined) {
      if (this.#outside > 0 && this.#ready.length === 0) {
        await atRest()
        continue
      }
      if (++this.steps > mostSteps) throw new Error(`The simulation has not come to an end after ${mostSteps} steps.`)
      if (!this.#step())
        throw new Error("The simulation stands still: everything waits, and nothing is left to happen.")
      await atRest()
    }
  }

  #step(): boolean {
    while (this.#ready.length > 0) {
      const [entry] = this.#ready.splice(this.#pick(this.#ready.length), 1)
      if (entry!.cancelled) continue
      entry!.run()
      return true
    }
    for (let timer = this.#timers.shift(); timer !== undefined; timer = this.#timers.shift()) {
      if (timer.cancelled) continue
      this.nowMs = timer.atMs
      timer.fire()
      return true
    }
    return false
  }

  #after(ms: number, fire: () => void): () => void {
    const timer: Timer = { atMs: this.nowMs + Math.max(0, Math.ceil(ms)), order: this.#order++, fire, cancelled: false }
    let at = this.#timers.length
    while (at > 0 && this.#timers[at - 1]!.atMs > timer.atMs) at--
    this.#timers.splice(at, 0, timer)
    return () => {
      timer.cancelled = true
    }
  }
}

/** One turn of the event loop: every microtask has run before it. */
const atRest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
