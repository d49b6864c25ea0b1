/** Previews a breaker over an agent's sealed records. */
import type { BreakerPreviewOut } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { haltKinds, type MetricRecord, previewBreaker } from "@flyball/rules"
import { Effect } from "effect"
import { inSlices } from "../../foundation/in-slices.ts"
import { inTurns } from "../../storage/each-record.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import { haltsWithin, readSample } from "./halt-samples.ts"
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
): Effect.fn.Return<Omit<BreakerPreviewOut, "calibration">, ReadFault> {
  const asOf = yield* storage.asOf
  const own = metric.kinds.filter((kind) => !haltKinds.includes(kind))
  const found = yield* recordsOf(storage, agentId, own, asOf.seq, fromSeq)
  const isWhole = found.length < MAX_PREVIEW_RECORDS || fromSeq === null
  const records =
    own.length === metric.kinds.length
      ? found
      : [...found, ...(yield* haltsBeside(storage, agentId, found, asOf.seq, fromSeq ?? 0))].toSorted(
          (a, b) => a.seq - b.seq
        )
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

/** The halts that expect instances of an agent, in the span of its other records where not all of those are read. */
const haltsBeside = (
  storage: StorageApi,
  agentId: string,
  found: ReadonlyArray<MetricRecord>,
  head: number,
  fromSeq: number
): Effect.Effect<ReadonlyArray<MetricRecord>, ReadFault> => {
  const isCut = found.length >= MAX_PREVIEW_RECORDS
  return isCut
    ? haltsWithin(storage, agentId, found[0]!.seq, found.at(-1)!.seq)
    : haltsWithin(storage, agentId, fromSeq, head)
}

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
    yield* inTurns(page, (record) => {
      const sample = readSample(record)
      if (sample instanceof StorageCorrupt) return Effect.fail(sample)
      found.push(sample)
    })
    if (page.length < PAGE) break
    if (order === "desc") to = page.at(-1)!.seq - 1
    else from = page.at(-1)!.seq + 1
    yield* Effect.yieldNow
  }
  return order === "desc" ? found.toReversed() : found
})
