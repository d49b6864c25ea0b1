/**
 * Releases live drills whose time is over, and reports attested ones that became too old. Runs in every process, works
 * in the one that holds the lease: a drill ends although the process that started it is gone.
 */
import { Clock, Effect, Layer } from "effect"
import type { Storage } from "../../storage/port.ts"
import { envelopeTierEvidence } from "../envelopes/tier-evidence.ts"
import { reportLapses } from "./drill-lapse.ts"
import { Drills } from "./service.ts"
import { leasedJob, whereHeld } from "../../storage/leased-job.ts"

/** How often it polls: a live drill halts at most this much longer than it may. Unit: milliseconds. */
export const DRILL_POLL_MS = 1_000
/** How often agents are read whose drill became too old. Unit: milliseconds. Against 30 days a minute is nothing. */
export const LAPSE_POLL_MS = 60_000
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 10_000
const LEASE = "drill_clock"

/** Polls every second while its scope is open. */
export const drillClock: Layer.Layer<never, never, Drills | Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    const drills = yield* Drills
    let nextLapsesMs = Number.NEGATIVE_INFINITY
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "Expired drills could not be ended; the job tries again.",
        pause: Effect.sleep(DRILL_POLL_MS)
      },
      whereHeld(
        Effect.gen(function* () {
          yield* drills.completeDue
          const nowMs = yield* Clock.currentTimeMillis
          if (nowMs < nextLapsesMs) return
          nextLapsesMs = nowMs + LAPSE_POLL_MS
          yield* reportLapses
        })
      )
    )
  })
).pipe(Layer.provide(envelopeTierEvidence))
