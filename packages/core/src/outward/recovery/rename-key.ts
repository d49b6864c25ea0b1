/** Gives a key out of an older copy the name that its chain has since a recovery. Decision 0010. */
import { formatVkey } from "@flyball/evidence"
import { Effect } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { keysLayerOf } from "../../chain/keys/keys.ts"
import { readStoredGenesis, requireFinished } from "../../chain/open.ts"
import { chainKeys } from "../../chain/keys/chain-keys.ts"
import { heldKeys, Signer } from "../../chain/keys/signer.ts"
import { ChainMissing, KeyRefused, OriginRefused, type StartError } from "../../chain/keys/start-errors.ts"
import { valueOrThrow } from "../../foundation/value-or-throw.ts"
import type { RecoverySite } from "./recover.ts"
import { KeyNamedAlready, RecoveryUnsupported } from "./refusals.ts"
import { withStore } from "./with-store.ts"

/** A key with its new name. Spec: decision 0010. */
export interface RenamedKey {
  readonly from: string
  readonly to: string
  /** The key to check signatures with; it is the one that the chain named all along. */
  readonly vkey: string
}

/**
 * Renames the key where a start would fail with `KeyFromBefore`. Signs nothing, and writes nothing into the store; the
 * next start checks the guard.
 *
 * - Fails: `KeyNamedAlready`; `RecoveryUnsupported` for keys that cannot be renamed; otherwise as a start does.
 */
export const renameKeyEffect = ({
  keys,
  storage
}: Pick<RecoverySite, "keys" | "storage">): Effect.Effect<
  RenamedKey,
  StartError | KeyNamedAlready | RecoveryUnsupported
> =>
  Effect.gen(function* () {
    const signer = yield* Signer
    const crypto = yield* EvidenceCrypto
    return yield* withStore(
      storage,
      Effect.fnUntraced(function* (open) {
        const genesis = yield* readStoredGenesis(open)
        if (genesis === null) return yield* new ChainMissing()
        const { origin } = genesis
        const from = signer.origin
        if (from === null || from === origin) return yield* new KeyNamedAlready({ origin })
        const refused = yield* Effect.match(requireFinished(open, origin, signer), {
          onFailure: (refusal) => refusal,
          onSuccess: () => null
        })
        if (refused === null) return yield* new OriginRefused({ expected: from, found: origin, from: "keys" })
        if (refused._tag !== "KeyFromBefore") return yield* refused
        // A next key that is here does not count: renaming destroys it.
        const expected = (yield* chainKeys(open, crypto)).at(-1)!.vkey
        const found = formatVkey(origin, (yield* heldKeys(signer)).current.publicKey)
        if (found !== expected) return yield* new KeyRefused({ origin, expected, found })
        if (signer.rename === undefined) return yield* new RecoveryUnsupported({ what: "keys" })
        yield* signer.rename(origin)
        return { from, to: origin, vkey: expected }
      })
    )
  }).pipe(Effect.provide(keysLayerOf(keys)))

/**
 * {@link renameKeyEffect} for hosts that do not use Effect.
 *
 * - Fails: rejects with `GovernorError`: `key_named_already`, `recovery_unsupported`, those of a refused start, or a
 *   fault.
 * - Spec: decision 0010.
 */
export const renameKey = async (site: Pick<RecoverySite, "keys" | "storage">): Promise<RenamedKey> =>
  valueOrThrow(await Effect.runPromiseExit(renameKeyEffect(site)))
