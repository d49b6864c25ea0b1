/** Changes of reviews in the order of the chain, to follow or to wait for. Spec: api.md, GET /bound/reviews/stream. */
import type { Review, ReviewStreamQuery } from "@flyball/contract"
import { readRecord } from "@flyball/evidence"
import { type ReviewDocument, reviewsEnded } from "@flyball/rules"
import { Clock, Effect, type Scope as EffectScope } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { storeWatch } from "../../storage/store-watch.ts"
import type { reviewQueue } from "./queue.ts"
import type { StoredReview } from "./stored-review.ts"

/** Kinds of the records that change a review. What a person was shown changes nothing. */
const CHANGES = [
  "review.opened",
  "review.claimed",
  "review.resolved",
  "review.expired",
  "review.cancelled",
  "review.consumed"
] as const

/** How often the chain is searched for changes while somebody waits: one search for all. Unit: milliseconds. */
const CHANGE_POLL_MS = 250

/** Reviews that one step answers at most. */
const BATCH = 50

/** Position of a reader of changes. A plain value: nothing stays open for a reader who leaves. Spec: decision 0049. */
export interface ReviewPlace {
  /** Every change up to this record was answered; -1: none. */
  readonly readTo: number
  /** Live reviews that are still to be answered, and the records that opened them. Oldest first. */
  readonly live: ReadonlyArray<{ readonly id: string; readonly seq: number }>
}

/**
 * A change: the seq of its record, and the review after it. A reader who continues after `seq` misses nothing. For a
 * review that was open when the reader began, `seq` is that of the record that opened it. Spec: decision 0049.
 */
export interface ReviewChange {
  readonly seq: number
  readonly review: Review
}

/** One step of reading: the changes, oldest first, and the position of the next step. Spec: decision 0049. */
export interface ReviewStep {
  readonly changes: ReadonlyArray<ReviewChange>
  readonly place: ReviewPlace
}

/** Steps through the changes that a reader may see. */
export interface ReviewFeed {
  /** Where a reader begins: behind this record, or, without one that the chain has, at the reviews that are live. */
  readonly from: (after: number | null) => Effect.Effect<ReviewPlace, ReadFault>
  /**
   * The next changes. Where there are none it waits for one, and answers none when the time is over. `see`: the review
   * where the reader may see it, else null.
   *
   * - Unit: `waitMs` in milliseconds.
   */
  readonly step: (
    place: ReviewPlace,
    waitMs: number,
    query: ReviewStreamQuery,
    see: (id: string) => Effect.Effect<StoredReview | null, ReadFault>
  ) => Effect.Effect<ReviewStep, ReadFault>
  /** Ends when a record behind this one changed any review. */
  readonly changedBehind: (seq: number) => Effect.Effect<void>
}

/** Dependencies of the reader of changes. */
export interface ReviewReader {
  readonly storage: StorageApi
  readonly queue: ReturnType<typeof reviewQueue>
  readonly shown: (id: string, review: ReviewDocument, seq: number) => Effect.Effect<Review, ReadFault>
}

/** The changes of reviews in a store. Its watch ends with its scope. */
export const reviewFeed = Effect.fnUntraced(function* ({
  queue,
  shown,
  storage
}: ReviewReader): Effect.fn.Return<ReviewFeed, never, EffectScope.Scope> {
  const watch = yield* storeWatch<number>({
    pollMs: CHANGE_POLL_MS,
    read: Effect.fnUntraced(function* (known) {
      const { seq: to } = yield* storage.asOf
      const from = Math.min(...known) + 1
      if (from > to) return to
      const [last] = yield* storage.records({ kinds: CHANGES, from, to, order: "desc", limit: 1 })
      return last?.seq ?? -1
    }),
    isNews: (readTo, last) => last > readTo
  })

  /** Changes behind a record, a batch at most, and the record up to which these are all. */
  const changesBehind = Effect.fnUntraced(function* (readTo: number, agentId: string | undefined) {
    const { seq: to } = yield* storage.asOf
    if (to <= readTo) return { found: [], readTo, isAll: true }
    const page = yield* storage.records({
      kinds: CHANGES,
      from: readTo + 1,
      to,
      limit: BATCH,
      ...(agentId === undefined ? {} : { agentId })
    })
    const found: Array<{ readonly id: string; readonly seq: number }> = []
    for (const { bytes, seq } of page) {
      const read = readRecord(bytes)
      if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
      found.push({ id: String(read.record.body["review_id"]), seq })
    }
    const isAll = page.length < BATCH
    return { found, readTo: isAll ? to : page.at(-1)!.seq, isAll }
  })

  return {
    changedBehind: watch.next,
    from: Effect.fnUntraced(function* (after) {
      const { seq: head } = yield* storage.asOf
      if (after !== null && after <= head) return { readTo: after, live: [] }
      // All of them: a reader who continues behind a seq misses nothing only where they come in the order of the chain.
      const ids = yield* queue.all(reviewsEnded("live", null, null), ({ id }) => id)
      const opened = [...(yield* queue.seqsOf(ids))].map(([id, seq]) => ({ id, seq }))
      // What opened since the head was read is a change behind it.
      return { readTo: head, live: opened.filter(({ seq }) => seq <= head).sort((a, b) => a.seq - b.seq) }
    }),
    step: Effect.fnUntraced(function* (place, waitMs, { agent_id: agentId, status }, see) {
      const endsAtMs = (yield* Clock.currentTimeMillis) + waitMs
      for (let { live, readTo } = place; ;) {
        const isLive = live.length > 0
        const next = isLive
          ? { found: live.slice(0, BATCH), readTo, isAll: false }
          : yield* changesBehind(readTo, agentId)
        live = live.slice(BATCH)
        readTo = next.readTo
        const changes: Array<ReviewChange> = []
        const opened = isLive ? new Map<string, number>() : yield* queue.seqsOf(next.found.map(({ id }) => id))
        for (const { id, seq } of next.found) {
          const stored = yield* see(id)
          if (stored === null || (agentId ?? stored.body.agentId) !== stored.body.agentId) continue
          const review = yield* shown(id, stored.body, opened.get(id) ?? seq)
          if ((status ?? review.status) === review.status) changes.push({ seq, review })
        }
        const leftMs = endsAtMs - (yield* Clock.currentTimeMillis)
        if (changes.length > 0 || leftMs <= 0) return { changes, place: { live, readTo } }
        if (next.isAll) yield* Effect.raceFirst(watch.next(readTo), Effect.sleep(leftMs))
      }
    })
  }
})
