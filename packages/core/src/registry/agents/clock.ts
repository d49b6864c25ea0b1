/**
 * The clock of the registry: suspends orphans after their week, and agents whose recertification is overdue.
 *
 * Runs in every process, works in the one that holds the lease. A poll goes by what the documents say now. So downtime
 * of any length, a clock that stepped, or two processes at once change nothing but the moment. Spec: document 1
 * sections 1 and 8; decision 0013.
 */
import { Cause, Clock, Effect, Layer, Stream } from "effect"
import { idAtMs } from "../../foundation/id-time.ts"
import { documentPages } from "../../storage/document-pages.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { AGENTS, storedAgent } from "./document.ts"
import { dueSuspension } from "@flyball/rules"
import { Agents } from "./service.ts"
import { leasedJob, whereHeld } from "../../storage/leased-job.ts"

/**
 * How often the clock polls. Unit: milliseconds. Against a week a minute is nothing, and a poll reads every agent.
 */
export const POLL_MS = 60_000
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 50_000
const LEASE = "agent_clock"

/**
 * Suspends what is due now, and answers how many agents that were. Safe to run beside itself.
 *
 * - Fails: when agents cannot be listed. One that cannot be suspended does not block those after it: the log names it,
 *   and the next poll tries it again.
 * - Spec: document 1 section 8, "orphan grace"; decisions 0013 and 0038.
 */
export const suspendDue: Effect.Effect<number, ReadFault, Agents | Storage> = Effect.gen(function* () {
  const agents = yield* Agents
  const storage = yield* Storage
  const nowMs = yield* Clock.currentTimeMillis
  let suspended = 0
  const suspending = trying()
  yield* Stream.runForEach(
    documentPages(storage, AGENTS),
    Effect.fnUntraced(function* (page) {
      for (const { body, id } of page.map(storedAgent)) {
        if (
          dueSuspension(body, idAtMs(id), nowMs) !== null &&
          (yield* suspending.attempt(id, agents.suspendIfDue(id))) !== null
        )
          suspended += 1
      }
    })
  )
  yield* suspending.report
  return suspended
})

/** Acts on one agent after another, and logs once how many acts failed. */
const trying = () => {
  const missed: Array<{ readonly id: string; readonly cause: Cause.Cause<unknown> }> = []
  return {
    attempt: <A>(id: string, act: Effect.Effect<A, ReadFault>) =>
      Effect.catchCause(act, (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
        missed.push({ id, cause })
        return Effect.succeed(null)
      }),
    report: Effect.suspend(() => {
      const [first] = missed
      return first === undefined
        ? Effect.void
        : Effect.logError(
            `The clock of the registry could not suspend ${missed.length} of the agents that are due, ` +
              `${first.id} first; it tries again.`,
            first.cause
          )
    })
  }
}

/** Polls every minute while its scope is open. */
export const agentClock: Layer.Layer<never, never, Agents | Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "The clock of the registry could not read the agents; it tries again.",
        pause: Effect.sleep(POLL_MS)
      },
      whereHeld(suspendDue)
    )
  })
)
