/** Reads what record 0 says of the chain before it. */
import { type Crypto, parsePrevious, type Previous, PREVIOUS, readRecord, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt } from "../storage/faults.ts"
import type { ReadFault, StorageApi } from "../storage/port.ts"

/** The chain that this store's chain follows; null when it follows none, or the store is empty. */
export const readPrevious = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto
): Effect.fn.Return<Previous | null, ReadFault> {
  const record = yield* storage.record(0)
  const read = record === null ? null : readRecord(record.bytes)
  const named = read?.ok === true ? read.record.parts.find(({ name }) => name === PREVIOUS) : undefined
  if (named === undefined) return null
  const part = (yield* storage.parts([0])).find(({ name }) => name === PREVIOUS)
  if (
    part === undefined ||
    part.bytes === null ||
    toHex(crypto.commitment(part.salt, PREVIOUS, part.bytes)) !== named.c
  ) {
    return yield* new StorageCorrupt({
      reason:
        "record 0 names a chain before it, and the part that says which one is not there or not what was committed to"
    })
  }
  return (
    parsePrevious(part.bytes) ??
    (yield* new StorageCorrupt({ reason: "record 0 names a chain before it in a form that this version cannot read" }))
  )
})
