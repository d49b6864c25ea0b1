/**
 * Records the end of reviews that time, a halt or a new version ended. Runs in every process, works in the one that
 * holds the lease. It only tidies: each act on a review decides by itself whether it is over.
 */
import { toHex } from "@flyball/evidence"
import { Cause, Effect, Layer } from "effect"
import { Entropy } from "../../foundation/entropy.ts"
import { Storage } from "../../storage/port.ts"
import { Reviews } from "./service.ts"

/** How often it polls. Unit: milliseconds. */
export const REVIEW_LOOK_MS = 1_000
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 10_000
const LEASE = "review_clock"

/** Polls every second while its scope is open. */
export const reviewClock: Layer.Layer<never, never, Reviews | Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    const storage = yield* Storage
    const reviews = yield* Reviews
    const holder = toHex((yield* Entropy).bytes(16))
    const poll = Effect.gen(function* () {
      if (yield* storage.lease(LEASE, holder, LEASE_MS)) yield* reviews.sweep
    })
    yield* Effect.addFinalizer(() => Effect.ignore(storage.releaseLease(LEASE, holder)))
    yield* poll.pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause)
          : Effect.logError("The end of reviews could not be recorded; the job tries again.", cause)
      ),
      Effect.andThen(Effect.sleep(REVIEW_LOOK_MS)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
