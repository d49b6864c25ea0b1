/**
 * The names of the chains before this one, kept beside the documents that recoveries carry along. Keys derived from the
 * name of an earlier chain are found again, also where the retired stores are missing.
 */
import { portableCrypto, type Crypto } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { type ReadFault, Storage, type StorageApi } from "../storage/port.ts"
import { readPrevious } from "./read-previous.ts"
import { RetiredStores } from "../storage/retirement.ts"
import { withRetired } from "./with-retired.ts"

/** The document. Working state: record 0 of each chain names the one before. */
const FORMER_ORIGINS = { collection: "former_origins", id: "deployment" } as const

/** The names of earlier chains, as far as the store has them. Empty without a recovery. Spec: decision 0010. */
export const readFormerOrigins = Effect.fnUntraced(function* (
  storage: StorageApi
): Effect.fn.Return<ReadonlyArray<string>, ReadFault> {
  const document = yield* storage.get(FORMER_ORIGINS.collection, FORMER_ORIGINS.id)
  const previous = yield* readPrevious(storage, portableCrypto)
  return [...new Set([...kept(document?.body["origins"]), ...(previous === null ? [] : [previous.origin])])]
})

const kept = (origins: unknown): ReadonlyArray<string> => (Array.isArray(origins) ? (origins as Array<string>) : [])

const UNDONE = "The names of the chains before this one could not be stored. The next start tries again."

/** Stores the names at the start, those of retired stores included. */
export const keepFormerOrigins = (options: { readonly readOnly?: boolean }): Layer.Layer<never, never, Storage> =>
  Layer.effectDiscard(
    options.readOnly === true
      ? Effect.void
      : Effect.gen(function* () {
          const storage = yield* Storage
          const document = yield* storage.get(FORMER_ORIGINS.collection, FORMER_ORIGINS.id)
          const known = kept(document?.body["origins"])
          const origins = [
            ...new Set([
              ...known,
              ...(yield* readFormerOrigins(storage)),
              ...(yield* formerNames(storage, portableCrypto))
            ])
          ]
          if (origins.length === known.length) return
          yield* storage.commit({
            puts: [{ ...FORMER_ORIGINS, expectedVersion: document?.version ?? 0, body: { origins } }]
          })
          // Of two processes that start at once, either's list is whole.
        }).pipe(Effect.catch((fault) => Effect.logError(UNDONE, fault)))
  )

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
