/** Which records of the tree were made in a span of time: what a range pack of a month holds. */
import type { PackRequest } from "@flyball/contract"
import { parseInstant } from "@flyball/evidence"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/** The first record of a span, and the first one behind it. Equal where the span holds none. */
export interface SeqSpan {
  readonly first: number
  readonly end: number
}

/**
 * The span between `since` (inclusive) and `until` (exclusive) of a request; an absent or invalid time is no bound. No
 * record is dated before an earlier one, so two searches of some 30 reads each find it.
 */
export const seqsBetween = (
  storage: StorageApi,
  { since, until }: Pick<PackRequest, "since" | "until">,
  treeSize: number
): Effect.Effect<SeqSpan, ReadFault> => {
  const firstFrom = Effect.fnUntraced(function* (text: string | null | undefined, absent: number) {
    const atMs = text === null || text === undefined ? null : parseInstant(text)
    if (atMs === null) return absent
    let [low, high] = [0, treeSize]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const record = yield* storage.record(middle)
      if (record !== null && record.atMs < atMs) low = middle + 1
      else high = middle
    }
    return low
  })
  return Effect.all({ first: firstFrom(since, 0), end: firstFrom(until, treeSize) })
}
