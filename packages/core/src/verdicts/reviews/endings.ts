/** Ends of live reviews that nobody has to ask for: by time, by a halt, by other versions in force. */
import {
  halts,
  isPastEnd,
  isSameLayers,
  KILL_EPOCH,
  type ReviewRange,
  REVIEWS,
  reviewsEnded,
  reviewsPastEnd
} from "@flyball/rules"
import { Effect } from "effect"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { StorageConflict, StorageCorrupt } from "../../storage/faults.ts"
import type { ChangeSet, ReadFault, StorageApi } from "../../storage/port.ts"
import { EPOCH, type InForce, inForceReader } from "../envelopes/in-force.ts"
import type { KillOf } from "../evaluations/ports.ts"
import { killReader } from "../kill/kill-reader.ts"
import { LIFTED, type LiftedHalt, readLifted } from "../kill/lifted.ts"
import { liftedEnds } from "./lifted-ends.ts"
import { planCancel, planExpire, REVIEW_WRITER } from "./plan-expire.ts"
import { reviewQueue } from "./queue.ts"
import { type ReviewPlan, type StoredReview, storedReview } from "./stored-review.ts"

/** The end of a review; `plan` null: it lives. `expects`: what either rests on. */
export interface Ending {
  readonly plan: ReviewPlan | null
  readonly expects: NonNullable<ChangeSet["expects"]>
}

/** Makes the ends of reviews in a store. One for each service: it keeps what it read of envelopes and halts. */
export const reviewEndings = (storage: StorageApi) => {
  const inForce = inForceReader(storage)
  const queue = reviewQueue(storage)
  const kills = killReader(storage)

  /** The agent of a review. */
  const agentOf = Effect.fnUntraced(function* (agentId: string): Effect.fn.Return<StoredAgent, ReadFault> {
    const document = yield* storage.get(AGENTS, agentId)
    return document === null
      ? yield* new StorageCorrupt({ reason: `the agent ${agentId} of a review is not there` })
      : storedAgent(document)
  })

  /** Reads what ends the reviews of an agent, beside their time: halts that reach it, and the versions in force. */
  const around = Effect.fnUntraced(function* (agent: StoredAgent, nowMs: number) {
    return { kill: yield* kills.of(agent), bound: yield* inForce.of(agent.id, agent.body.orgUnit, nowMs) }
  })

  /** Plans the end of a review that is due to end by itself. Unit: `nowMs`, milliseconds since 1970 UTC. */
  const of = Effect.fnUntraced(function* (
    stored: StoredReview,
    agent: StoredAgent,
    nowMs: number
  ): Effect.fn.Return<Ending, ReadFault> {
    const { ended } = stored.body
    if (ended !== null || isPastEnd(stored.body, nowMs))
      return { plan: ended === null ? planExpire(stored) : null, expects: [] }
    // Halts in force first: one that is released in between changes their epoch, which the commit expects.
    const now = yield* around(agent, nowMs)
    return endedBy(stored, now, nowMs, yield* liftedEnds(storage, [stored]))
  })

  /** An act on one review. What was kept of envelopes is read again after a conflict. */
  const acting = <A, E>(id: string, attempt: Effect.Effect<A, E | StorageConflict>) =>
    commitWithRetry(
      storage,
      Effect.tapError(attempt, (error) =>
        error instanceof StorageConflict ? Effect.sync(inForce.invalidate) : Effect.void
      ),
      { collection: REVIEWS, id }
    )

  /** The end of a live review that is due now, as a change; null where nothing ends it. */
  const dueEnd = Effect.fnUntraced(function* (id: string): Effect.fn.Return<ChangeSet | null, ReadFault> {
    const document = yield* storage.get(REVIEWS, id)
    if (document === null) return null
    const stored = storedReview(document)
    const { expects, plan } = yield* of(stored, yield* agentOf(stored.body.agentId), (yield* storage.asOf).ms)
    return plan === null ? null : { ...plan.change, expects }
  })

  /** Records the ends of live reviews that are due, in one commit; answers how many. */
  const sweepTogether = (ids: ReadonlyArray<string>) =>
    acting(
      ids[0]!,
      Effect.gen(function* () {
        const ends = (yield* Effect.forEach(ids, dueEnd)).filter((end) => end !== null)
        // Nobody waits for these: acts of people go first.
        const turn = { class: "verdict", key: REVIEW_WRITER.id } as const
        if (ends.length > 0) yield* storage.commit({ ...asOne(ends), turn })
        return ends.length
      })
    )

  /** The same in pieces of {@link ENDS_A_COMMIT}: what waits behind them waits for one piece. */
  const sweepAll = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    let ended = 0
    for (let at = 0; at < ids.length; at += ENDS_A_COMMIT)
      ended += yield* sweepTogether(ids.slice(at, at + ENDS_A_COMMIT))
    return ended
  })

  /** Documents of which a change may end reviews: halts, and versions in force. */
  const epochs = Effect.map(
    Effect.forEach([KILL_EPOCH, EPOCH], ({ collection, id }) => storage.get(collection, id)),
    (documents) => documents.map((one) => one?.version ?? 0).join()
  )

  /** Records the end of those whose time is over, and answers how many. */
  const sweepPastEnd = Effect.fnUntraced(function* (nowMs: number) {
    return yield* sweepAll(yield* queue.all(reviewsPastEnd(nowMs), (one) => one.id))
  })

  /** Live reviews that are examined next for what a halt or other versions ended. */
  let unexamined = everyLive
  /** The epochs of the last time that all were examined; null before. */
  let examinedAt: string | null = null

  /** Notes of released halts go once all that these ended is on record. Another process may have removed them. */
  const forget = (lifted: ReadonlyArray<LiftedHalt>): Effect.Effect<unknown, ReadFault> =>
    lifted.length === 0
      ? Effect.void
      : storage
          .commit({
            deletes: lifted.map(({ activationId: id, version }) => ({ collection: LIFTED, id, version }))
          })
          .pipe(Effect.catchTag("StorageConflict", () => Effect.void))

  /**
   * Records the end of live reviews that are due to end, and answers how many: of all whose time is over; of all that
   * a halt or other versions ended, after a change of either. Without one a page is examined in turn, because an agent
   * that moves to another org unit comes under other versions.
   */
  const sweep = Effect.gen(function* () {
    const { ms } = yield* storage.asOf
    let ended = yield* sweepPastEnd(ms)
    const now = yield* epochs
    const lifted = yield* readLifted(storage)
    const isChanged = now !== examinedAt || lifted.length > 0
    const known = new Map<string, Around>()
    for (let left: ReviewRange | null = isChanged ? everyLive : unexamined; left !== null;) {
      const page: LivePage = yield* queue.next(left)
      const due: Array<string> = []
      const endedBefore = yield* liftedEnds(storage, page.found)
      for (const stored of page.found) {
        const { agentId } = stored.body
        const seen: Around = known.get(agentId) ?? (yield* around(yield* agentOf(agentId), ms))
        known.set(agentId, seen)
        if (endedBy(stored, seen, ms, endedBefore).plan !== null) due.push(stored.id)
      }
      ended += yield* sweepAll(due)
      unexamined = page.rest ?? everyLive
      left = isChanged ? page.rest : null
    }
    examinedAt = now
    yield* forget(lifted)
    return ended
  })

  return { acting, agentOf, of, sweep }
}

/** Reviews whose ends one commit records. */
const ENDS_A_COMMIT = 100

const everyLive = reviewsEnded("live", null, null)

/** Changes of different reviews as one. */
const asOne = (changes: ReadonlyArray<ChangeSet>): ChangeSet => ({
  expects: [
    ...new Map(
      changes.flatMap(({ expects = [] }) => expects).map((one) => [`${one.collection} ${one.id}`, one])
    ).values()
  ],
  puts: changes.flatMap(({ puts = [] }) => puts),
  records: changes.flatMap(({ records = [] }) => records),
  events: changes.flatMap(({ events = [] }) => events)
})

type LivePage = { readonly found: ReadonlyArray<StoredReview>; readonly rest: ReviewRange | null }

/** Halts that reach an agent, and the versions that are in force for it. */
interface Around {
  readonly kill: KillOf
  readonly bound: InForce
}

/** Plans the end of a review in its time, by a halt or by other versions. `lifted`: see {@link liftedEnds}. */
const endedBy = (
  stored: StoredReview,
  { bound, kill }: Around,
  nowMs: number,
  lifted: ReadonlyMap<string, string>
): Ending => {
  const halting = kill.activations.find(({ drill, response }) => drill !== "shadow" && halts(response))
  const activationId = halting?.id ?? lifted.get(stored.id)
  if (activationId !== undefined)
    return { plan: planCancel(stored, "killed", nowMs, { activationId }), expects: kill.expects }
  const isBound = isSameLayers(stored.body.layers, bound.live.layers)
  return {
    plan: isBound ? null : planCancel(stored, "superseded", nowMs),
    expects: [...kill.expects, ...bound.expects]
  }
}
