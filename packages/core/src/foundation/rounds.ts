/** Repeats the rounds of a background job. An outage is logged once, and its end. */
import { Cause, Effect, type Scope } from "effect"
import { logRarely } from "./log-rarely.ts"

/** A background job. Its lines in the log: `failed` for rounds that fail, `over` for the next one that does not. */
export interface Rounds<P> {
  readonly failed: string
  readonly over: string
  /** Waits for the next round. */
  readonly pause: Effect.Effect<unknown, never, P>
}

/** Runs rounds in the background until the scope closes. One that fails is logged, and the next comes as always. */
export const rounds = <R, P>(
  round: Effect.Effect<unknown, unknown, R>,
  { failed, over, pause }: Rounds<P>
): Effect.Effect<void, never, P | R | Scope.Scope> =>
  Effect.suspend(() => {
    const outage = logRarely(failed, over)
    return round.pipe(
      Effect.andThen(outage.over),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause as Cause.Cause<never>) : outage.reported(cause)
      ),
      Effect.andThen(pause),
      Effect.forever,
      Effect.forkScoped,
      Effect.asVoid
    )
  })
