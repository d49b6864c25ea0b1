/**
 * Opening a chain: makes genesis in an empty store, and refuses every store, key and guard that do not belong together.
 *
 * Spec: chain-format section 4, "refuses to start on a store that is behind it"; design section 4.
 */
import { type Crypto, formatInstant, formatVkey, LAST_INSTANT_MS, toHex, utf8 } from "@flyball/evidence"
import { Clock, Effect } from "effect"
import { MAX_ATTEMPTS } from "../storage/commit-with-retry.ts"
import { Entropy } from "../foundation/entropy.ts"
import { StorageCorrupt, StorageUnavailable } from "../storage/faults.ts"
import { readPrevious } from "./read-previous.ts"
import { formerNames } from "./former-origins.ts"
import { isUnfinished } from "./unfinished.ts"
import { Storage, type ReadFault, type StorageApi } from "../storage/port.ts"
import { latestCheckpoint } from "./check/checkpoints.ts"
import { EvidenceCrypto } from "../foundation/crypto.ts"
import { genesisDraft, readGenesis } from "./keys/genesis.ts"
import { Guard } from "./keys/guard.ts"
import { openKeys } from "./open-keys.ts"
import { isOrigin, localOrigin } from "./keys/origin.ts"
import { settleRotation } from "./settle-rotation.ts"
import { Signer, type SignerApi } from "./keys/signer.ts"
import {
  ChainMissing,
  GuardBehindStore,
  GuardDisagrees,
  GuardFromBefore,
  GuardInDoubt,
  GuardRefused,
  KeyFromBefore,
  KeyFromElsewhere,
  OriginInvalid,
  OriginRefused,
  RecoveryUnfinished,
  type StartError,
  StoreBehindGuard
} from "./keys/start-errors.ts"
import { storedTree } from "./check/tree.ts"

/** Options for opening a chain. */
export interface ChainOptions {
  /** The name the chain must have, or gets when the store is empty. */
  readonly origin?: string
  /** Writes nothing: neither genesis nor checkpoints. For commands that read beside a running server. */
  readonly readOnly?: boolean
  /** With `readOnly`: opens a retired chain. Key and guard belong to the next chain, and are not compared with it. */
  readonly retired?: boolean
}

/** A chain whose origin, key and guard fit together. */
export interface OpenedChain {
  readonly origin: string
  /** First 4 bytes of SHA-256 of the origin: the tag inside derived ids. */
  readonly originTag: Uint8Array
  /** The vkey that checkpoints are signed with. */
  readonly vkey: string
}

/** Opens the chain of the store, making it first when the store is empty. */
export const openChain = (options: ChainOptions): Effect.Effect<OpenedChain, StartError, Storage | Signer | Guard> =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const signer = yield* Signer
    const crypto = yield* EvidenceCrypto
    if (options.origin !== undefined && !isOrigin(options.origin))
      return yield* new OriginInvalid({ origin: options.origin })
    if (options.origin !== undefined && signer.origin !== null && signer.origin !== options.origin) {
      return yield* new OriginRefused({ expected: options.origin, found: signer.origin, from: "option" })
    }
    const genesis = (yield* readStoredGenesis(storage)) ?? (yield* makeGenesis(storage, signer, options))
    const opened = openedAs(crypto, genesis.origin, signer)
    if (options.retired === true) return opened
    yield* requireFinished(storage, genesis.origin, signer)
    if (options.origin !== undefined && options.origin !== genesis.origin) {
      return yield* new OriginRefused({ expected: options.origin, found: genesis.origin, from: "option" })
    }
    if (signer.origin !== null && signer.origin !== genesis.origin) {
      return yield* new OriginRefused({ expected: signer.origin, found: genesis.origin, from: "keys" })
    }
    const keyParts = { storage, signer, crypto, origin: genesis.origin }
    const vkey = yield* openKeys(keyParts, options.readOnly === true).pipe(
      // Of a store that was put back to before a rotation, that it is behind is the whole story.
      Effect.catchTag("KeyRefused", (refusal) =>
        failWhereBehind(storage, genesis.origin).pipe(
          Effect.andThen(options.readOnly === true ? Effect.void : requireNewest(genesis.origin)),
          Effect.andThen(refusal)
        )
      )
    )
    yield* checkGuard(storage, genesis.origin)
    if (options.readOnly !== true) {
      yield* requireNewest(genesis.origin)
      yield* settleRotation(keyParts)
      yield* warnOfClock(storage)
    }
    return { ...opened, vkey }
  })

/**
 * How far a clock may be behind the newest record without a word. Unit: milliseconds. Clocks of hosts differ by
 * seconds.
 */
const CLOCK_SLACK_MS = 60_000

/**
 * Times of records never fall. After a clock that was ahead all of them are the same, and whatever waits for a time
 * waits until the clock is there again.
 */
const warnOfClock = Effect.fnUntraced(function* (storage: StorageApi) {
  const atMs = (yield* storage.head)?.atMs ?? 0
  const nowMs = yield* Clock.currentTimeMillis
  if (atMs <= nowMs + CLOCK_SLACK_MS) return
  yield* Effect.logError(
    `The newest record is of ${sayInstant(atMs)}, and this host's clock says ${sayInstant(Math.floor(nowMs))}. ` +
      "Until the clock is there, windows of meters do not slide, waivers end by the chain's time, and failed " +
      "deliveries are not retried. If the clock is wrong, correct it."
  )
})

/** A time that may be past the last one that has a form: an altered store may hold one. */
const sayInstant = (ms: number): string =>
  ms > LAST_INSTANT_MS ? `${ms} ms since 1970, past the year 9999` : formatInstant(ms)

const openedAs = (crypto: Crypto, origin: string, signer: SignerApi): OpenedChain => ({
  origin,
  originTag: crypto.sha256(utf8(origin)).slice(0, 4),
  vkey: formatVkey(origin, signer.publicKey)
})

/**
 * Where key or guard belong to another chain, a recovery explains it best: one that was stopped halfway, or one that
 * they are from before of.
 */
export const requireFinished = Effect.fnUntraced(function* (storage: StorageApi, origin: string, signer: SignerApi) {
  const guard = yield* Guard
  const signed = yield* guard.read
  if ((signer.origin ?? origin) === origin && (signed?.origin ?? origin) === origin) return
  const crypto = yield* EvidenceCrypto
  const previous = yield* readPrevious(storage, crypto)
  if (previous === null) return
  const found = {
    origin,
    size: ((yield* storage.head)?.seq ?? -1) + 1,
    previous,
    keyOrigin: signer.origin,
    signed,
    inDoubt: yield* guard.inDoubt ?? Effect.succeed(false),
    isSigned: (yield* latestCheckpoint(storage)) !== null
  }
  if (isUnfinished(found)) return yield* new RecoveryUnfinished({ from: previous.origin, to: origin })
  yield* requireNow(storage, crypto, origin, signer)
})

/**
 * Refuses a key and a guard that are named as this chain was before a recovery which is done.
 *
 * - Fails: `KeyFromBefore`, once the key is the one that the chain names; `KeyRefused`, `KeyRetired` where it is not;
 *   `GuardFromBefore`.
 */
export const requireNow = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  origin: string,
  signer: SignerApi
) {
  const signed = yield* (yield* Guard).read
  const names = yield* formerNames(storage, crypto)
  if (signer.origin !== null && signer.origin !== origin && names.has(signer.origin)) {
    yield* openKeys({ storage, signer, crypto, origin }, true)
    return yield* new KeyFromBefore({ from: signer.origin, to: origin })
  }
  if (signed !== null && signed.origin !== origin && names.has(signed.origin))
    return yield* new GuardFromBefore({ from: signed.origin, to: origin })
})

/** Refuses a guard that was restored from a copy: new signatures could contradict signatures that the copy lacks. */
const requireNewest = Effect.fnUntraced(function* (origin: string) {
  const guard = yield* Guard
  if (guard.inDoubt !== undefined && (yield* guard.inDoubt))
    return yield* new GuardInDoubt({ origin, guarded: (yield* guard.read)?.size ?? 0 })
})

/** Record 0 of this store; null while it is empty. */
export const readStoredGenesis = Effect.fnUntraced(function* (storage: StorageApi) {
  const crypto = yield* EvidenceCrypto
  const record = yield* storage.record(0)
  if (record === null) {
    if ((yield* storage.head) !== null && (yield* storage.record(0)) === null)
      return yield* new StorageCorrupt({ reason: "there are records, but record 0 is missing" })
    return null
  }
  const genesis = readGenesis(crypto, record)
  return typeof genesis === "string" ? yield* new StorageCorrupt({ reason: genesis }) : genesis
})

const makeGenesis = Effect.fnUntraced(function* (storage: StorageApi, signer: SignerApi, options: ChainOptions) {
  if (options.readOnly === true) return yield* new ChainMissing()
  const entropy = yield* Entropy
  const origin = options.origin ?? signer.origin ?? localOrigin(entropy.bytes(16))
  // A guard that has signed and a store that has nothing: the store was lost. A new chain would contradict what was
  // signed.
  const guard = yield* Guard
  const signed = yield* guard.read
  if (signed === null && guard.mayBegin !== undefined && !(yield* guard.mayBegin)) {
    // Unless another process began the chain, and signed for it, since that read.
    const genesis = yield* readStoredGenesis(storage)
    return genesis ?? (yield* new KeyFromElsewhere({ origin }))
  }
  if (signed !== null) {
    // Unless another process began the chain, and signed for it, since that read.
    const genesis = yield* readStoredGenesis(storage)
    if (genesis !== null) return genesis
    if (signed.origin !== origin) return yield* new GuardRefused({ expected: origin, found: signed.origin })
    return yield* new StoreBehindGuard({ origin, signed: signed.size, stored: 0 })
  }
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const made = yield* storage
      .commit({ expectEmpty: true, records: [genesisDraft(origin, formatVkey(origin, signer.publicKey))] })
      .pipe(
        Effect.as(true),
        Effect.catchTag("StorageConflict", () => Effect.succeed(false))
      )
    const genesis = yield* readStoredGenesis(storage)
    // Not made by us: another process was first, and its genesis is the genesis.
    if (genesis !== null) return genesis
    if (made) return yield* new StorageCorrupt({ reason: "the genesis record was written and cannot be read" })
  }
  return yield* new StorageUnavailable({ reason: "the chain could not be started", wrote: "unknown" })
})

const failWhereBehind = (storage: StorageApi, origin: string) =>
  checkGuard(storage, origin).pipe(
    Effect.catchTag(["GuardRefused", "GuardBehindStore", "GuardDisagrees"], () => Effect.void)
  )

/**
 * Compares the guard with the store. The checkpoint is read first: guard and store only go forward, the guard always
 * ahead of it.
 */
export const checkGuard: (
  storage: StorageApi,
  origin: string
) => Effect.Effect<void, ReadFault | GuardRefused | GuardBehindStore | StoreBehindGuard | GuardDisagrees, Guard> =
  Effect.fnUntraced(function* (storage: StorageApi, origin: string) {
    const guard = yield* Guard
    const crypto = yield* EvidenceCrypto
    const latest = yield* latestCheckpoint(storage)
    const signed = yield* guard.read
    if (signed !== null && signed.origin !== origin)
      return yield* new GuardRefused({ expected: origin, found: signed.origin })
    if (latest !== null && latest.size > (signed?.size ?? 0))
      return yield* new GuardBehindStore({ origin, signed: latest.size, guarded: signed?.size ?? 0 })
    if (signed === null) return
    const stored = ((yield* storage.head)?.seq ?? -1) + 1
    if (stored < signed.size) return yield* new StoreBehindGuard({ origin, signed: signed.size, stored })
    const found = toHex(yield* storedTree(storage, crypto).rootAt(signed.size))
    if (found !== signed.rootHex)
      return yield* new GuardDisagrees({ origin, size: signed.size, signed: signed.rootHex, found })
  })
