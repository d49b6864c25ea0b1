/**
 * Long stretches of records, folded on the host's thread: a slice in each turn of its event loop. Whatever folds pages
 * of records in the background reads them with this.
 */
import { Effect } from "effect"
import type { ReadFault, RecordQuery, StorageApi, StoredRecord } from "./port.ts"

/** Records read at a time, where a caller wants no other number. */
const PAGE = 500
/**
 * Records handled between two turns: to read one and to fold it takes 5 to 20 microseconds, so that a slice is about a
 * millisecond's work.
 */
export const RECORDS_A_TURN = 64

/** Work with one record: done at once, or an effect where it needs more than the record. */
export type Take<A, E> = (one: A) => Effect.Effect<unknown, E> | undefined | void

/** Hands a page of records on, one after the other, and lets everybody else have a turn after each slice. */
export const inTurns = Effect.fnUntraced(function* <A, E = never>(
  page: ReadonlyArray<A>,
  take: Take<A, E>
): Effect.fn.Return<void, E> {
  let sinceTurn = 0
  for (const record of page) {
    const more = take(record)
    if (Effect.isEffect(more)) yield* more
    if (++sinceTurn < RECORDS_A_TURN) continue
    sinceTurn = 0
    yield* Effect.yieldNow
  }
})

/**
 * Reads the records of a query by seq, page by page, and hands each to `take`. Memory holds one page. Others have their
 * turn between two slices: what the caller shares with them is to be as they may find it after any record.
 */
export const eachRecord = Effect.fnUntraced(function* <E = never>(
  storage: StorageApi,
  query: Pick<RecordQuery, "agentId" | "kinds"> & { readonly from: number; readonly to: number },
  take: Take<StoredRecord, E>,
  limit = PAGE
): Effect.fn.Return<void, E | ReadFault> {
  for (let from = query.from; from <= query.to;) {
    const page = yield* storage.records({ ...query, from, limit })
    yield* inTurns(page, take)
    if (page.length < limit) return
    from = page.at(-1)!.seq + 1
    yield* Effect.yieldNow
  }
})
