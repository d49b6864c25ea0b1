/**
 * Meters as this process caches them: the book of windows, folded from records as far as they go, and a small document
 * for each meter and key.
 *
 * The document makes two evaluations of one key conflict: one that adds to a window writes it, one that only reads
 * expects it. Spec: design section 3, one clock per verdict; decision 0025.
 */
import { portableCrypto, toHex, utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import { newId } from "../../foundation/ids.ts"
import type { StorageConflict } from "../../storage/faults.ts"
import type { AsOf, DocumentPut, RecordReceipt, StorageApi } from "../../storage/port.ts"
import type { JsonMap } from "@flyball/rules"
import type { FoldCarried } from "./carried-meters.ts"
import { firstWithin, foldInto, readPage } from "./fold-records.ts"
import { WindowBook } from "@flyball/envelope"
import { CLOCK_STEP_MS, foldMeters } from "@flyball/rules"

/** Collection of the documents of meters and keys. Working state: records name windows, not keys. */
export const METERS = "meters"

/** Keys whose documents are remembered. */
const MAX_KEYS = 100_000
/** Number of folded evaluations between two cleanups of past contributions. */
const SWEEP_EVERY = 10_000

/** The document of a meter and key, as it was read or written last. */
interface Known {
  readonly window: string
  version: number
}

/**
 * The next document of one window. `addedAtMs` is when something was added to it last; null where that is not known:
 * such a document stays.
 */
export const windowPut = (
  window: string,
  expectedVersion: number | null,
  key: string,
  addedAtMs: number | null
): DocumentPut => ({
  collection: METERS,
  id: window,
  expectedVersion,
  body: addedAtMs === null ? { key } : { key, added_at_ms: addedAtMs },
  unique: { key }
})

/**
 * The look-up key of a meter and key. `owner` is the envelope it belongs to; it is drawn at random, so that the key
 * reveals nothing to anyone who does not have it.
 */
export const meterKey = (trial: boolean, owner: string, meter: string, key: string): string =>
  toHex(portableCrypto.sha256(utf8(`flyball/v1 meter\0${trial ? "shadow" : "live"}\0${owner}\0${meter}\0${key}`)))

/** Keeps them. For one caller at a time. `carried` folds what the chains before this one gave. */
export const meterKeeper = (storage: StorageApi, carried: FoldCarried) => {
  const known = new Map<string, Known>()
  /** Keys by what they are made of: each evaluation names its own twice. */
  const keys = new Map<string, string>()
  let book = new WindowBook()
  let folded = -1
  let horizonMs = 0
  let sinceSweep = 0

  return {
    /** Folds what was recorded since, and from further back where a window reaches further than any before. */
    catchUp: Effect.fnUntraced(function* (asOf: AsOf, reachMs: number) {
      if (reachMs > horizonMs) {
        const first = yield* firstWithin(storage, asOf, reachMs)
        const begun = new WindowBook()
        // Only a window that holds record 0 reaches past it.
        if (first === 0) yield* carried(begun, asOf, reachMs)
        folded = first - 1
        horizonMs = reachMs
        book = begun
      }
      while (folded < asOf.seq) {
        const page = yield* readPage(storage, folded + 1, asOf.seq)
        folded = foldInto(book, page)
        sinceSweep += page.records.length
      }
      if (sinceSweep > SWEEP_EVERY) {
        sinceSweep = 0
        book.forget(asOf.ms - horizonMs - CLOCK_STEP_MS)
      }
    }),
    /** Folds what this process committed itself, where nobody wrote in between; else the next read finds it. */
    committed: (
      records: ReadonlyArray<{ readonly kind: string; readonly body: JsonMap }>,
      receipts: ReadonlyArray<RecordReceipt>
    ): void => {
      if (receipts.some(({ duplicate, seq }, place) => duplicate || seq !== folded + 1 + place)) return
      records.forEach((record, place) => foldMeters(book, { ...record, seq: receipts[place]!.seq }))
      folded += receipts.length
      sinceSweep += receipts.length
    },
    /**
     * Looks up the documents of these keys; answers whether any was not known before. A key without one gets a window
     * of its own, which its first commit makes.
     */
    learn: Effect.fnUntraced(function* (keys: ReadonlySet<string>) {
      let isNew = false
      if (known.size > MAX_KEYS) known.clear()
      for (const key of keys) {
        if (known.has(key)) continue
        isNew = true
        const [document] = yield* storage.find(METERS, "key", key)
        known.set(
          key,
          document === undefined
            ? { window: yield* newId("mtr"), version: 0 }
            : { window: document.id, version: document.version }
        )
      }
      return isNew
    }),
    keyOf: (trial: boolean, owner: string, meter: string, key: string): string => {
      const parts = `${trial ? "shadow" : "live"}\0${owner}\0${meter}\0${key}`
      const made = keys.get(parts)
      if (made !== undefined) return made
      if (keys.size >= MAX_KEYS) keys.clear()
      const digest = meterKey(trial, owner, meter, key)
      keys.set(parts, digest)
      return digest
    },
    of: (key: string): Known | undefined => known.get(key),
    window: (window: string, windowMs: number, atMs: number) => book.state(window, windowMs, atMs),
    latestMs: (window: string): number => book.latestMs(window),
    /** Forgets what a conflict proved wrong. */
    invalidate: ({ conflicts }: StorageConflict): void => {
      for (const conflict of conflicts) {
        if (conflict._tag === "Unique" && conflict.collection === METERS) known.delete(conflict.value)
        if (conflict._tag !== "Version" || conflict.collection !== METERS) continue
        for (const [key, { window }] of known) if (window === conflict.id) known.delete(key)
      }
    },
    /** Takes down that these keys' documents were put. */
    put: (keys: Iterable<string>): void => {
      for (const key of keys) {
        const one = known.get(key)
        if (one !== undefined) one.version++
      }
    }
  }
}

/** Meters as this process caches them. */
export type MeterKeeper = ReturnType<typeof meterKeeper>
