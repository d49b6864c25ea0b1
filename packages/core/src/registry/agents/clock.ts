/**
 * The clock of the registry: suspends orphans after their week, and agents whose recertification is overdue. In a store
 * that rules 1 wrote it starts the
 * week of agents whose owner lacks a name or an e-mail address, once, with a record.
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
import { dueSuspension, lacksOrphanRecord } from "@flyball/rules"
import { Agents } from "./service.ts"
import { leasedJob, whereHeld } from "../../storage/leased-job.ts"

/**
 * How often the clock polls. Unit: milliseconds. Against a week a minute is nothing, and a poll reads every agent.
 */
export const POLL_MS = 60_000
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 50_000
const LEASE = "agent_clock"
/** Orphan clocks that one poll starts at most: a store of rules 1 may have any number of agents with half an owner. */
const MOST_STARTED = 1_000

/**
 * Suspends what is due now, and answers how many agents that were. Starts the orphan clock of agents with half an owner
 * that no record holds yet. Safe to run beside itself.
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
  let started = 0
  const suspending = trying("suspend")
  const starting = trying("start the orphan clock of")
  yield* Stream.runForEach(
    documentPages(storage, AGENTS),
    Effect.fnUntraced(function* (page) {
      for (const { body, id } of page.map(storedAgent)) {
        if (
          started < MOST_STARTED &&
          lacksOrphanRecord(body) &&
          (yield* starting.attempt(id, agents.orphanIfIncomplete(id))) !== null
        )
          started += 1
        if (
          dueSuspension(body, idAtMs(id), nowMs) !== null &&
          (yield* suspending.attempt(id, agents.suspendIfDue(id))) !== null
        )
          suspended += 1
      }
    })
  )
  yield* starting.report
  yield* suspending.report
  return suspended
})

/** Acts on one agent after another, and logs once how many acts failed. */
const trying = (what: string) => {
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
            `The clock of the registry could not ${what} ${missed.length} of the agents that are due, ` +
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
