/** The names that a chain had before recoveries: what keys and guards from older copies are named for. */
import type { Crypto } from "@flyball/evidence"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import { RetiredStores } from "../storage/retirement.ts"
import { readPrevious } from "./read-previous.ts"
import { withRetired } from "./with-retired.ts"

/**
 * The name in record 0 of the open store, and those of the retired stores beside it. A store that does not exist, or
 * cannot be read, has no name.
 */
export const formerNames = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto
): Effect.fn.Return<ReadonlySet<string>, ReadFault> {
  const previous = yield* readPrevious(storage, crypto)
  if (previous === null) return new Set()
  const earlier = yield* Effect.flatMap(yield* RetiredStores, (stores) =>
    Effect.forEach(stores, (store) =>
      withRetired(store, (open) => readPrevious(open, crypto)).pipe(Effect.orElseSucceed(() => null))
    )
  ).pipe(Effect.orElseSucceed(() => []))
  return new Set([previous, ...earlier].flatMap((one) => (one === null ? [] : [one.origin])))
})
