/**
 * Deletes old deliveries at their end with their attempts, and events that nothing refers to any more.
 *
 * Runs in every process, works in the one that holds the lease. Each step is a transaction of its own over a bounded
 * number of rows, and what is over stays over: downtime
 * of any length, a crash, or two processes at once change nothing but the moment. Records are never touched. Spec:
 * decision 0030.
 */
import { Effect, Layer } from "effect"
import type { ForgetRequest } from "../../storage/outbox/outbox.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { MIN_KEPT_MS, WebhookSettings } from "./settings.ts"
import { leasedJob } from "../../storage/leased-job.ts"

/** How often it sweeps. Unit: milliseconds. Against 30 days an hour is nothing. */
export const SWEEP_MS = 3_600_000
/** A process that died is replaced after this. Unit: milliseconds. Renewed before each step. */
const LEASE_MS = 120_000
const LEASE = "outbox_sweep"
/** Rows of one step: a few milliseconds of the store's one writer. */
const STEP = 500
/** Between two steps, so that a large backlog takes a small share of the store. Unit: milliseconds. */
const PAUSE_MS = 50

/** Counts of the rows that a sweep deleted. */
export interface Swept {
  readonly deliveries: number
  readonly events: number
}

/**
 * Forgets what has been over for longer than the settings keep it.
 *
 * `mayGoOn` runs before each step; where it answers no the rest is left to the next sweep.
 */
export const sweepOutbox = Effect.fnUntraced(function* <E>(
  mayGoOn: Effect.Effect<boolean, E>
): Effect.fn.Return<Swept, ReadFault | E, Storage> {
  const storage = yield* Storage
  const { keepMs } = yield* WebhookSettings
  // Not less than `recover` reads back, or it would deliver again what was delivered.
  const beforeMs = Math.max(0, (yield* storage.asOf).ms - Math.max(keepMs, MIN_KEPT_MS))
  const sweep = Effect.fnUntraced(function* (what: ForgetRequest["what"]) {
    let count = 0
    for (let after: string | undefined; yield* mayGoOn;) {
      const answer = yield* storage.outbox.forget({
        what,
        beforeMs,
        limit: STEP,
        ...(after === undefined ? {} : { after })
      })
      count += answer.count
      if (answer.next === null) return count
      after = answer.next
      yield* Effect.sleep(PAUSE_MS)
    }
    return count
  })
  return { deliveries: yield* sweep("deliveries"), events: yield* sweep("events") }
})

/** Sweeps every hour while its scope is open. */
export const outboxSweep: Layer.Layer<never, never, Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "Old deliveries and events could not be deleted; the job tries again.",
        pause: Effect.sleep(SWEEP_MS)
      },
      sweepOutbox
    )
  })
)
