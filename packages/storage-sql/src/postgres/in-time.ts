/**
 * A bound on every wait for the server.
 *
 * A server that is there ends a statement itself (`statement_timeout`). One that cannot be reached, and says nothing of
 * it, would keep its callers for ever.
 */
import { Context, Effect, Exit, Fiber } from "effect"
import { SqlError, StatementTimeoutError } from "effect/sql/SqlError"

/**
 * How long an answer may take, and how long one may wait for a connection. Replaced by tests only.
 *
 * - Unit: milliseconds. Above the limits of the server, which end first unless it cannot be reached.
 */
export const AnswerTime: Context.Reference<number> = Context.Reference("flyball/storage-sql/AnswerTime", {
  defaultValue: () => 90_000
})

/** Restarts the time limit: from now on the server owes an answer, and `cut` ends its connections when it is silent. */
export type Restart = (cut: () => void) => void

/**
 * Runs what first waits for a connection, and calls `restart` when it has one: then the time restarts.
 *
 * A server that does not answer is cut off: all connections that `cut` knows are thrown away, since their path is in
 * doubt.
 *
 * - Fails: with a `StatementTimeoutError` when the time is over, once what ran has let its connection go.
 */
export const inTime = <A, E, R>(run: (restart: Restart) => Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.flatMap(Effect.context<R>(), (context) =>
    Effect.callback<A, E | SqlError>((resume) => {
      const call = new Call(Context.get(context, AnswerTime))
      call.fiber = Effect.runForkWith(context)(Effect.suspend(() => run(call.restart)))
      if (call.fiber.pollUnsafe() === undefined) watch(call)
      call.fiber.addObserver((exit) => {
        calls.delete(call)
        resume(call.isLate && Exit.isFailure(exit) ? Effect.fail(silence()) : (exit as Exit.Exit<A, E>))
      })
      return Fiber.interrupt(call.fiber)
    })
  )

/** As {@link inTime}, for one who has a connection already */
export const answered = <A, E, R>(run: Effect.Effect<A, E, R>, cut: () => void): Effect.Effect<A, E | SqlError, R> =>
  inTime((restart) => {
    restart(cut)
    return run
  })

class Call {
  readonly #timeMs: number
  #cut: (() => void) | null = null
  fiber: Fiber.Fiber<unknown, unknown> | null = null
  dueAtMs: number
  isLate = false

  constructor(timeMs: number) {
    this.#timeMs = timeMs
    this.dueAtMs = performance.now() + timeMs
  }

  readonly restart: Restart = (cut) => {
    this.#cut = cut
    this.dueAtMs = performance.now() + this.#timeMs
  }

  end(): void {
    this.isLate = true
    this.fiber?.interruptUnsafe()
    this.#cut?.()
  }
}

/** All that wait, of all stores: one timer watches them, and none is set or cleared for a call. */
const calls = new Set<Call>()
let timer: NodeJS.Timeout | null = null
let nextAtMs = Infinity

const watch = (call: Call): void => {
  calls.add(call)
  if (call.dueAtMs < nextAtMs) schedule(call.dueAtMs)
}

const schedule = (atMs: number): void => {
  if (timer !== null) clearTimeout(timer)
  nextAtMs = atMs
  timer = atMs === Infinity ? null : setTimeout(expire, Math.max(1, Math.ceil(atMs - performance.now()))).unref()
}

/** Ends what is due; a call that was restarted meanwhile has a later time than it was noted with. */
const expire = (): void => {
  const now = performance.now()
  const late = [...calls].filter(({ dueAtMs }) => dueAtMs <= now)
  for (const call of late) calls.delete(call)
  schedule([...calls].reduce((atMs, { dueAtMs }) => Math.min(atMs, dueAtMs), Infinity))
  for (const call of late) call.end()
}

const silence = (): SqlError =>
  new SqlError({
    reason: new StatementTimeoutError({
      cause: new Error("no answer in time"),
      message: "No answer in time",
      operation: "query"
    })
  })
