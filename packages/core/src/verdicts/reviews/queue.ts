/** Reads reviews in the orders of their keys, a page at a time: the cost is that of what is read. */
import { REVIEW_SCOPE, reviewKeys, type ReviewRange, REVIEWS } from "@flyball/rules"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { type StoredReview, storedReview } from "./stored-review.ts"

/** Reviews read at a time. */
const PAGE = 250
/** Keys looked up at a time. */
const KEYS = 500

/** A review, and the seq of the record that opened it. */
export interface PlacedReview {
  readonly stored: StoredReview
  readonly seq: number
}

/** The next reviews of a range, and what is left of it; null where these are all. */
export interface QueuePage {
  readonly found: ReadonlyArray<PlacedReview>
  readonly rest: ReviewRange | null
}

/** Orders reviews newest first: by when they were opened, and within a millisecond by their records. */
export const newestFirst = (a: PlacedReview, b: PlacedReview): number =>
  b.stored.body.openedAtMs - a.stored.body.openedAtMs || b.seq - a.seq

/** Readers of the reviews in a store. */
export const reviewQueue = (storage: StorageApi) => {
  const read = ({ after, before, key }: ReviewRange, order: "asc" | "desc", limit: number) =>
    Effect.map(storage.range(REVIEWS, key, { after, before, order, limit }), (found) => found.map(storedReview))

  const valueOf = ({ body, id }: StoredReview, { key }: ReviewRange): string => reviewKeys(id, body)[key]!

  /** The records that opened these reviews. */
  const seqsOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    const seqs = new Map<string, number>()
    for (let at = 0; at < ids.length; at += KEYS)
      for (const { key, seq } of yield* storage.once(REVIEW_SCOPE, ids.slice(at, at + KEYS))) seqs.set(key, seq)
    return seqs
  })

  const placed = Effect.fnUntraced(function* (reviews: ReadonlyArray<StoredReview>) {
    const seqs = yield* seqsOf(reviews.map(({ id }) => id))
    return reviews.map((stored): PlacedReview => ({ stored, seq: seqs.get(stored.id) ?? -1 })).sort(newestFirst)
  })

  /**
   * The next reviews of a range, newest first. All that were opened in one millisecond come in one page, since their
   * keys do not say in which order.
   */
  const newest = Effect.fnUntraced(function* (range: ReviewRange): Effect.fn.Return<QueuePage, ReadFault> {
    const found: Array<StoredReview> = []
    for (let left = range; ;) {
      const page = yield* read(left, "desc", PAGE)
      found.push(...page)
      if (page.length < PAGE) return { found: yield* placed(found), rest: null }
      const last = page.at(-1)!
      const whole = found.filter(({ body }) => body.openedAtMs > last.body.openedAtMs)
      if (whole.length > 0)
        return { found: yield* placed(whole), rest: { ...range, before: valueOf(whole.at(-1)!, range) } }
      left = { ...range, before: valueOf(last, range) }
    }
  })

  /** The next reviews of a range in the order of its key, and what is left of it; null where these are all. */
  const next = Effect.fnUntraced(function* (range: ReviewRange) {
    const found = yield* read(range, "asc", PAGE)
    const rest = found.length < PAGE ? null : { ...range, after: valueOf(found.at(-1)!, range) }
    return { found, rest }
  })

  /** All reviews of a range in the order of its key, each as `show` makes it; null is left out. */
  const all = Effect.fnUntraced(function* <A>(range: ReviewRange, show: (review: StoredReview) => A | null) {
    const shown: Array<A> = []
    for (let left: ReviewRange | null = range; left !== null;) {
      const { found, rest }: { readonly found: ReadonlyArray<StoredReview>; readonly rest: ReviewRange | null } =
        yield* next(left)
      for (const one of found) {
        const made = show(one)
        if (made !== null) shown.push(made)
      }
      left = rest
    }
    return shown
  })

  return { all, newest, next, placed, seqsOf }
}
