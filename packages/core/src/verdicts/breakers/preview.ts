/** What a breaker would have done over an agent's sealed records. */
import type { BreakerPreviewOut } from "@flyball/contract"
import { formatInstant, readRecord } from "@flyball/evidence"
import { type MetricRecord, previewBreaker } from "@flyball/rules"
import { Effect } from "effect"
import { inSlices } from "../../in-slices.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { JsonObject, ReadFault, StorageApi } from "../../storage/port.ts"
import type { MeasuredBy } from "./read-input.ts"

/** Records that a preview reads at most. */
export const MAX_PREVIEW_RECORDS = 20_000
const PAGE = 1_000

/** Tries a breaker out over the last records of an agent that its metric reads, or over those from `fromSeq` on. */
export const previewOver = Effect.fnUntraced(function* (
  storage: StorageApi,
  agentId: string,
  { confidenceBp, metric, params }: MeasuredBy,
  fromSeq: number | null
): Effect.fn.Return<BreakerPreviewOut, ReadFault> {
  const asOf = yield* storage.asOf
  const records = yield* recordsOf(storage, agentId, metric.kinds, asOf.seq, fromSeq)
  const isWhole = records.length < MAX_PREVIEW_RECORDS || fromSeq === null
  const { trips, values, ...preview } = yield* inSlices(
    previewBreaker({ metric: metric.name, params, confidenceBp }, records, isWhole ? asOf.ms : null)
  )
  return {
    trips: trips.map(({ atMs, samples, seq, value }) => ({ seq, at: formatInstant(atMs), value, samples })),
    trip_count: preview.tripCount,
    values: values.map(({ atMs, seq, value }) => ({ seq, at: formatInstant(atMs), value })),
    from_seq: preview.fromSeq,
    to_seq: preview.toSeq
  }
})

const recordsOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  agentId: string,
  kinds: ReadonlyArray<string>,
  head: number,
  fromSeq: number | null
): Effect.fn.Return<ReadonlyArray<MetricRecord>, ReadFault> {
  const found: Array<MetricRecord> = []
  if (kinds.length === 0 || head < 0) return found
  const order = fromSeq === null ? ("desc" as const) : ("asc" as const)
  let [from, to] = [fromSeq ?? 0, head]
  while (found.length < MAX_PREVIEW_RECORDS && from <= to) {
    const page = yield* storage.records({ agentId, kinds, from, to, order, limit: PAGE })
    for (const { atMs, bytes, kind, seq } of page) {
      const read = readRecord(bytes)
      if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
      found.push({ seq, atMs, kind, body: read.record.body as JsonObject })
    }
    if (page.length < PAGE) break
    if (order === "desc") to = page.at(-1)!.seq - 1
    else from = page.at(-1)!.seq + 1
    yield* Effect.yieldNow
  }
  return order === "desc" ? found.toReversed() : found
})
