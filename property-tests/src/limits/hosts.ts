/** Hosts of rate limits, permits and quotas over one store, whose wall clock steps and whose monotonic one does not. */
import type { StorageChoice } from "@flyball/core"
import { layerOf, Permits, Quotas, RateLimits, Storage } from "@flyball/core"
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { Pass } from "./laws.ts"

/** A process: its services end in order, or are left alone as a killed process leaves them. */
export interface Host {
  readonly limits: RateLimits["Service"]
  readonly permits: Permits["Service"]
  readonly quotas: Quotas["Service"]
  readonly end: Effect.Effect<void>
  /** From now on nothing that it sends arrives. */
  readonly kill: Effect.Effect<void>
}

/** A store that tests share between hosts, and its clock. */
export interface Home {
  readonly host: Effect.Effect<Host>
  readonly pass: (pass: Pass) => Effect.Effect<void>
  /** As `pass`, while timers of hosts run every second. */
  readonly watch: (pass: Pass) => Effect.Effect<void>
  /** The clock of all that uses the store. */
  readonly clock: Clock.Clock
  /** The clock that never steps. */
  readonly realMs: Effect.Effect<number>
  readonly storage: Storage["Service"]
}

const SECOND_MS = 1_000

const services = Layer.mergeAll(RateLimits.layer, Permits.layer, Quotas.layer)

/** Opens a store as one that processes share, with its clock at `startMs`. `set` moves a clock of the store's own. */
export const openHome = Effect.fnUntraced(function* (
  choice: StorageChoice,
  startMs: number,
  set: (nowMs: number) => Effect.Effect<void> = () => Effect.void
) {
  const steady = yield* Clock.Clock
  let stepMs = startMs
  const wallMs = (): number => steady.currentTimeMillisUnsafe() + stepMs
  const clock: Clock.Clock = {
    ...steady,
    currentTimeMillisUnsafe: wallMs,
    currentTimeMillis: Effect.sync(wallMs),
    // The wall of a test clock may be moved, which its monotonic time follows.
    monotonicTimeNanosUnsafe: () => BigInt(Math.round(steady.currentTimeMillisUnsafe() * 1e6))
  }
  const scope = yield* Effect.scope
  const context = yield* Effect.provideService(Layer.buildWithScope(layerOf(choice), scope), Clock.Clock, clock)
  const opened = Context.get(context, Storage)
  let pending = 0
  const take: typeof opened.limits.take = (requests) =>
    Effect.suspend(() => {
      pending++
      return Effect.ensuring(
        opened.limits.take(requests),
        Effect.sync(() => void pending--)
      )
    })
  const storage = Storage.of({ ...opened, limits: { shared: true, take } })
  /** Threads and servers answer in real time. */
  const answered = Effect.callback<void>((resume) => {
    const poll = (): void => void (pending > 0 ? setImmediate(poll) : resume(Effect.void))
    setImmediate(poll)
  })
  const moveTo = (passMs: number): Effect.Effect<void> =>
    // The store sees the new time before timers of hosts do.
    set(wallMs() + passMs).pipe(Effect.andThen(TestClock.adjust(passMs)), Effect.andThen(answered))
  yield* set(wallMs())
  const host = Effect.gen(function* () {
    const own = yield* Scope.make()
    let isDead = false
    const line: typeof take = (requests) => Effect.suspend(() => (isDead ? Effect.never : take(requests)))
    const built = yield* Layer.buildWithScope(Layer.fresh(services), own).pipe(
      Effect.provideService(Storage, Storage.of({ ...storage, limits: { shared: true, take: line } })),
      Effect.provideService(Clock.Clock, clock)
    )
    return {
      limits: Context.get(built, RateLimits),
      permits: Context.get(built, Permits),
      quotas: Context.get(built, Quotas),
      end: Scope.close(own, Exit.void),
      kill: Effect.sync(() => void (isDead = true))
    }
  })
  return {
    host,
    storage,
    realMs: Effect.sync(() => steady.currentTimeMillisUnsafe()),
    clock,
    pass: (pass) =>
      Effect.suspend(() => {
        stepMs += pass.stepMs
        return moveTo(pass.passMs)
      }),
    watch: Effect.fnUntraced(function* (pass) {
      stepMs += pass.stepMs
      for (let leftMs = pass.passMs; leftMs > 0; leftMs -= SECOND_MS) yield* moveTo(Math.min(leftMs, SECOND_MS))
    })
  } satisfies Home
})
