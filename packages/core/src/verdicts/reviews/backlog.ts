/** The length of the review queue, and the age of its oldest review. For metrics. */
import { isPastEnd, type ReviewRange, reviewsEnded } from "@flyball/rules"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { reviewQueue } from "./queue.ts"
import type { StoredReview } from "./stored-review.ts"

/** Live reviews whose time is not over. Unit: milliseconds. */
export interface ReviewBacklog {
  readonly open: number
  readonly oldestMs: number
}

/** How long the count of a queue of more than a page stays. */
const COUNTED_FOR = "1 minute"

/** Reads the backlog. Its oldest review is the first of its order; a long queue is counted once a minute. */
export const reviewBacklog = Effect.fnUntraced(function* (
  storage: StorageApi,
  queue: ReturnType<typeof reviewQueue>
): Effect.fn.Return<Effect.Effect<ReviewBacklog, ReadFault>> {
  const live = reviewsEnded("live", null, null)
  const counted = yield* Effect.cachedWithTTL(
    Effect.gen(function* () {
      const { ms } = yield* storage.asOf
      return (yield* queue.all(live, ({ body }) => (isPastEnd(body, ms) ? null : true))).length
    }),
    COUNTED_FOR
  )
  return Effect.gen(function* () {
    const { ms } = yield* storage.asOf
    let first: StoredReview | undefined
    let open = 0
    let isShort = true
    for (let left: ReviewRange | null = live; left !== null && (first === undefined || isShort);) {
      const page: { readonly found: ReadonlyArray<StoredReview>; readonly rest: ReviewRange | null } =
        yield* queue.next(left)
      const waiting = page.found.filter(({ body }) => !isPastEnd(body, ms))
      open += waiting.length
      first ??= waiting[0]
      isShort = page.rest === null
      left = page.rest
    }
    return {
      open: isShort ? open : yield* counted,
      oldestMs: first === undefined ? 0 : Math.max(0, ms - first.body.openedAtMs)
    }
  })
})
