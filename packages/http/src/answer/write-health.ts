/** Judges whether the store takes writes by the result of the last one: a disk can be full while every read works. */
import { Storage, StorageUnavailable, type StorageApi } from "@flyball/core"
import { Cause, Clock, Context, Effect, Layer, Queue } from "effect"
import { randomUUID } from "node:crypto"

/** Health of writes to the store. */
export interface WriteHealthApi {
  /**
   * False from a commit that failed because the store was unavailable until one, or an attempt of our own, succeeds.
   * Also false while a commit has been under way for more than {@link SLOW_MS}.
   */
  readonly writes: () => boolean
}

/** Reference to the health of writes; null where nothing monitors it. */
export const WriteHealth: Context.Reference<WriteHealthApi | null> = Context.Reference("flyball/server/WriteHealth", {
  defaultValue: (): WriteHealthApi | null => null
})

/**
 * How often writing is tried while it does not work. Unit: milliseconds. Nobody sends writes to a server that says it
 * takes none, so it must find out by itself.
 */
export const TRY_MS = 5_000
/**
 * How long a commit may take. Unit: milliseconds. One that waits for a lock, for a standby that is away or for a silent
 * network fails much later.
 */
export const SLOW_MS = 10_000
/**
 * How long it is no news that writing stopped. Unit: milliseconds. A disk that is nearly full takes a small write now
 * and then.
 */
const NEWS_MS = 60_000
/** The smallest write that there is. */
const LEASE = "write_health"

/** The store underneath, watched; and what is seen. */
export const watchedStorage: Layer.Layer<Storage, never, Storage> = Layer.effectContext(
  Effect.gen(function* () {
    const storage = yield* Storage
    const failed = yield* Queue.sliding<void>(1)
    const holder = randomUUID()
    let writes = true
    const good = <A>(receipt: A): A => {
      writes = true
      return receipt
    }
    const bad = (cause: Cause.Cause<unknown>) =>
      Effect.sync(() => {
        if (!writes || !isUnavailable(cause)) return
        writes = false
        Queue.offerUnsafe(failed, undefined)
      })
    const clock = yield* Clock.Clock
    // In the order in which they began.
    const underWay = new Set<{ readonly sinceMs: number }>()
    const commit: StorageApi["commit"] = (change) =>
      Effect.suspend(() => {
        const one = { sinceMs: clock.currentTimeMillisUnsafe() }
        underWay.add(one)
        return storage
          .commit(change)
          .pipe(Effect.map(good), Effect.tapCause(bad), Effect.ensuring(Effect.sync(() => underWay.delete(one))))
      })
    const waits = (): boolean => {
      const [oldest] = underWay
      return oldest !== undefined && clock.currentTimeMillisUnsafe() - oldest.sinceMs > SLOW_MS
    }
    const attempt = Effect.gen(function* () {
      yield* Effect.sleep(TRY_MS)
      if (!(yield* storage.lease(LEASE, holder, TRY_MS))) return
      writes = true
      yield* storage.releaseLease(LEASE, holder)
    }).pipe(Effect.catch(() => Effect.void))
    let loggedAtMs: number | null = null
    const tell = Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      if (loggedAtMs !== null && nowMs - loggedAtMs < NEWS_MS) return
      loggedAtMs = nowMs
      yield* Effect.logError(
        "The store does not accept writes. /healthz answers 503 until it does; a write is tried every five seconds."
      )
    })
    yield* Queue.take(failed).pipe(
      Effect.andThen(tell),
      Effect.andThen(Effect.whileLoop({ while: () => !writes, body: () => attempt, step: () => {} })),
      Effect.andThen(Effect.logInfo("The store accepts writes again.")),
      Effect.forever,
      Effect.forkScoped
    )
    return Context.make(Storage, Storage.of({ ...storage, commit })).pipe(
      Context.add(WriteHealth, { writes: () => writes && !waits() })
    )
  })
)

const isUnavailable = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.findErrorOption(cause)
  return error._tag === "Some" && error.value instanceof StorageUnavailable
}
