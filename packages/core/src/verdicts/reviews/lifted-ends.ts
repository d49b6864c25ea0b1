/** Live reviews that a halt ended which was released since: that end is not on record yet. */
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { readLifted } from "../kill/lifted.ts"
import { reviewQueue } from "./queue.ts"
import type { StoredReview } from "./stored-review.ts"

/**
 * Reads which halt ended each of these live reviews, by the review's id: one that reached its agent at its release, and
 * was released behind the record that opened the review. Others are left out.
 */
export const liftedEnds = Effect.fnUntraced(function* (
  storage: StorageApi,
  reviews: ReadonlyArray<StoredReview>
): Effect.fn.Return<ReadonlyMap<string, string>, ReadFault> {
  const live = reviews.filter(({ body }) => body.ended === null)
  const lifted = live.length === 0 ? [] : yield* readLifted(storage)
  const reached = live.filter(({ body }) => lifted.some(({ agents }) => agents.has(body.agentId)))
  if (reached.length === 0) return new Map()
  const seqs = yield* reviewQueue(storage).seqsOf(reached.map(({ id }) => id))
  return new Map(
    reached.flatMap(({ body, id }): ReadonlyArray<readonly [string, string]> => {
      // A review of a chain before this one has no record here.
      const opened = seqs.get(id)
      const halt = lifted.find(
        ({ agents, releasedAtMs, seq }) =>
          agents.has(body.agentId) &&
          (seq === null ? opened === undefined && body.openedAtMs <= releasedAtMs : (opened ?? -1) < seq)
      )
      return halt === undefined ? [] : [[id, halt.activationId]]
    })
  )
})
