/**
 * Contributions to meters before a recovery. Their windows continue, so amounts spent under the old name count under
 * the new one.
 *
 * The contributions stay in the records of the retired chain. Where that chain is gone, the contents of its windows are
 * unknown, and nothing that is metered is decided until all of them have passed. Spec: decision 0010.
 */
import type { Crypto, Previous } from "@flyball/evidence"
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { readPrevious } from "../../chain/read-previous.ts"
import { type RetiredChain, retiredChainsOf } from "../../chain/retired-chains.ts"
import { withRetired } from "../../chain/with-retired.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import type { AsOf, ReadFault, StorageApi } from "../../storage/port.ts"
import type { Retirement } from "../../storage/retirement.ts"
import { firstWithin, foldInto, readPage } from "./fold-records.ts"
import type { WindowBook } from "@flyball/envelope"
import { CLOCK_STEP_MS } from "@flyball/rules"

/** Folds what the chains before this one gave to windows of `reachMs`. */
export type FoldCarried = (book: WindowBook, asOf: AsOf, reachMs: number) => Effect.Effect<void, ReadFault>

/**
 * Reads the chains before the one in `storage`.
 *
 * - Fails: `StorageUnavailable` where one that windows reach back into is not beside the store, or is not the one that
 *   this chain follows.
 */
export const foldCarried = (storage: StorageApi, crypto: Crypto, retired: Retirement["retired"]): FoldCarried =>
  Effect.fnUntraced(function* (book, asOf, reachMs) {
    const previous = yield* readPrevious(storage, crypto)
    if (previous === null || previous.storedSize === 0) return
    const untilMs = (yield* storage.record(0))!.atMs + reachMs + CLOCK_STEP_MS
    yield* foldChain(
      crypto,
      { book, chains: yield* Effect.flatMap(retired, retiredChainsOf), nowMs: asOf.ms, reachMs, untilMs },
      previous,
      0
    )
  })

interface Folding {
  readonly book: WindowBook
  readonly chains: ReadonlyArray<RetiredChain>
  readonly nowMs: number
  readonly reachMs: number
  /** When the windows have passed. */
  readonly untilMs: number
}

/**
 * Folds a chain after those before it. `after`: records between its last one and record 0 of the chain that continues.
 */
const foldChain = (
  crypto: Crypto,
  folding: Folding,
  { origin, storedSize }: Previous,
  after: number
): Effect.Effect<void, ReadFault> => {
  const { book, chains, nowMs, reachMs, untilMs } = folding
  const chain = chains.find((one) => one.origin === origin && one.size === storedSize)
  if (chain === undefined) return gone(origin, storedSize, untilMs)
  return withRetired(
    chain.storage,
    Effect.fnUntraced(function* (storage) {
      const before = after + storedSize
      const first = yield* firstWithin(storage, { ms: nowMs, seq: storedSize - 1 }, reachMs)
      const older = first > 0 ? null : yield* readPrevious(storage, crypto)
      if (older !== null && older.storedSize > 0) yield* foldChain(crypto, folding, older, before)
      for (let next = first; next < storedSize;)
        next = foldInto(book, yield* readPage(storage, next, storedSize - 1, before)) + 1
    })
  )
}

const gone = (origin: string, size: number, untilMs: number) =>
  new StorageUnavailable({
    reason:
      `meters reach back into the chain ${origin}, whose ${size} records a recovery retired, and they ` +
      `are not beside the store; restore them. Without them metered evaluations fail until ${formatInstant(untilMs)}`,
    wrote: "no"
  })
