/** Lists reviews, newest first. Spec: api.md, GET /bound/reviews. */
import { DEFAULT_PAGE, type InvalidInput, type ReviewListQuery } from "@flyball/contract"
import { readRecord } from "@flyball/evidence"
import {
  isPastEnd,
  type ReviewRange,
  REVIEWS,
  reviewsClaimed,
  reviewsEnded,
  reviewsOfAction,
  reviewsPastEnd,
  reviewStatus,
  type ReviewStatus
} from "@flyball/rules"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { continueBefore } from "../continue-before.ts"
import { newestFirst, type PlacedReview, type QueuePage, type reviewQueue } from "./queue.ts"
import { type StoredReview, storedReview } from "./stored-review.ts"

/** Reviews that one page of a list reads. */
const MAX_READ = 20_000
/** Records read at a time. */
const CHUNK = 500
/** Reviews looked up at a time. */
const TOGETHER = 50

/** Reviews of a page, and the time that their statuses hold at. Unit: milliseconds since 1970 UTC. */
export interface ListedReviews {
  readonly found: ReadonlyArray<PlacedReview>
  readonly nowMs: number
}

/** The place in the list that a page begins behind. */
interface Place {
  readonly openedAtMs: number
  readonly seq: number
}

/**
 * The reviews of one page. With a status it reads along the key of those that stand there, without one along the
 * records that opened reviews: either way as many as it shows and as the caller may not see.
 *
 * - Fails: `InvalidInput` where none of the reviews that one page reads is to be shown, and more may follow.
 */
export const listReviews = Effect.fnUntraced(function* (
  storage: StorageApi,
  queue: ReturnType<typeof reviewQueue>,
  query: ReviewListQuery,
  isVisible: (review: StoredReview) => Effect.Effect<boolean, ReadFault>,
  mostRead = MAX_READ
): Effect.fn.Return<ListedReviews, InvalidInput | ReadFault> {
  const { action_digest: digest, agent_id: agentId, before, limit = DEFAULT_PAGE, status } = query
  const { ms: nowMs } = yield* storage.asOf
  const begin = before === undefined ? null : yield* placeOf(storage, before)
  if (begin === "none") return { found: [], nowMs }
  const next =
    digest !== undefined
      ? along(queue, reviewsOfAction(digest.slice("sha256:".length), begin?.openedAtMs ?? null), behind(begin))
      : status === undefined
        ? opened(storage, agentId, before)
        : yield* standing(queue, status, { agentId, begin, nowMs })
  const found: Array<PlacedReview> = []
  let last: PlacedReview | null = null
  let seen = 0
  while (seen < mostRead) {
    const page = yield* next()
    if (page === null) return { found, nowMs }
    seen += page.length
    for (let at = 0; at < page.length; at += TOGETHER) {
      const some = page
        .slice(at, at + TOGETHER)
        .filter(
          ({ stored: { body } }) =>
            (agentId ?? body.agentId) === body.agentId &&
            (status ?? reviewStatus(body, nowMs)) === reviewStatus(body, nowMs) &&
            (digest === undefined || !isPastEnd(body, nowMs))
        )
      const shown = yield* Effect.forEach(some, ({ stored }) => isVisible(stored))
      for (const [index, one] of some.entries()) {
        if (shown[index]!) found.push(one)
        if (found.length === limit) return { found, nowMs }
      }
    }
    last = page.at(-1) ?? last
    yield* Effect.yieldNow
  }
  return found.length === 0 && last !== null
    ? yield* continueBefore("a review", seen, { before, next: last.seq })
    : { found, nowMs }
})

/** Reads the next reviews, newest first; null where there are no more. */
type Next = () => Effect.Effect<ReadonlyArray<PlacedReview> | null, ReadFault>

/** The place behind the review that a record opened, or behind the next older one; `none` where there is none. */
const placeOf = Effect.fnUntraced(function* (storage: StorageApi, before: number) {
  const [record] = yield* storage.records({ kinds: ["review.opened"], to: before, order: "desc", limit: 1 })
  if (record === undefined) return "none" as const
  const { opened_at_ms: openedAtMs } = yield* bodyOf(record)
  return { openedAtMs: Number(openedAtMs), seq: before } satisfies Place
})

const bodyOf = ({ bytes, seq }: { readonly bytes: Uint8Array; readonly seq: number }) => {
  const read = readRecord(bytes)
  return read.ok
    ? Effect.succeed(read.record.body)
    : Effect.fail(new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` }))
}

/** All reviews, whatever became of them: along the records that opened them. */
const opened = (storage: StorageApi, agentId: string | undefined, before: number | undefined): Next => {
  let to = before === undefined ? null : before - 1
  let isAll = to !== null && to < 0
  return Effect.fnUntraced(function* () {
    if (isAll) return null
    const page = yield* storage.records({
      kinds: ["review.opened"],
      order: "desc",
      limit: CHUNK,
      ...(agentId === undefined ? {} : { agentId }),
      ...(to === null ? {} : { to })
    })
    isAll = page.length < CHUNK
    to = (page.at(-1)?.seq ?? 0) - 1
    const found: Array<PlacedReview> = []
    for (const record of page) {
      const id = String((yield* bodyOf(record))["review_id"])
      const document = yield* storage.get(REVIEWS, id)
      if (document === null) return yield* new StorageCorrupt({ reason: `the review ${id} is not there` })
      found.push({ stored: storedReview(document), seq: record.seq })
    }
    return found
  })
}

const behind =
  (begin: Place | null) =>
  ({ seq, stored: { body } }: PlacedReview): boolean =>
    begin === null || body.openedAtMs < begin.openedAtMs || (body.openedAtMs === begin.openedAtMs && seq < begin.seq)

/** Reviews along a key. */
const along = (
  queue: ReturnType<typeof reviewQueue>,
  range: ReviewRange,
  isBehind: (review: PlacedReview) => boolean
): Next => {
  let left: ReviewRange | null = range
  return Effect.fnUntraced(function* () {
    if (left === null) return null
    const page: QueuePage = yield* queue.newest(left)
    left = page.rest
    return page.found.filter(isBehind)
  })
}

/** Reviews of one status: along their key. What time ended, and the job has not recorded yet, is read beside it. */
const standing = Effect.fnUntraced(function* (
  queue: ReturnType<typeof reviewQueue>,
  status: ReviewStatus,
  {
    agentId = null,
    begin,
    nowMs
  }: { readonly agentId?: string | null | undefined; readonly begin: Place | null; readonly nowMs: number }
) {
  const isBehind = behind(begin)
  let due =
    status === "expired"
      ? (yield* queue.placed(yield* queue.all(reviewsPastEnd(nowMs), (one) => one))).filter(isBehind)
      : []
  const toMs = begin?.openedAtMs ?? null
  let left: ReviewRange | null =
    status === "claimed" ? reviewsClaimed(toMs) : reviewsEnded(status === "open" ? "live" : status, agentId, toMs)
  return Effect.fnUntraced(function* () {
    if (left === null) return null
    const page: QueuePage = yield* queue.newest(left)
    left = page.rest
    const downToMs = left === null ? 0 : page.found.at(-1)!.stored.body.openedAtMs
    const isNow = ({ stored }: PlacedReview): boolean => stored.body.openedAtMs >= downToMs
    const found = [...page.found.filter(isBehind), ...due.filter(isNow)].sort(newestFirst)
    due = due.filter((one) => !isNow(one))
    return found
  }) as Next
})
