/**
 * The chain in segments of equal length, each with the sums of its records and what is open behind it.
 *
 * A segment is folded once and kept as working state: any process makes the same of the same records. A window of any
 * length then costs one document for each segment in it, and at most two segments of records at its ends. Spec:
 * decision 0049.
 */
import { readRecord, toHex } from "@flyball/evidence"
import {
  foldUsage,
  type JsonMap,
  settledDecision,
  type StatedUsage,
  telemetryKinds,
  UsageState,
  UsageTotals
} from "@flyball/rules"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { JsonObject, ReadFault, StorageApi, StoredRecord } from "../../storage/port.ts"

/** Records of a segment. */
export const SEGMENT = 16_384
/** Collection of the segments. Working state: they follow from the records. */
export const USAGE_SEGMENTS = "usage_segments"
/** Version of what a segment holds. Another one is folded anew. */
const VERSION = 1
/** Records read at a time. */
const PAGE = 500
/** Documents read at a time. */
const SEGMENTS_PAGE = 32

/** The sums of a stretch, and what is open behind it. */
export interface FoldedUsage {
  readonly totals: UsageTotals
  readonly state: UsageState
}

/** The segments of one store. One for each service; one caller at a time. */
export const usageSegments = (storage: StorageApi, originTag: Uint8Array, size = SEGMENT) => {
  const idOf = (index: number): string => `${VERSION}-${toHex(originTag)}-${String(index).padStart(12, "0")}`
  /** Segments that are known to be kept, from the first on. */
  let kept = 0

  const bodyOf = ({ bytes, seq }: StoredRecord): Effect.Effect<JsonMap, StorageCorrupt> => {
    const read = readRecord(bytes)
    return read.ok
      ? Effect.succeed(read.record.body as JsonMap)
      : Effect.fail(new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` }))
  }

  /** The decision of a settlement: among those just folded, or else read by itself. */
  const decisionOf = Effect.fnUntraced(function* (
    settlement: JsonMap,
    folded: ReadonlyMap<number, JsonMap>
  ): Effect.fn.Return<StatedUsage | null, ReadFault> {
    const seq = Number(settlement["decision_seq"])
    if (settlement["usage"] === undefined || !Number.isSafeInteger(seq) || seq < 0) return null
    const known = folded.get(seq)
    if (known !== undefined) return settledDecision(settlement, { kind: "decision.witnessed", body: known })
    const record = yield* storage.record(seq)
    return record === null ? null : settledDecision(settlement, { kind: record.kind, body: yield* bodyOf(record) })
  })

  /** Folds the records from `from` up to `end`, exclusive, into `state`; and into `totals` from `countFrom` on. */
  const foldRange = Effect.fnUntraced(function* (
    { state, totals }: FoldedUsage,
    from: number,
    end: number,
    countFrom: number
  ): Effect.fn.Return<void, ReadFault> {
    const decisions = new Map<number, JsonMap>()
    const before = new UsageTotals()
    for (let at = from; at < end;) {
      const page = yield* storage.records({ kinds: telemetryKinds, from: at, to: end - 1, limit: PAGE })
      for (const record of page) {
        const body = yield* bodyOf(record)
        const { kind, seq } = record
        if (kind === "decision.witnessed") decisions.set(seq, body)
        const decision = kind === "decision.settled" ? yield* decisionOf(body, decisions) : null
        foldUsage(state, seq < countFrom ? before : totals, { kind, body }, record.atMs, decision)
      }
      at = page.length < PAGE ? end : page.at(-1)!.seq + 1
      yield* Effect.yieldNow
    }
  })

  const stateBefore = Effect.fnUntraced(function* (index: number): Effect.fn.Return<UsageState, ReadFault> {
    if (index === 0) return new UsageState()
    const document = yield* storage.get(USAGE_SEGMENTS, idOf(index - 1))
    if (document === null) return yield* lost(index - 1)
    return new UsageState(document.body["state"] as JsonMap)
  })

  const lost = (index: number) => new StorageCorrupt({ reason: `segment ${index} of the usage was kept, and is gone` })

  /** How many segments are kept: they are made one after the other, so that none is missing between two. */
  const countKept = Effect.fnUntraced(function* (complete: number): Effect.fn.Return<number, ReadFault> {
    let high = complete
    for (let low = kept; low < high;) {
      const middle = Math.ceil((low + high) / 2)
      if ((yield* storage.get(USAGE_SEGMENTS, idOf(middle - 1))) === null) high = middle - 1
      else low = middle
    }
    kept = Math.max(kept, high)
    return kept
  })

  return {
    /**
     * Folds segments of a chain of `length` records that are not kept yet, `most` of them at most; answers how many
     * are still missing.
     */
    rollUp: Effect.fnUntraced(function* (length: number, most: number): Effect.fn.Return<number, ReadFault> {
      const complete = Math.floor(length / size)
      if (kept >= complete) return 0
      let next = yield* countKept(complete)
      if (next === complete) return 0
      const state = yield* stateBefore(next)
      for (const last = Math.min(complete, next + most); next < last; next++) {
        const totals = new UsageTotals()
        yield* foldRange({ state, totals }, next * size, (next + 1) * size, next * size)
        const body = { state: state.toJson(), totals: totals.toJson() } as JsonObject
        yield* storage
          .commit({ puts: [{ collection: USAGE_SEGMENTS, id: idOf(next), expectedVersion: 0, body }] })
          // Another process kept the same.
          .pipe(Effect.catchTag("StorageConflict", () => Effect.void))
        kept = next + 1
      }
      return complete - next
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
      while (whole < last) {
        const limit = Math.min(SEGMENTS_PAGE, last - whole)
        const after = whole === 0 ? `${VERSION}-${toHex(originTag)}-` : idOf(whole - 1)
        const page = yield* storage.list(USAGE_SEGMENTS, { after, limit })
        for (const { body, id } of page) {
          if (id !== idOf(whole)) return yield* lost(whole)
          totals.add(UsageTotals.of(body["totals"] as JsonMap))
          whole++
          yield* Effect.yieldNow
        }
        if (page.length < limit) return yield* lost(whole)
      }
      const state = yield* stateBefore(last)
      yield* foldRange({ state, totals }, last * size, end, last * size)
      return { state, totals }
    })
  }
}
