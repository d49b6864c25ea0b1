/**
 * The chain in segments of equal length, each with the sums of its records and what is open behind it.
 *
 * A segment is folded once and kept as working state: any process makes the same of the same records. The sums of
 * {@link FAN} segments side by side are kept as one of the level above, and so on. A window of any length then costs at
 * most two segments of records at its ends, and a document for each segment in it of the highest level that fits: their
 * number grows with the logarithm of the window. Spec: decision 0051.
 */
import { readRecord, toHex } from "@flyball/evidence"
import {
  foldUsage,
  type JsonMap,
  settledDecision,
  type StatedUsage,
  telemetryKinds,
  UnsettledDecisions,
  UsageState,
  UsageTotals
} from "@flyball/rules"
import { Effect } from "effect"
import { inSlices } from "../../foundation/in-slices.ts"
import { eachRecord } from "../../storage/each-record.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { JsonObject, ReadFault, StorageApi, StoredRecord } from "../../storage/port.ts"

/** Records of a segment. */
export const SEGMENT = 16_384
/** Collection of the segments. Working state: they follow from the records. */
export const USAGE_SEGMENTS = "usage_segments"
/** Version of what a segment holds. Another one is folded again. */
const VERSION = 2
/** Segments of one level that are one of the next. */
const FAN = 16
/** Documents read at a time. */
const SEGMENTS_PAGE = 8
/** Levels above the first. The highest holds 16,384 times 16 times 16 times 16 records: 67 million. */
const LEVELS = 3

/** The sums of a stretch, and what is open behind it. */
export interface FoldedUsage {
  readonly totals: UsageTotals
  readonly state: UsageState
}

/** The segments of one store. One for each service; one caller at a time. */
export const usageSegments = (storage: StorageApi, originTag: Uint8Array, size = SEGMENT, fan = FAN) => {
  const prefixOf = (level: number): string => `${VERSION}-${toHex(originTag)}-${level === 0 ? "" : `level${level}-`}`
  const idOf = (index: number, level = 0): string => `${prefixOf(level)}${String(index).padStart(12, "0")}`
  /** Segments of each level that are known to be kept, from the first on. */
  const kept = Array.from({ length: LEVELS + 1 }, () => 0)

  const bodyOf = ({ bytes, seq }: StoredRecord): JsonMap | StorageCorrupt => {
    const read = readRecord(bytes)
    return read.ok
      ? (read.record.body as JsonMap)
      : new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
  }

  /** Usage that the decision of a settlement stated, where it is before the folded records. */
  const decisionBefore = Effect.fnUntraced(function* (
    settlement: JsonMap
  ): Effect.fn.Return<StatedUsage | null, ReadFault> {
    const record = yield* storage.record(Number(settlement["decision_seq"]))
    if (record === null) return null
    const body = bodyOf(record)
    return body instanceof StorageCorrupt ? yield* body : settledDecision(settlement, { kind: record.kind, body })
  })

  /** Folds the records from `from` up to `end`, exclusive, into `state`; and into `totals` from `countFrom` on. */
  const foldRange = Effect.fnUntraced(function* (
    { state, totals }: FoldedUsage,
    from: number,
    end: number,
    countFrom: number
  ): Effect.fn.Return<void, ReadFault> {
    const decisions = new UnsettledDecisions()
    const before = new UsageTotals()
    yield* eachRecord<ReadFault>(storage, { kinds: telemetryKinds, from, to: end - 1 }, (record) => {
      const body = bodyOf(record)
      if (body instanceof StorageCorrupt) return Effect.fail(body)
      const { atMs, kind, seq } = record
      const sums = seq < countFrom ? before : totals
      const stated = decisions.take({ kind, seq, body })
      const decisionSeq = Number(body["decision_seq"])
      const liesBefore =
        kind === "decision.settled" &&
        body["usage"] !== undefined &&
        Number.isSafeInteger(decisionSeq) &&
        decisionSeq >= 0 &&
        decisionSeq < from
      if (!liesBefore) return void foldUsage(state, sums, { kind, body }, atMs, stated)
      return Effect.map(decisionBefore(body), (decision) => foldUsage(state, sums, { kind, body }, atMs, decision))
    })
  })

  const stateBefore = Effect.fnUntraced(function* (index: number): Effect.fn.Return<UsageState, ReadFault> {
    if (index === 0) return new UsageState()
    const document = yield* storage.get(USAGE_SEGMENTS, idOf(index - 1))
    if (document === null) return yield* lost(index - 1)
    return new UsageState(document.body["state"] as JsonMap)
  })

  const lost = (index: number) =>
    new StorageCorrupt({ reason: `segment ${index} of the usage was stored, and is missing` })

  /** How many segments of a level are kept: they are made one after the other, so that none is missing between two. */
  const countKept = Effect.fnUntraced(function* (complete: number, level = 0): Effect.fn.Return<number, ReadFault> {
    let high = complete
    for (let low = kept[level]!; low < high;) {
      const middle = Math.ceil((low + high) / 2)
      if ((yield* storage.get(USAGE_SEGMENTS, idOf(middle - 1, level))) === null) high = middle - 1
      else low = middle
    }
    kept[level] = Math.max(kept[level]!, high)
    return kept[level]!
  })

  const keep = Effect.fnUntraced(function* (index: number, level: number, body: JsonObject) {
    yield* storage
      .commit({ puts: [{ collection: USAGE_SEGMENTS, id: idOf(index, level), expectedVersion: 0, body }] })
      // Another process kept the same.
      .pipe(Effect.catchTag("StorageConflict", () => Effect.void))
    kept[level] = index + 1
  })

  /**
   * Adds the sums of `count` segments of a level, from `first` on. A list and not one after the other: what a store
   * keeps near of documents is for smaller ones.
   */
  const addKept = Effect.fnUntraced(function* (
    totals: UsageTotals,
    level: number,
    first: number,
    count: number
  ): Effect.fn.Return<void, ReadFault> {
    for (let index = first; index < first + count;) {
      const limit = Math.min(SEGMENTS_PAGE, first + count - index)
      const after = index === 0 ? prefixOf(level) : idOf(index - 1, level)
      const page = yield* storage.list(USAGE_SEGMENTS, { after, limit })
      if (page.length < limit) return yield* lost(index + page.length)
      for (const { body, id } of page) {
        if (id !== idOf(index, level)) return yield* lost(index)
        yield* inSlices(totals.addStored(body["totals"] as JsonMap))
        index++
        yield* Effect.yieldNow
      }
    }
  })

  return {
    /**
     * Folds segments of a chain of `length` records that are not kept yet, `most` of them at most; answers how many
     * are still missing.
     */
    rollUp: Effect.fnUntraced(function* (length: number, most: number): Effect.fn.Return<number, ReadFault> {
      const complete = Math.floor(length / size)
      if (kept[0]! >= complete) return 0
      let next = yield* countKept(complete)
      if (next === complete) return 0
      if (most === 0) return complete - next
      const state = yield* stateBefore(next)
      for (const last = Math.min(complete, next + most); next < last; next++) {
        const totals = new UsageTotals()
        yield* foldRange({ state, totals }, next * size, (next + 1) * size, next * size)
        yield* keep(next, 0, { state: state.toJson(), totals: totals.toJson() } as JsonObject)
      }
      return complete - next
    }),
    /**
     * Joins segments of levels above the first that are complete and not kept yet, `most` of them at most; answers how
     * many are still missing. A window is answered without them too, from more documents.
     */
    join: Effect.fnUntraced(function* (most: number): Effect.fn.Return<number, ReadFault> {
      let [left, missing] = [most, 0]
      for (let level = 1; level <= LEVELS; level++) {
        const complete = Math.floor(kept[level - 1]! / fan)
        let next = yield* countKept(complete, level)
        for (; next < complete && left > 0; next++, left--) {
          const totals = new UsageTotals()
          yield* addKept(totals, level - 1, next * fan, fan)
          yield* keep(next, level, { totals: totals.toJson() } as JsonObject)
        }
        missing += complete - next
      }
      return missing
    }),
    /** The sums of the records from `first` up to `end`, exclusive. Needs all complete segments before `end`. */
    between: Effect.fnUntraced(function* (first: number, end: number): Effect.fn.Return<FoldedUsage, ReadFault> {
      const totals = new UsageTotals()
      const [begun, last] = [Math.floor(first / size), Math.floor(end / size)]
      if (begun === last) {
        const state = yield* stateBefore(begun)
        yield* foldRange({ state, totals }, begun * size, end, first)
        return { state, totals }
      }
      let whole = begun
      if (first > begun * size) {
        yield* foldRange({ state: yield* stateBefore(begun), totals }, begun * size, (begun + 1) * size, first)
        whole++
      }
      for (let level = 1; level <= LEVELS; level++) yield* countKept(Math.floor(last / fan ** level), level)
      while (whole < last) {
        let level = LEVELS
        while (level > 0 && !fits(whole, last, fan ** level, kept[level]!)) level--
        const width = fan ** level
        const isHigher = (at: number): boolean => level < LEVELS && fits(at, last, width * fan, kept[level + 1]!)
        let run = 1
        // Side by side of one level, up to where the next one fits.
        for (let at = whole + width; fits(at, last, width, kept[level]!) && !isHigher(at); at += width) run++
        yield* addKept(totals, level, whole / width, run)
        whole += run * width
      }
      const state = yield* stateBefore(last)
      yield* foldRange({ state, totals }, last * size, end, last * size)
      return { state, totals }
    })
  }
}

/** Reports whether a segment of so many of the first level begins at `whole`, ends by `last` and is kept. */
const fits = (whole: number, last: number, width: number, kept: number): boolean =>
  whole % width === 0 && whole + width <= last && whole / width < kept
