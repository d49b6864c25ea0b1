/**
 * Permits for calls in flight, of one process over the rows of a store.
 *
 * A process states how many of its calls run, for each subject, and every process sees the sum. What it states lapses
 * 15 seconds after it was last heard of, so that the permits of a dead process come back.
 */
import { toHex } from "@flyball/evidence"
import { Clock, Context, Effect, Exit, Fiber, Layer } from "effect"
import { Entropy } from "../foundation/entropy.ts"
import { HOLDER_LAPSES_MS } from "../storage/limits/slots.ts"
import { type ReadFault, Storage } from "../storage/port.ts"

/** A permit, or how many calls of the subject run in all processes. */
export type Permit =
  | { readonly held: true; readonly release: Effect.Effect<void> }
  | { readonly held: false; readonly inFlight: number }

/** Permits by subject. */
export interface PermitsApi {
  /**
   * Takes a permit for one call, where fewer than `limit` of the subject run. Call `release` once the call has ended,
   * however it ended; more often does nothing. Use it to acquire, as in `Effect.acquireUseRelease`.
   */
  readonly hold: (subject: string, limit: number) => Effect.Effect<Permit, ReadFault>
}

/** The store hears that a call has ended this much later: the next call often comes before. Unit: milliseconds. */
const LOWER_MS = 20
/** How often a process states what runs, while something does. Unit: milliseconds. */
const STATE_MS = HOLDER_LAPSES_MS / 3
/** Pause after a statement that failed. Unit: milliseconds. */
const RETRY_MS = 1_000

/**
 * Permits for at most so many calls at once, in all processes together.
 *
 * ```ts
 * const program = Effect.gen(function* () {
 *   const permits = yield* Permits
 *   const first = yield* permits.hold("key_1", 1)
 *   console.log(first.held)
 *   console.log((yield* permits.hold("key_1", 1)).held)
 *   if (first.held) yield* first.release
 *   console.log((yield* permits.hold("key_1", 1)).held)
 * })
 * await Effect.runPromise(Effect.provide(program, Permits.layer.pipe(Layer.provide(layerOf(memoryStorage())))))
 * // prints: true false true
 * ```
 *
 * A process that stood still for longer than 15 seconds keeps the calls that it runs, though others may have taken
 * their place.
 *
 * Spec: document 2 part 8; platform section 3.
 */
export class Permits extends Context.Service<Permits, PermitsApi>()("flyball/core/Permits") {
  static readonly layer: Layer.Layer<Permits, never, Storage> = Layer.effect(
    Permits,
    Effect.suspend(() => makePermits)
  )
}

interface Waiter {
  readonly limit: number
  readonly resume: (exit: Exit.Exit<Permit, ReadFault>) => void
}

/** Calls of one subject in this process. */
class Calls {
  readonly waiting: Set<Waiter> = new Set()
  running = 0
  /** At least so many the store has of this process, stated at this time. Unit: milliseconds of the monotonic clock. */
  stated = 0
  statedMs = Number.NEGATIVE_INFINITY
  /** True when the last statement failed: the store may have more. */
  isDue = false
  isKept = false
  /** Ends the pause before the next statement. */
  wake: () => void = () => {}
  /** True when a release ends it. */
  heedsRelease = false
}

const makePermits = Effect.gen(function* () {
  const { limits } = yield* Storage
  const clock = yield* Clock.Clock
  const services = yield* Effect.context<never>()
  const holder = toHex((yield* Entropy).bytes(8))
  const subjects = new Map<string, Calls>()
  const fibers = new Set<Fiber.Fiber<void>>()
  const monoMs = (): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const callsOf = (subject: string): Calls => {
    let calls = subjects.get(subject)
    if (calls === undefined) subjects.set(subject, (calls = new Calls()))
    return calls
  }

  const keep = (subject: string, calls: Calls): void => {
    calls.isKept = true
    const fiber = Effect.runForkWith(services)(keepStated(subject, calls))
    fibers.add(fiber)
    fiber.addObserver(() => fibers.delete(fiber))
  }

  const grant = (subject: string, calls: Calls): Permit => {
    let isHeld = true
    calls.running++
    return {
      held: true,
      release: Effect.sync(() => {
        if (!isHeld) return
        isHeld = false
        const wasStated = calls.running-- === calls.stated
        if (limits.shared) {
          if (wasStated && calls.heedsRelease) calls.wake()
        } else if (calls.running === 0) subjects.delete(subject)
      })
    }
  }

  /** States what runs, as long as the store has something of this process, and asks for those who wait. */
  const keepStated = (subject: string, calls: Calls): Effect.Effect<void> =>
    Effect.gen(function* () {
      const isIdle = (): boolean => calls.waiting.size === 0
      const isOver = (): boolean => calls.running + calls.stated === 0 && !calls.isDue
      do {
        yield* state(subject, calls)
        if (isIdle() && !isOver() && calls.running >= calls.stated)
          yield* pause(calls, calls.isDue ? RETRY_MS : STATE_MS, true)
        if (isIdle() && calls.running < calls.stated) yield* pause(calls, LOWER_MS, false)
      } while (!isIdle() || !isOver())
      subjects.delete(subject)
    })

  /** Ends early for somebody who waits, and at the first release after a statement. */
  const pause = (calls: Calls, ms: number, heedsRelease: boolean): Effect.Effect<void> =>
    Effect.raceFirst(
      Effect.sleep(ms),
      Effect.callback<void>((resume) => {
        calls.heedsRelease = heedsRelease
        calls.wake = () => resume(Effect.void)
      })
    )

  const state = (subject: string, calls: Calls): Effect.Effect<void> =>
    Effect.suspend(() => {
      // Those of one limit together: a subject has one, but while its plan changes.
      const [first] = calls.waiting
      const asking = first === undefined ? [] : [...calls.waiting].filter(({ limit }) => limit === first.limit)
      const { running } = calls
      const held = { subject, holder, running, wanted: asking.length, limit: first?.limit ?? 0 }
      const answer = (exitOf: () => Exit.Exit<Permit, ReadFault>): void => {
        for (const waiter of asking) if (calls.waiting.delete(waiter)) waiter.resume(exitOf())
      }
      const sentMs = monoMs()
      // What is lowered must not be granted from memory meanwhile.
      calls.stated = running
      return Effect.map(Effect.exit(limits.take([{ rows: [], cost: 0, units: 0, held }])), (exit) => {
        if (Exit.isFailure(exit)) {
          calls.isDue = true
          return answer(() => Exit.failCause(exit.cause))
        }
        const { granted, inFlight } = exit.value[0]!.held!
        calls.isDue = false
        calls.stated = running + granted
        calls.statedMs = sentMs
        let left = granted
        answer(() => Exit.succeed(left-- > 0 ? grant(subject, calls) : { held: false, inFlight }))
      })
    })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      const ended = [...subjects].filter(([, { isKept }]) => isKept)
      const requests = ended.map(([subject]) => ({
        rows: [],
        cost: 0,
        units: 0,
        held: { subject, holder, running: 0, wanted: 0, limit: 0 }
      }))
      const returned = requests.length === 0 ? Effect.void : Effect.ignore(limits.take(requests))
      return Effect.andThen(
        Effect.forEach([...fibers], (fiber) => Fiber.interrupt(fiber), { discard: true }),
        returned
      )
    })
  )

  return Permits.of({
    hold: (subject, limit) =>
      Effect.suspend(() => {
        const calls = callsOf(subject)
        if (!limits.shared) {
          if (calls.running < limit) return Effect.succeed(grant(subject, calls))
          if (calls.running === 0) subjects.delete(subject)
          return Effect.succeed<Permit>({ held: false, inFlight: calls.running })
        }
        const isFresh = monoMs() - calls.statedMs < HOLDER_LAPSES_MS
        if (isFresh && calls.waiting.size === 0 && calls.running < Math.min(limit, calls.stated))
          return Effect.succeed(grant(subject, calls))
        return Effect.callback<Permit, ReadFault>((resume) => {
          const waiter: Waiter = { limit, resume }
          calls.waiting.add(waiter)
          if (calls.isKept) calls.wake()
          else keep(subject, calls)
          return Effect.sync(() => void calls.waiting.delete(waiter))
        })
      })
  })
})
