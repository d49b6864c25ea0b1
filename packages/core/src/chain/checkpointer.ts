/**
 * The Checkpointer: signs tree heads in time, one process at a time.
 *
 * Spec: design section 4. A checkpoint every 1,000 records or 10 s, at once after the kinds of {@link urgentKinds}, at
 * export and at shutdown.
 */
import { toHex } from "@flyball/evidence"
import { Cause, Clock, Context, Effect, Layer, Option, Queue, Semaphore } from "effect"
import { Entropy } from "../foundation/entropy.ts"
import { beside } from "../storage/commit-claim.ts"
import { CommitFeed } from "../storage/commit-feed.ts"
import { StorageUnavailable } from "../storage/faults.ts"
import { type ReadFault, Storage } from "../storage/port.ts"
import { Chain } from "./chain.ts"
import { type Checkpoint, latestCheckpoint } from "./check/checkpoints.ts"
import { EvidenceCrypto } from "../foundation/crypto.ts"
import { Guard } from "./keys/guard.ts"
import { signHead } from "./sign-checkpoint.ts"
import { Signer } from "./keys/signer.ts"

/** Records after which a checkpoint is due, whatever the time. */
export const CHECKPOINT_RECORDS = 1_000
/** Age of the oldest unsigned record at which a checkpoint is due. */
export const CHECKPOINT_MS = 10_000
const CHECKPOINT_NANOS = BigInt(CHECKPOINT_MS) * 1_000_000n
/** How often a process checks for records that others wrote. Bounds the delay of "at once" across processes. */
export const POLL_MS = 1_000
/**
 * A signer that died is taken over after this. Short, because a wanted checkpoint waits for it after a crash; a
 * signature that takes longer is
 * still safe when another process begins one too, since the guard lets only one of them through.
 */
export const LEASE_MS = 5_000
/** How long a wanted checkpoint waits for another process that is signing: a lease that ran out, and time to sign. */
export const WAIT_MS = 60_000
const WAIT_STEP_MS = 100

const UNSIGNED = "No checkpoint could be made, so nobody outside can check the newest records; it is tried again."

const UNSIGNED_AT_CLOSE = "The last checkpoint could not be signed. The next start signs it."
/** Where trying again does not help. Records may be missing: the store may have been put back under this process. */
const UNSIGNABLE =
  "No checkpoint can be made before an operator intervenes: store and guard disagree, and records may be missing."

const saying = (otherwise: string, cause: Cause.Cause<ReadFault>): string =>
  Option.getOrNull(Cause.findErrorOption(cause))?._tag === "StorageCorrupt" ? UNSIGNABLE : otherwise

/** Error text of a read-only command when no checkpoint was ever signed. */
export const NO_CHECKPOINT =
  "no checkpoint is signed yet. Start the server on this store once; it signs within ten seconds and when it stops"

/** Kinds whose records are signed for at once: they change who answers, who may write, or what may continue. */
export const urgentKinds: ReadonlyArray<string> = [
  "agent.owner_transferred",
  "agent.orphaned",
  "breaker.tripped",
  "breaker.released",
  "kill.activated",
  "kill.released",
  "key.rotated",
  "key.revoked",
  "ingest_key.minted",
  "ingest_key.revoked",
  "platform_key.minted",
  "platform_key.revoked",
  "part.erased",
  "chain.trimmed",
  "chain.sealed"
]

/** Operations of the checkpointer. Spec: format 1 section 4. */
export interface CheckpointerApi {
  /** A checkpoint that covers everything committed before the call. */
  readonly now: Effect.Effect<Checkpoint, ReadFault>
  /** Announces committed records, so that what is due is signed before the next poll. Never fails, never waits. */
  readonly onCommit: (kinds: ReadonlyArray<string>) => void
}

/** Service that signs checkpoints. Spec: format 1 section 4. */
export class Checkpointer extends Context.Service<Checkpointer, CheckpointerApi>()("flyball/core/Checkpointer") {
  /**
   * Signs in the background while its scope is open, and once more when it closes. With `readOnly` it signs nothing and
   * answers what is stored.
   */
  static readonly layer = (
    options: { readonly readOnly?: boolean } = {}
  ): Layer.Layer<Checkpointer, never, Chain | Storage | Signer | Guard> =>
    options.readOnly === true ? Layer.effect(Checkpointer, readOnly) : Layer.effect(Checkpointer, make)
}

/** Wakes the checkpointer at each commit: records that are due for a signature need not wait for its next poll. */
export const checkpointAtCommits: Layer.Layer<never, never, Checkpointer | CommitFeed> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { onCommit } = yield* Checkpointer
    yield* (yield* CommitFeed).subscribe(({ records = [] }) => onCommit(records.map(({ kind }) => kind)))
  })
)

const make = Effect.gen(function* () {
  const { origin } = yield* Chain
  const storage = yield* Storage
  const signer = yield* Signer
  const guard = yield* Guard
  const crypto = yield* EvidenceCrypto
  const holder = toHex((yield* Entropy).bytes(16))
  const mutex = yield* Semaphore.make(1)
  const wake = yield* Queue.sliding<void>(1)

  /** Signs if this process gets the lease; null when another has it. */
  const signIfHolder = mutex.withPermit(
    Effect.gen(function* () {
      if (!(yield* storage.lease("signer", holder, LEASE_MS))) return null
      return yield* beside(signHead({ storage, signer, guard, crypto, origin })).pipe(
        Effect.ensuring(Effect.ignore(storage.releaseLease("signer", holder)))
      )
    })
  )

  /** Records that are there; null where the store does not say. */
  const sizeNow = Effect.map(storage.head, (head) => (head?.seq ?? -1) + 1)
  const sizeOrUnknown = Effect.catchCause(sizeNow, () => Effect.succeed(null))
  /** For how many records a caller of `now` last got the error that no checkpoint could be made. */
  let refusedFor: { readonly size: number | null } | null = null

  const now: CheckpointerApi["now"] = Effect.onError(
    Effect.gen(function* () {
      const wanted = yield* sizeNow
      for (let waitedMs = 0; waitedMs <= WAIT_MS; waitedMs += WAIT_STEP_MS) {
        const latest = yield* latestCheckpoint(storage)
        if (latest !== null && latest.size >= wanted) return latest
        const made = yield* signIfHolder
        if (made !== null) return made
        yield* Effect.sleep(WAIT_STEP_MS)
      }
      return yield* new StorageUnavailable({
        reason: `another process has held the lease to sign for more than ${WAIT_MS / 1_000} s`,
        wrote: "no"
      })
    }),
    () => Effect.map(sizeOrUnknown, (size) => void (refusedFor = { size }))
  )

  let unsignedSinceNanos: bigint | null = null
  let reported = 0
  let urgent = false

  const poll = Effect.gen(function* () {
    const latest = yield* latestCheckpoint(storage)
    const from = latest?.size ?? 0
    const to = (yield* storage.head)?.seq ?? -1
    if (to < from) {
      unsignedSinceNanos = null
      return
    }
    // Not the time of day: a clock that steps back, again and again, would put the due time off for ever.
    const nowNanos = yield* Clock.monotonicTimeNanos
    unsignedSinceNanos ??= nowNanos
    const due =
      urgent ||
      to + 1 - from >= CHECKPOINT_RECORDS ||
      nowNanos - unsignedSinceNanos >= CHECKPOINT_NANOS ||
      (yield* storage.records({ from, to, kinds: urgentKinds, limit: 1 })).length > 0
    if (!due) return
    reported = 0
    urgent = false
    if ((yield* signIfHolder) !== null) unsignedSinceNanos = null
  })

  const background = Queue.take(wake).pipe(
    Effect.timeoutOption(POLL_MS),
    Effect.andThen(poll),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(Effect.logError(saying(UNSIGNED, cause), cause), Effect.sleep(CHECKPOINT_MS))
    ),
    Effect.forever
  )
  // Not `now`, which waits: the process that holds the lease at that moment signs for our records too.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      const latest = yield* latestCheckpoint(storage)
      if ((latest?.size ?? 0) < (yield* sizeNow)) yield* signIfHolder
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.flatMap(sizeOrUnknown, (size) =>
          // The caller of `now` got this error a moment ago and reports it.
          Cause.hasInterruptsOnly(cause) || refusedFor?.size === size
            ? Effect.void
            : Effect.logError(saying(UNSIGNED_AT_CLOSE, cause), cause)
        )
      )
    )
  )
  yield* Effect.forkScoped(background)

  return Checkpointer.of({
    now,
    onCommit: (kinds) => {
      reported += kinds.length
      urgent ||= kinds.some((kind) => urgentKinds.includes(kind))
      if (urgent || reported >= CHECKPOINT_RECORDS) Queue.offerUnsafe(wake, undefined)
    }
  })
})

const readOnly = Effect.map(Storage, (storage) =>
  Checkpointer.of({
    now: Effect.flatMap(latestCheckpoint(storage), (latest) =>
      latest === null
        ? Effect.fail(new StorageUnavailable({ reason: NO_CHECKPOINT, wrote: "no" }))
        : Effect.succeed(latest)
    ),
    onCommit: () => undefined
  })
)
