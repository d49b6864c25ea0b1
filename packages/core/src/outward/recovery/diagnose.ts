/** Reads store, keys and guard, and answers whether a recovery is due, under way, or neither. Writes nothing. */
import { type Crypto, formatVkey, type Previous, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { type Checkpoint, latestCheckpoint } from "../../chain/check/checkpoints.ts"
import { Guard, type SignedState } from "../../chain/keys/guard.ts"
import { chainKeys } from "../../chain/keys/chain-keys.ts"
import { checkGuard, readStoredGenesis, requireNow } from "../../chain/open.ts"
import { heldKeys, type SignerApi } from "../../chain/keys/signer.ts"
import { GuardRefused, KeyRefused, OriginRefused, type StartError } from "../../chain/keys/start-errors.ts"
import { storedTree } from "../../chain/check/tree.ts"
import type { Head, StorageApi } from "../../storage/port.ts"
import { readPrevious } from "../../chain/read-previous.ts"
import { NothingToRecover } from "./refusals.ts"
import { isUnfinished } from "../../chain/unfinished.ts"

/** A store that cannot be signed for any more. */
export interface Behind {
  readonly _tag: "Behind"
  readonly origin: string
  readonly head: Head | null
  /** Root over what the store holds, 64 lower-case hex digits. */
  readonly storedRootHex: string
  readonly checkpoint: Checkpoint | null
  /** The state that was signed last; null when the guard was lost, or was restored from a copy that may lack it. */
  readonly signed: SignedState | null
  /** Records that a guard knows of which may have forgotten later ones; null where `signed` says all. */
  readonly guarded: number | null
}

/** A store that holds the new chain already. */
export interface Begun {
  readonly _tag: "Begun"
  readonly origin: string
  readonly previous: Previous
}

/**
 * Finds out whether a recovery is due. `guardForgotten`: a person knows that the guard is an older copy, and that no
 * newer one is left.
 *
 * - Fails: `NothingToRecover` where a start would succeed; with the start's own refusal where keys, guard and store do
 *   not belong together.
 */
export const diagnose = (
  storage: StorageApi,
  signer: SignerApi,
  crypto: Crypto,
  guardForgotten: boolean
): Effect.Effect<Behind | Begun, StartError | NothingToRecover, Guard> =>
  Effect.gen(function* () {
    const genesis = yield* readStoredGenesis(storage)
    const guard = yield* Guard
    const signed = yield* guard.read
    const origin = genesis?.origin ?? signed?.origin
    if (origin === undefined) return yield* new NothingToRecover({ origin: null, stored: 0 })
    const previous = yield* readPrevious(storage, crypto)
    const head = yield* storage.head
    const size = (head?.seq ?? -1) + 1
    const inDoubt = yield* guard.inDoubt ?? Effect.succeed(false)
    const checkpoint = yield* latestCheckpoint(storage)
    if (
      previous !== null &&
      isUnfinished({ origin, size, previous, keyOrigin: signer.origin, signed, inDoubt, isSigned: checkpoint !== null })
    )
      return { _tag: "Begun", origin, previous }
    // A guard of the chain before has forgotten all that was signed for this one.
    const old = yield* requireNow(storage, crypto, origin, signer).pipe(
      Effect.as(false),
      Effect.catchTag("GuardFromBefore", (refusal) => (guardForgotten ? Effect.succeed(true) : Effect.fail(refusal)))
    )
    if (signer.origin !== null && signer.origin !== origin)
      return yield* new OriginRefused({ expected: signer.origin, found: origin, from: "keys" })
    if (!old && signed !== null && signed.origin !== origin)
      return yield* new GuardRefused({ expected: origin, found: signed.origin })
    const forgotten = guardForgotten || inDoubt
    // The record of a rotation may be among those that are gone: then the guard alone says that key and chain belong
    // together.
    if (!forgotten && size >= (signed?.size ?? 0)) yield* requireKey(storage, crypto, origin, signer)
    if (!old) yield* requireBehind(storage, origin, signed, size, forgotten)
    const storedRootHex = toHex(yield* storedTree(storage, crypto).rootAt(size))
    const known = forgotten ? { signed: null, guarded: old ? null : (signed?.size ?? null) } : { signed, guarded: null }
    return { _tag: "Behind", origin, head, storedRootHex, checkpoint, ...known }
  })

const requireKey = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  origin: string,
  signer: SignerApi
) {
  const expected = (yield* chainKeys(storage, crypto)).at(-1)!.vkey
  const { current, next } = yield* heldKeys(signer)
  const held = [current, ...(next === null ? [] : [next])].map(({ publicKey }) => formatVkey(origin, publicKey))
  if (!held.includes(expected)) return yield* new KeyRefused({ origin, expected, found: held[0]! })
})

/**
 * Succeeds where a start would be refused for the one reason that a recovery is for: what was signed is missing, or
 * nobody knows any more what was.
 */
const requireBehind = (
  storage: StorageApi,
  origin: string,
  signed: SignedState | null,
  size: number,
  forgotten: boolean
) =>
  checkGuard(storage, origin).pipe(
    Effect.andThen(forgotten ? Effect.void : new NothingToRecover({ origin, stored: size })),
    Effect.catchTag(["StoreBehindGuard", "GuardDisagrees"], () => Effect.void),
    // A guard that is older than the store has a newer copy somewhere, and that one knows; an empty one was lost.
    Effect.catchTag("GuardBehindStore", (refusal) =>
      signed === null || forgotten ? Effect.void : Effect.fail(refusal)
    )
  )
