/** A background job that every process has and one at a time does: the one that holds its lease. */
import { toHex } from "@flyball/evidence"
import { Effect, type Scope, Cause } from "effect"
import { Entropy } from "../foundation/entropy.ts"
import { type ReadFault, Storage } from "./port.ts"
import { logRarely } from "../foundation/log-rarely.ts"

/** A job under a lease. */
export interface LeasedJob<R> {
  /** Name of the lease. */
  readonly lease: string
  /** A process that died is replaced after this. Unit: milliseconds. */
  readonly leaseMs: number
  /** Message in the log for a round that failed; the job continues. */
  readonly failed: string
  /** Waits for the next round. */
  readonly pause: Effect.Effect<unknown, never, R>
}

/** Takes the lease, or takes it again; false while another process holds it. */
export type Held = Effect.Effect<boolean, ReadFault>

/**
 * Runs a job in the background until its scope closes, and gives its lease back then. `round` gets what takes the
 * lease, and takes it again where it runs for long.
 *
 * - Fails: never. A round that fails is logged as {@link rounds} do, and the next one comes as always.
 */
export const leasedJob = <R, P>(
  { failed, lease, leaseMs, pause }: LeasedJob<P>,
  round: (held: Held) => Effect.Effect<unknown, unknown, R>
): Effect.Effect<void, never, P | R | Scope.Scope | Storage> =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const holder = toHex((yield* Entropy).bytes(16))
    yield* Effect.addFinalizer(() => Effect.ignore(storage.releaseLease(lease, holder)))
    const held = Effect.suspend(() => storage.lease(lease, holder, leaseMs))
    yield* rounds(round(held), { failed, over: `The job ${lease} works again.`, pause })
  })

/** A round that is short: it does its work where this process holds the lease. */
export const whereHeld =
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
  (held: Held): Effect.Effect<unknown, E | ReadFault, R> =>
    Effect.flatMap(held, (holds): Effect.Effect<unknown, E, R> => (holds ? work : Effect.void))

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
