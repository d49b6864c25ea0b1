/**
 * A clock that stands still until a test moves it, and then jumps: days pass in no time, and nobody wakes for each
 * second of them.
 */
import { Clock, Duration, Effect, Layer } from "effect"

const NANOS = 1_000_000n

/** A clock that stands at `startMs`, under a layer that gives it to everything above. */
export const jumpingClock = (startMs: number) => {
  let nowMs = startMs
  const sleeping = new Set<{ readonly untilMs: number; readonly wake: () => void }>()
  const nanos = (): bigint => BigInt(nowMs) * NANOS
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => nowMs,
    currentTimeMillis: Effect.sync(() => nowMs),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => {
      const ms = Duration.toMillis(duration)
      return ms <= 0
        ? Effect.yieldNow
        : Effect.callback<void>((resume) => {
            const one = { untilMs: nowMs + ms, wake: () => resume(Effect.void) }
            sleeping.add(one)
            return Effect.sync(() => void sleeping.delete(one))
          })
    }
  }
  return {
    layer: Layer.succeed(Clock.Clock, clock),
    nowMs: (): number => nowMs,
    /** Sets the clock to a later time, and wakes every sleeper that is due. */
    jump: (toMs: number): void => {
      nowMs = Math.max(nowMs, toMs)
      for (const one of sleeping) {
        if (one.untilMs > nowMs) continue
        sleeping.delete(one)
        one.wake()
      }
    }
  }
}

/** Waits for a fact that comes about by itself, in real time: what happens between this process's sockets. */
export const until = async <A>(
  fact: () => A | Promise<A>,
  isSo: (found: A) => boolean,
  otherwise: string
): Promise<A> => {
  for (const endsAt = performance.now() + FACT_MS; ;) {
    const found = await fact()
    if (isSo(found)) return found
    if (performance.now() > endsAt)
      throw new Error(`${otherwise}. Last seen: ${JSON.stringify(found)?.slice(0, 2_000)}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Longer than a busy machine takes for anything on loopback. */
const FACT_MS = 30_000
