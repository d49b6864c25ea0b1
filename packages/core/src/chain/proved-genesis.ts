/** Record 0 of a chain with its proof: of the current chain, and of retired ones. */
import type { GenesisOut } from "@flyball/contract"
import { type Crypto, fromUtf8, PREVIOUS, toBase64 } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt } from "../storage/faults.ts"
import type { ReadFault, StorageApi } from "../storage/port.ts"
import type { Retirement } from "../storage/retirement.ts"
import { latestCheckpoint } from "./check/checkpoints.ts"
import { prover } from "./check/proof.ts"
import { storedTree } from "./check/tree.ts"
import { readChainKeys } from "./keys/chain-keys.ts"
import { readStoredGenesis } from "./open.ts"
import { withRetired } from "./with-retired.ts"

/** Record 0 with its proof by the last signed note, and the part that names the chain before. */
export const provedGenesis = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  origin: string
): Effect.fn.Return<GenesisOut, ReadFault> {
  const record = yield* storage.record(0)
  if (record === null) return yield* new StorageCorrupt({ reason: "record 0 is missing" })
  const previous = (yield* storage.parts([0])).find(({ name }) => name === PREVIOUS)
  const checkpoint = yield* latestCheckpoint(storage)
  const prove = prover(storage, crypto, storedTree(storage, crypto))
  const proof =
    checkpoint === null
      ? []
      : (yield* prove(0, checkpoint.size).pipe(Effect.catchTag(["RecordNotFound", "InvalidInput"], Effect.die))).proof
  const { keys } = yield* readChainKeys(storage, crypto)
  return {
    origin,
    record: fromUtf8(record.bytes)!,
    previous:
      previous === undefined || previous.bytes === null
        ? null
        : { salt: toBase64(previous.salt), bytes: toBase64(previous.bytes) },
    checkpoint: checkpoint?.note ?? null,
    proof,
    vkeys: keys.map(({ vkey }) => vkey)
  }
})

/** Finds a retired chain by its name; null where there is none. */
export type FindRetired = (origin: string) => Effect.Effect<GenesisOut | null, ReadFault>

/**
 * Finds retired chains. Each is read once, because it never changes, and none is retired while this process runs. A
 * store that cannot be read is tried again with the next request.
 */
export const retiredGeneses = (crypto: Crypto, retired: Retirement["retired"]): FindRetired => {
  const known = new Map<string, GenesisOut>()
  let isComplete = false
  return Effect.fnUntraced(function* (origin) {
    if (!known.has(origin) && !isComplete) {
      const read = yield* Effect.forEach(yield* retired, (store) =>
        withRetired(
          store,
          Effect.fnUntraced(function* (storage) {
            const genesis = yield* readStoredGenesis(storage)
            if (genesis !== null) known.set(genesis.origin, yield* provedGenesis(storage, crypto, genesis.origin))
            return true
          })
        ).pipe(Effect.catch((fault) => Effect.as(Effect.logWarning(UNREADABLE, fault), false)))
      )
      isComplete = read.every(Boolean)
    }
    return known.get(origin) ?? null
  })
}

const UNREADABLE = "The store of a retired chain could not be read. Its chain is not shown."
