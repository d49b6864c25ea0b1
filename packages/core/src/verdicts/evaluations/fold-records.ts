/** Folds stored records that touch meters into a book, as far back as a window reaches. */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import type { JsonMap, WindowBook } from "@flyball/rules"
import { inTurns } from "../../storage/each-record.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { AsOf, ReadFault, StorageApi } from "../../storage/port.ts"
import { foldMeters, meterKinds, numberedBefore } from "@flyball/rules"

/** Records read at a time. */
const PAGE = 1_000

/**
 * A record's own time may lie this much before that of its evaluation, where a clock stepped back. Unit:
 * milliseconds.
 */
export const CLOCK_STEP_MS = 60_000

/**
 * The first record of a chain that a window of this length may still hold at a time. `seq` is the chain's head. Units:
 * milliseconds.
 */
export const firstWithin = Effect.fnUntraced(function* (
  storage: StorageApi,
  { ms, seq }: AsOf,
  reachMs: number
): Effect.fn.Return<number, ReadFault> {
  let low = 0
  for (let high = seq + 1; low < high;) {
    const middle = (low + high) >>> 1
    const record = yield* storage.record(middle)
    if (record === null)
      return yield* new StorageCorrupt({ reason: `record ${middle} is missing below the head at ${seq}` })
    if (record.atMs <= ms - reachMs - CLOCK_STEP_MS) low = middle + 1
    else high = middle
  }
  return low
})

/**
 * Folds the next records from `from` on, on the way to `to`; answers how many there were, and the last one that is
 * finished. `before`: see {@link numberedBefore}.
 */
export const foldPage = Effect.fnUntraced(function* (
  storage: StorageApi,
  book: WindowBook,
  from: number,
  to: number,
  before = 0
): Effect.fn.Return<{ readonly folded: number; readonly count: number }, ReadFault> {
  const page = yield* storage.records({ kinds: meterKinds, from, limit: PAGE })
  const records: Array<Parameters<typeof foldMeters>[1]> = []
  yield* inTurns(page, ({ bytes, kind, seq }) => {
    const read = readRecord(bytes)
    if (!read.ok) return Effect.fail(new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` }))
    records.push(numberedBefore({ seq, kind, body: read.record.body as JsonMap }, before))
  })
  // The whole page or nothing of it: where this ends at a fault or an interrupt, the same page is folded again.
  for (const record of records) foldMeters(book, record)
  return { folded: page.length < PAGE ? Math.max(to, page.at(-1)?.seq ?? 0) : page.at(-1)!.seq, count: page.length }
})
