/**
 * Recovery: leaves a chain whose store is behind what was signed, and continues under another name.
 *
 * The steps: the store is put aside and a new one begins (one step, by the store itself); the guard moves to the new
 * chain; its first record is signed for; the key takes the new name. Each may be done again: after a crash anywhere,
 * recovery continues with the new chain where it finds one.
 *
 * Spec: design section 4, "Backup"; the gaps are decision 0010.
 */
import { type Crypto, type Previous, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { readGenesis } from "../../chain/keys/genesis.ts"
import { Guard, sameState, type SignedState } from "../../chain/keys/guard.ts"
import { type KeysChoice, keysLayerOf } from "../../chain/keys/keys.ts"
import { signHead } from "../../chain/sign-checkpoint.ts"
import { heldKeys, Signer, type SignerApi } from "../../chain/keys/signer.ts"
import { type OriginInvalid, OriginRefused, type StartError } from "../../chain/keys/start-errors.ts"
import { Entropy } from "../../foundation/entropy.ts"
import { retirementOf, type StorageChoice } from "../../storage/choice.ts"
import { StorageCorrupt, StorageUnavailable } from "../../storage/faults.ts"
import type { StorageApi } from "../../storage/port.ts"
import { coveredOf } from "./covered.ts"
import { type Behind, type Begun, diagnose } from "./diagnose.ts"
import { planRecover, type RecoveryCommand, reasonProblem } from "./plan-recover.ts"
import { readPrevious } from "../../chain/read-previous.ts"
import { type NothingToRecover, type OriginTaken, type ReasonInvalid, RecoveryUnsupported } from "./refusals.ts"
import { retiredChainsOf } from "../../chain/retired-chains.ts"
import { withStore } from "./with-store.ts"

/** Store and keys to recover. No other process may have the SQLite file open. */
export interface RecoverySite {
  readonly storage: StorageChoice
  /** Chosen without an origin: the name is about to change. */
  readonly keys: KeysChoice
  /**
   * More was signed than the guard knows of, and no newer copy of it is left: a person says so, since nothing else can
   * know. Default: false.
   */
  readonly guardForgotten?: boolean
}

/** The data that a recovery would give up. Spec: decision 0010. */
export interface RecoveryNeed {
  /** The chain that would be retired. */
  readonly origin: string
  /** Records that were signed for; null when the guard was lost, or has forgotten it. */
  readonly signed: number | null
  /** Records that a guard knows of which may have forgotten later ones; null otherwise. */
  readonly guarded: number | null
  /** Records that the store holds. */
  readonly stored: number
  /** Of these, those that its last checkpoint covers: the others will be in no pack. */
  readonly covered: number
  /** The new chain, where a recovery was stopped halfway. */
  readonly begun: string | null
}

/** The chain after a recovery. Spec: decision 0010. */
export interface Recovered {
  readonly origin: string
  readonly vkey: string
  readonly previous: Previous
}

/** Errors of a recovery. */
export type RecoveryError = StartError | NothingToRecover | ReasonInvalid | OriginTaken | RecoveryUnsupported

/** Computes what a recovery would give up. Writes nothing. Spec: decision 0010. */
export const recoveryNeed = ({
  guardForgotten = false,
  keys,
  storage
}: RecoverySite): Effect.Effect<RecoveryNeed, RecoveryError> =>
  Effect.gen(function* () {
    const signer = yield* Signer
    const crypto = yield* EvidenceCrypto
    const found = yield* withStore(storage, (open) => diagnose(open, signer, crypto, guardForgotten))
    return found._tag === "Behind"
      ? {
          origin: found.origin,
          signed: found.signed?.size ?? null,
          guarded: found.guarded,
          stored: (found.head?.seq ?? -1) + 1,
          covered: found.checkpoint?.size ?? 0,
          begun: null
        }
      : {
          origin: found.previous.origin,
          signed: found.previous.signedSize,
          guarded: null,
          stored: found.previous.storedSize,
          covered: coveredOf(found.previous),
          begun: found.origin
        }
  }).pipe(Effect.provide(keysLayerOf(keys)))

/** Recovers a chain, or finishes a recovery that was interrupted. Spec: decision 0010. */
export const recover = (site: RecoverySite, command: RecoveryCommand): Effect.Effect<Recovered, RecoveryError> =>
  Effect.gen(function* () {
    const reason = reasonProblem(command.reason)
    if (reason !== null) return yield* reason
    const signer = yield* Signer
    const crypto = yield* EvidenceCrypto
    const found = yield* withStore(site.storage, (storage) =>
      diagnose(storage, signer, crypto, site.guardForgotten === true)
    )
    if (found._tag === "Behind") yield* begin(site.storage, signer, found, command)
    else yield* requireSameOrigin(found, command)
    return yield* withStore(site.storage, (storage) => follow(storage, signer, crypto))
  }).pipe(Effect.provide(keysLayerOf(site.keys)))

/** A recovery that was begun has its origin; another one cannot be requested any more. */
const requireSameOrigin = ({ origin }: Begun, command: RecoveryCommand) =>
  command.origin === undefined || command.origin === origin
    ? Effect.void
    : Effect.fail(new OriginRefused({ expected: command.origin, found: origin, from: "option" }))

/** Puts the store aside. All refusals come before it. */
const begin = Effect.fnUntraced(function* (
  choice: StorageChoice,
  signer: SignerApi,
  behind: Behind,
  command: RecoveryCommand
): Effect.fn.Return<void, StartError | ReasonInvalid | OriginInvalid | OriginTaken | RecoveryUnsupported> {
  const retirement = retirementOf(choice)
  if (retirement === null) return yield* new RecoveryUnsupported({ what: "store" })
  if (signer.origin !== null && signer.rename === undefined) return yield* new RecoveryUnsupported({ what: "keys" })
  const taken = (yield* retiredChainsOf(yield* retirement.retired)).map(({ origin }) => origin)
  const random = (yield* Entropy).bytes(16)
  const { publicKey } = (yield* heldKeys(signer)).current
  const plan = yield* Effect.fromResult(planRecover(behind, command, { publicKey, taken, random }))
  yield* retirement.retire(plan)
})

/** Guard and key follow the store. */
const follow = Effect.fnUntraced(function* (storage: StorageApi, signer: SignerApi, crypto: Crypto) {
  const record = yield* storage.record(0)
  const previous = yield* readPrevious(storage, crypto)
  const genesis = record === null ? "record 0 is missing" : readGenesis(crypto, record)
  if (typeof genesis === "string") return yield* new StorageCorrupt({ reason: genesis })
  if (record === null || previous === null)
    return yield* new StorageCorrupt({
      reason: "the store was retired, and the store in its place names no chain before it"
    })
  const { origin } = genesis
  // A tree of one record has that record's hash for its root.
  yield* moveGuard(previous, { origin, size: 1, rootHex: toHex(record.hash) })
  // What the new chain says of the old one is signed for before anybody can say otherwise.
  yield* signHead({ storage, signer, guard: yield* Guard, crypto, origin })
  if (signer.origin === previous.origin) yield* signer.rename?.(origin) ?? Effect.void
  return { origin, vkey: genesis.vkeys.at(-1)!, previous }
})

/** Moves the guard to the new chain, from just the state that the new chain's record 0 tells of. */
const moveGuard = Effect.fnUntraced(function* (previous: Previous, begun: SignedState) {
  const guard = yield* Guard
  const signed = yield* guard.read
  if (signed !== null && signed.origin === begun.origin) return
  // Where the guard was lost nothing is known, and an older guard that was found again meanwhile does no harm.
  const reported =
    previous.signedSize === null ||
    sameState(signed, { origin: previous.origin, size: previous.signedSize, rootHex: previous.signedRootHex ?? "" })
  if (!reported) {
    return yield* new StorageCorrupt({
      reason:
        `record 0 of ${begun.origin} states ${previous.signedSize ?? 0} signed records of ${previous.origin}, ` +
        `and the guard has a different number. Use the data folder that the recovery ` +
        "began with"
    })
  }
  if (yield* guard.advance(signed, begun)) return
  if ((yield* guard.read)?.origin !== begun.origin)
    return yield* new StorageUnavailable({
      reason: "another process moved the signing guard at the same time",
      wrote: "unknown"
    })
})
