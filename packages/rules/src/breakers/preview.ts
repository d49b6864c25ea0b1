/**
 * Previews a breaker over existing records: when it would have tripped, how often, and its value over
 * time. Pure: an auditor runs it over a pack and gets the same.
 */
import type { Slices } from "@flyball/evidence"
import type { AgentFacts, MetricRecord, Params, Reading } from "./metric.ts"
import { metricOf } from "./metrics.ts"

/** A point of the value over time. */
export interface PreviewPoint {
  readonly seq: number
  readonly atMs: number
  readonly value: string
}

/** Result of a preview. */
export interface Preview {
  readonly trips: ReadonlyArray<PreviewPoint & { readonly samples: number }>
  /** Trips in all; {@link MAX_TRIPS} of them are listed. */
  readonly tripCount: number
  readonly values: ReadonlyArray<PreviewPoint>
  /** The first and the last record that were read; null where there was none. */
  readonly fromSeq: number | null
  readonly toSeq: number | null
}

/** Trips that a preview lists. */
export const MAX_TRIPS = 1_000
/** Points of the value that a preview gives, spread over the records. */
export const MAX_POINTS = 200
/** Records between two slices. */
const SLICE = 500

/** The breaker to preview. */
export interface Tried {
  readonly metric: string
  readonly params: Params
  readonly confidenceBp: number
}

/**
 * Tries a breaker out. Each trip is taken for released at once, so that the next window begins at the record that
 * tripped it. The agent counts as active, with its owner: what else a metric needs, records alone do not show over
 * time.
 *
 * Silence trips at the record that ends it, and at `untilMs`. Unit: milliseconds since 1970 UTC. Spec: decision 0044.
 */
export function* previewBreaker(
  { confidenceBp, metric: name, params }: Tried,
  records: ReadonlyArray<MetricRecord>,
  untilMs: number | null = null
): Slices<Preview> {
  const metric = metricOf(name)
  const first = records[0]
  const last = records.at(-1)
  if (metric === null || first === undefined || last === undefined)
    return { trips: [], tripCount: 0, values: [], fromSeq: null, toSeq: null }
  const facts: AgentFacts = { isActive: true, orphanedSinceMs: null, firstBadSeq: null }
  const trips: Array<Preview["trips"][number]> = []
  const values: Array<PreviewPoint> = []
  const every = Math.max(1, Math.ceil(records.length / MAX_POINTS))
  let tripCount = 0
  let fold = metric.start(params, { seq: first.seq - 1, atMs: first.atMs }, confidenceBp)
  const tripped = (seq: number, atMs: number, reading: Reading): void => {
    tripCount++
    if (trips.length < MAX_TRIPS) trips.push({ seq, atMs, value: reading.value, samples: reading.samples })
    fold = metric.start(params, { seq, atMs }, confidenceBp)
  }
  for (const [index, record] of records.entries()) {
    if (index > 0 && index % SLICE === 0) {
      fold.forget(record.atMs)
      yield
    }
    // Silence is over once the record is there: what trips by absence is read just before it.
    if (metric.isAbsence === true && index > 0) {
      const before = fold.read({ ms: record.atMs, seq: record.seq - 1 }, facts)
      if (before.tripped) tripped(record.seq - 1, record.atMs, before)
    }
    fold.add(record)
    const reading = fold.read({ ms: record.atMs, seq: record.seq }, facts)
    if (index % every === 0 || record === last)
      values.push({ seq: record.seq, atMs: record.atMs, value: reading.value })
    if (reading.tripped) tripped(record.seq, record.atMs, reading)
  }
  if (untilMs !== null && untilMs > last.atMs) {
    const reading = fold.read({ ms: untilMs, seq: last.seq }, facts)
    if (reading.tripped) tripped(last.seq, untilMs, reading)
  }
  return { trips, tripCount, values, fromSeq: first.seq, toSeq: last.seq }
}
