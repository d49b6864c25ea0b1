/** Which chain a store holds, by its own records: for callers that have the store and not its keys. */
import { parseVkey } from "@flyball/evidence"
import { Effect } from "effect"
import { chainKeys } from "../../chain/keys/chain-keys.ts"
import { latestCheckpoint } from "../../chain/check/checkpoints.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import type { SignedState } from "../../chain/keys/guard.ts"
import { readStoredGenesis } from "../../chain/open.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"

/** A chain as its records name it, not checked against keys from elsewhere. */
export interface StoredChain {
  readonly origin: string
  /** The key that signs last, as genesis or the last rotation names it. */
  readonly vkey: string
  readonly publicKey: Uint8Array
  /** The newest checkpoint; null before the first. */
  readonly signed: SignedState | null
}

/** The chain of the store; null for an empty store. Spec: decision 0010. */
export const storedChain: Effect.Effect<StoredChain | null, ReadFault, Storage> = Effect.gen(function* () {
  const storage = yield* Storage
  const genesis = yield* readStoredGenesis(storage)
  if (genesis === null) return null
  const { origin } = genesis
  const { vkey } = (yield* chainKeys(storage, yield* EvidenceCrypto)).at(-1)!
  const parsed = parseVkey(vkey)
  if (!parsed.ok) return yield* new StorageCorrupt({ reason: "the key that the records name last is no key" })
  const checkpoint = yield* latestCheckpoint(storage)
  return {
    origin,
    vkey,
    publicKey: parsed.vkey.publicKey,
    signed: checkpoint === null ? null : { origin, size: checkpoint.size, rootHex: checkpoint.rootHex }
  }
})
