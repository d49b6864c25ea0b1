/** Folds stored records that touch meters into a book, as far back as a window reaches. */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import type { WindowBook } from "@flyball/envelope"
import type { JsonMap } from "@flyball/rules"
import { inTurns } from "../../storage/each-record.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { AsOf, ReadFault, StorageApi } from "../../storage/port.ts"
import { CLOCK_STEP_MS, foldMeters, meterKinds, numberedBefore } from "@flyball/rules"

/** Records read at a time. */
const PAGE = 1_000

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

/** A page of records to fold. `folded`: the last record that is finished once they are. */
export interface MeterPage {
  readonly records: ReadonlyArray<Parameters<typeof foldMeters>[1]>
  readonly folded: number
}

/**
 * Reads the next records from `from` on, on the way to `to`. It folds nothing: who does, with {@link foldInto}, takes
 * `folded` in the same step. `before`: see {@link numberedBefore}.
 */
export const readPage = Effect.fnUntraced(function* (
  storage: StorageApi,
  from: number,
  to: number,
  before = 0
): Effect.fn.Return<MeterPage, ReadFault> {
  const page = yield* storage.records({ kinds: meterKinds, from, limit: PAGE })
  const records: Array<MeterPage["records"][number]> = []
  yield* inTurns(page, ({ bytes, kind, seq }) => {
    const read = readRecord(bytes)
    if (!read.ok) return Effect.fail(new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` }))
    records.push(numberedBefore({ seq, kind, body: read.record.body as JsonMap }, before))
  })
  return { records, folded: page.length < PAGE ? Math.max(to, page.at(-1)?.seq ?? 0) : page.at(-1)!.seq }
})

/**
 * Folds a page into a book, and answers the last record that is finished. No effect: between the two nothing can end
 * the caller, who would fold the page again.
 */
export const foldInto = (book: WindowBook, { folded, records }: MeterPage): number => {
  for (const record of records) foldMeters(book, record)
  return folded
}
