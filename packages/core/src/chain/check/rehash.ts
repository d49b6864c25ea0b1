/**
 * Reads what is new again and hashes it again, before anything is signed for it.
 *
 * A flipped bit, a driver that loses rows, a store that was changed behind us: all of them must show before the
 * signature, not after
 * (the certificate logs Yeti 2022 and Nimbus 2018 died of one wrong bit that was signed).
 */
import type { Crypto } from "@flyball/evidence"
import { equalBytes, RangeFolder, split, toHex } from "@flyball/evidence"
import { Effect, Fiber } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, Rehashed, StorageApi, StoredRecord } from "../../storage/port.ts"
import { type CheckedRecord, checkRecord, type Previous } from "./check-record.ts"
import type { SignedState } from "../keys/guard.ts"
import { Rehasher } from "./rehash-run.ts"
import { GuardDisagrees } from "../keys/start-errors.ts"
import { storedTree } from "./tree.ts"

/**
 * Records read at once: 64 KiB each at most, so 16 MiB in the worst case. Between pages the thread is free, the host's
 * or the store's; one of these is checked in about a millisecond.
 */
export const PAGE_RECORDS = 250

/**
 * The most records that a store folds in one call. Where signing fell behind, calls of a page each would keep it there:
 * each waits for a turn of a busy host.
 */
export const REFOLD_RECORDS = 10_000

/**
 * The root at `size`, computed from the bytes of all records after `signed` and from the hashes under it, which must
 * fold to what was signed.
 *
 * That the root grows out of the signed one is thereby shown: it is the consistency proof that the guard asks for.
 *
 * - Fails: `GuardDisagrees` when the records that were signed for are not those that are stored; `StorageCorrupt` when
 *   a new record is not in order.
 */
export const rehashedRoot = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  signed: SignedState | null,
  origin: string,
  size: number
) {
  const tree = storedTree(storage, crypto)
  const from = signed?.size ?? 0
  const left = yield* tree.with((read) => read(split(0, from)))
  const folder = new RangeFolder(crypto, from)
  if (signed !== null) {
    const found = toHex(folder.root(from, left)!)
    if (found !== signed.rootHex)
      return yield* new GuardDisagrees({ origin, size: signed.size, signed: signed.rootHex, found })
  }
  const push = ({ last, subtrees }: Rehashed): Previous => {
    for (const { hash, level } of subtrees) folder.pushSubtree(level, hash)
    return last
  }
  let previous = yield* previousOf(storage, crypto, from)
  // A store with a thread for it checks its records there. What it cannot call good is checked again here, where each
  // finding gets its sentence.
  const rehash = size - from > PAGE_RECORDS ? storage.rehash : undefined
  while (nextAfter(previous) < size) {
    const folded: Rehashed | null =
      rehash === undefined ? null : yield* rehash(previous, Math.min(nextAfter(previous) + REFOLD_RECORDS, size) - 1)
    if (folded === null) break
    previous = push(folded)
  }
  const rehasher = new Rehasher(crypto)
  /** Read while the one before is checked. */
  const readPage = (next: number) =>
    Effect.forkChild(storage.records({ from: next, to: size - 1, limit: PAGE_RECORDS }), { startImmediately: true })
  let reading = nextAfter(previous) < size ? yield* readPage(nextAfter(previous)) : null
  while (reading !== null) {
    const next = nextAfter(previous)
    const page: ReadonlyArray<StoredRecord> = yield* Fiber.join(reading)
    reading = next + page.length < size ? yield* readPage(next + page.length) : null
    // The request goes on its way when this turn ends.
    if (reading !== null) yield* Effect.yieldNow
    if (page.length === 0)
      return yield* new StorageCorrupt({ reason: `record ${next} is missing, though the head is further on` })
    const folded = rehasher.fold(page, previous)
    if (folded !== null) {
      previous = push(folded)
      continue
    }
    for (const stored of page) {
      const checked: CheckedRecord = checkRecord(crypto, stored, previous)
      const finding = checked.findings[0]
      if (finding !== undefined) {
        return yield* new StorageCorrupt({
          reason: `record ${finding.seq} is not valid (${finding.code}); nothing was signed for it. Run a check`,
          cause: { code: finding.code, seq: finding.seq }
        })
      }
      folder.pushLeaf(checked.next.hash)
      previous = checked.next
    }
  }
  const root = folder.root(size, left)!
  // The tiles are what proofs are made of: they must say the same.
  if (!equalBytes(root, yield* tree.rootAt(size))) {
    return yield* new StorageCorrupt({
      reason:
        `the stored tree hashes do not fold to the root of the records at size ${size}; nothing was ` +
        "signed. Run a check",
      cause: { code: "E_TILE", seq: null }
    })
  }
  return root
})

const nextAfter = (previous: Previous | null): number => (previous?.seq ?? -1) + 1

/** The record before `from` as what the next one must follow, hashed from its bytes; null before record 0. */
export const previousOf = (
  storage: StorageApi,
  crypto: Crypto,
  from: number
): Effect.Effect<Previous | null, ReadFault> =>
  from === 0
    ? Effect.succeed(null)
    : Effect.flatMap(storage.record(from - 1), (record) =>
        record === null
          ? Effect.fail(new StorageCorrupt({ reason: `record ${from - 1} is missing, though the head is further on` }))
          : Effect.succeed({ seq: from - 1, hash: crypto.leafHash(record.bytes), atMs: record.atMs })
      )
