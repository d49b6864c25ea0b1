/**
 * Folds the usage of complete segments of the chain, so that a request finds them folded. Runs in every process, works
 * in the one that holds the lease.
 */
import { toHex } from "@flyball/evidence"
import { Cause, Effect, Layer } from "effect"
import { Entropy } from "../../foundation/entropy.ts"
import { Storage } from "../../storage/port.ts"
import { Telemetry } from "./service.ts"

/** How often it polls. Unit: milliseconds. */
const POLL_MS = 10_000
/** A process that died is replaced after this. Unit: milliseconds. Renewed before each segment. */
const LEASE_MS = 60_000
const LEASE = "telemetry_clock"
/** Between two segments, so that the fold of a long chain leaves the store to others. Unit: milliseconds. */
const PAUSE_MS = 20

/** Folds while its scope is open. */
export const telemetryClock: Layer.Layer<never, never, Storage | Telemetry> = Layer.effectDiscard(
  Effect.gen(function* () {
    const storage = yield* Storage
    const telemetry = yield* Telemetry
    const holder = toHex((yield* Entropy).bytes(16))
    yield* Effect.addFinalizer(() => Effect.ignore(storage.releaseLease(LEASE, holder)))
    const rollUpAll = Effect.gen(function* () {
      while (yield* storage.lease(LEASE, holder, LEASE_MS)) {
        if ((yield* telemetry.rollUp(1)) === 0) return
        yield* Effect.sleep(PAUSE_MS)
      }
    })
    yield* rollUpAll.pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.logError("The usage of the chain could not be summed up; the job tries again.", cause)
      ),
      Effect.andThen(Effect.sleep(POLL_MS)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
