/**
 * Records the end of reviews that time, a halt or a new version ended. Runs in every process, works in the one that
 * holds the lease. It only tidies: each act on a review decides by itself whether it is over.
 */
import { Effect, Layer } from "effect"
import type { Storage } from "../../storage/port.ts"
import { Reviews } from "./service.ts"
import { leasedJob, whereHeld } from "../../storage/leased-job.ts"

/** How often it polls. Unit: milliseconds. */
export const REVIEW_POLL_MS = 1_000
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 10_000
const LEASE = "review_clock"

/** Polls every second while its scope is open. */
export const reviewClock: Layer.Layer<never, never, Reviews | Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    const reviews = yield* Reviews
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "The end of reviews could not be recorded; the job tries again.",
        pause: Effect.sleep(REVIEW_POLL_MS)
      },
      whereHeld(reviews.sweep)
    )
  })
)
