/**
 * Deletes the documents of meters and keys to which nothing was added for longer than the longest window that an
 * envelope can have.
 *
 * Runs in every process, works in the one that holds the lease. Each step is a commit of its own that expects the
 * versions it saw: an evaluation that adds to a window meanwhile keeps it. An evaluation that reads such a meter later
 * draws a new window, which is as empty as the old one was. Spec: decision 0025.
 */
import { Effect, Layer } from "effect"
import { MAX_WINDOW_MS } from "@flyball/envelope"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { METERS } from "./meter-keeper.ts"
import { leasedJob } from "../../storage/leased-job.ts"

/** How often it sweeps. Unit: milliseconds. */
export const SWEEP_MS = 86_400_000
/**
 * Beyond the longest window, for clocks that differ and settlements that put back an older time. Unit: milliseconds.
 */
const SLACK_MS = 86_400_000
/** A process that died is replaced after this. Unit: milliseconds. Renewed before each step. */
const LEASE_MS = 120_000
const LEASE = "meter_sweep"
/** Documents of one step: a few milliseconds of the store's one writer. */
const STEP = 500
/** Between two steps, so that a large backlog takes a small share of the store. Unit: milliseconds. */
const PAUSE_MS = 50

/**
 * Deletes them all; answers how many. `mayGoOn` runs before each step; where it answers no the rest is left to the next
 * sweep.
 */
export const sweepMeters = Effect.fnUntraced(function* <E>(
  mayGoOn: Effect.Effect<boolean, E>
): Effect.fn.Return<number, ReadFault | E, Storage> {
  const storage = yield* Storage
  const beforeMs = (yield* storage.asOf).ms - MAX_WINDOW_MS - SLACK_MS
  let count = 0
  for (let after: string | undefined; yield* mayGoOn;) {
    const page = yield* storage.list(METERS, { limit: STEP, ...(after === undefined ? {} : { after }) })
    const deletes = page
      .filter(({ body: { added_at_ms: addedAtMs } }) => typeof addedAtMs === "number" && addedAtMs < beforeMs)
      .map(({ collection, id, version }) => ({ collection, id, version }))
    if (deletes.length > 0) {
      const isDone = yield* storage.commit({ deletes }).pipe(
        Effect.as(true),
        Effect.catchTag("StorageConflict", () => Effect.succeed(false))
      )
      // One of them is used again: the next sweep leaves it out.
      if (isDone) count += deletes.length
    }
    if (page.length < STEP) return count
    after = page.at(-1)!.id
    yield* Effect.sleep(PAUSE_MS)
  }
  return count
})

/** Sweeps every day while its scope is open. */
export const meterSweep: Layer.Layer<never, never, Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "Windows of meters that are long past could not be deleted; the job tries again.",
        pause: Effect.sleep(SWEEP_MS)
      },
      sweepMeters
    )
  })
)
