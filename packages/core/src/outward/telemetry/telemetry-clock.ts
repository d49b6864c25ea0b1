/**
 * Folds the usage of complete segments of the chain, so that a request finds them folded. Runs in every process, works
 * in the one that holds the lease.
 */
import { Effect, Layer } from "effect"
import type { Storage } from "../../storage/port.ts"
import { Telemetry } from "./service.ts"
import { leasedJob } from "../../storage/leased-job.ts"

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
    const telemetry = yield* Telemetry
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "The usage of the chain could not be summed; the job tries again.",
        pause: Effect.sleep(POLL_MS)
      },
      (held) =>
        Effect.gen(function* () {
          while (yield* held) {
            if ((yield* telemetry.rollUp(1)) === 0) return
            yield* Effect.sleep(PAUSE_MS)
          }
        })
    )
  })
)
