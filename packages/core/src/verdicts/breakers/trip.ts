/**
 * Trips the breakers of an agent that are due: one commit each, so that a breaker trips once however many processes
 * read it. After a crash the next evaluation, check or tick completes the rest.
 */
import { type AgentFacts, BREAKERS, type BreakerDocument, breakerModes, orphanedSinceMs } from "@flyball/rules"
import { Effect } from "effect"
import { idAtMs } from "../../foundation/id-time.ts"
import { counterBy } from "../../foundation/metrics.ts"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { beside } from "../../storage/commit-claim.ts"
import { MAX_ATTEMPTS } from "../../storage/commit-with-retry.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import type { AsOf, ReadFault, StorageApi } from "../../storage/port.ts"
import type { BreakerKeeper } from "./keeper.ts"
import { type Activated, planTrip } from "./plan-trip.ts"
import { storedBreaker } from "./stored-breaker.ts"

const trips = counterBy("flyball_breaker_trips_total", "Breakers that tripped, by mode.", "mode", breakerModes)

/** Plans what a tripping breaker activates. Called again where the commit met a conflict. */
export type PlanActivated = (
  agent: StoredAgent,
  breakerId: string,
  breaker: BreakerDocument,
  asOf: AsOf
) => Effect.Effect<Activated, ReadFault>

/** Services that tripping needs. */
export interface Tripping {
  readonly storage: StorageApi
  readonly windows: BreakerKeeper
  readonly activated: PlanActivated
}

/** Facts about an agent that readings depend on besides records. */
export const factsOf = ({ body, id }: StoredAgent, firstBadSeq: number | null): AgentFacts => ({
  isActive: body.status === "active",
  orphanedSinceMs: orphanedSinceMs(body, idAtMs(id)),
  firstBadSeq
})

/**
 * Trips what is due; answers how many breakers that were.
 *
 * - `at`: the time and position to read at; null: now. An evaluation gives its own, so that a verifier finds the same.
 * - `firstBadSeq`: see {@link AgentFacts}.
 * - Fails: as the store does; `StorageUnavailable`, `contended`, where breakers kept changing.
 */
export const tripDue = Effect.fnUntraced(function* (
  { activated, storage, windows }: Tripping,
  agentId: string,
  at: AsOf | null = null,
  firstBadSeq: number | null = null
): Effect.fn.Return<number, ReadFault> {
  let tripped = 0
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const asOf = at ?? (yield* storage.asOf)
    const watched = yield* windows.of(agentId, asOf)
    const document = watched === null ? null : yield* storage.get(AGENTS, agentId)
    if (watched === null || document === null) return tripped
    const agent = storedAgent(document)
    const [due] = watched.due(asOf, factsOf(agent, firstBadSeq))
    if (due === undefined) return tripped
    const found = yield* storage.get(BREAKERS, due.breakerId)
    if (found === null || !isSame(storedBreaker(found).body, due.breaker)) {
      // Another process has changed or tripped it: its record is read before anything is decided again.
      windows.forget(agentId)
      continue
    }
    const stored = storedBreaker(found)
    const planned = planTrip(
      stored,
      due.reading,
      asOf,
      stored.body.mode === "enforce" ? yield* activated(agent, stored.id, stored.body, asOf) : null
    )
    const { expects = [], ...change } = planned.change
    const isCommitted = yield* storage
      .commit({
        ...change,
        // What the reading took from the agent is so at the commit too.
        expects: [
          ...expects.filter(({ collection, id }) => collection !== AGENTS || id !== agentId),
          { collection: AGENTS, id: agentId, version: agent.version }
        ]
      })
      .pipe(
        beside,
        Effect.as(true),
        Effect.catchTag("StorageConflict", () => Effect.succeed(false))
      )
    if (!isCommitted) continue
    yield* trips[stored.body.mode].one
    tripped++
  }
  return yield* new StorageUnavailable({
    reason: `the breakers of ${agentId} kept changing, ${MAX_ATTEMPTS} times in a row`,
    wrote: tripped > 0 ? "unknown" : "no",
    contended: true
  })
})

const isSame = (a: BreakerDocument, b: BreakerDocument): boolean => text(a) === text(b)

/** Members in the order of their names: a stored document need not keep the order in which it was written. */
const text = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member
  )
