/**
 * Requests that may be sent again: the answer to a key is kept for 24 hours, in the commit of what the request changed.
 *
 * A request under way is known in its process. Two processes that race both plan, and one of them commits: the other
 * answers what the first kept.
 */
import { IDEMPOTENCY_MS, IdempotencyAnswerLost, IdempotencyKeyInUse, IdempotencyKeyReused } from "@flyball/contract"
import { fromBase64, fromUtf8, portableCrypto, toBase64, toHex, utf8 } from "@flyball/evidence"
import { Cause, Context, Effect, Exit, Fiber, Layer, Option } from "effect"
import { newId } from "../foundation/ids.ts"
import { SecretBox, type SecretBoxApi } from "../foundation/secret-box.ts"
import { beside, type CommitClaim, CurrentClaim } from "../storage/commit-claim.ts"
import type { StorageConflict } from "../storage/faults.ts"
import { leasedJob, whereHeld } from "../storage/leased-job.ts"
import {
  type ChangeSet,
  type CommitReceipt,
  type Document,
  type DocumentPut,
  type ReadFault,
  Storage,
  type StorageApi
} from "../storage/port.ts"

/** A request under a key. */
export interface Repeatable {
  /** Account of the caller, never its credential: two callers of one owner share their keys. */
  readonly owner: string
  readonly key: string
  /** Digest of all that makes it the same request: 64 lower-case hex digits. */
  readonly fingerprint: string
  /** Id of this attempt, which a later repeat names. */
  readonly requestId: string
  /** True when the answer has a secret: it is kept sealed. Left out: it has none. */
  readonly isSecret?: boolean
  /** True when it acts outside of the store before it commits: then no other process begins it meanwhile. */
  readonly actsOutside?: boolean
  /** Makes the answer from what {@link commitAnswered} was given; left out: that is the answer. */
  readonly answerOf?: (value: unknown) => KeptAnswer
}

/** An answer as it is kept. */
export interface KeptAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** Text that a store can hold. */
  readonly body: string
}

/** The answer to an earlier request with the key; nothing ran. */
export interface Repeat extends KeptAnswer {
  /** Id of the request that ran. */
  readonly repeats: string
}

/** Operations of {@link Idempotency}. */
export interface IdempotencyApi {
  /** True when answers with a secret can be kept. */
  readonly keepsSecrets: boolean
  /**
   * Runs an attempt and keeps its answer, or answers what was kept. An attempt that fails keeps nothing. It goes on
   * where its caller stops waiting.
   *
   * The first commit of the attempt carries the key. A commit by {@link commitAnswered} carries the answer too; after
   * another one the answer follows in a commit of its own, and a crash between the two loses it.
   *
   * - Fails: as the attempt; `IdempotencyKeyReused` under another fingerprint; `IdempotencyKeyInUse` while the first is
   *   under way; `IdempotencyAnswerLost` where it took effect and its answer was lost.
   */
  readonly run: <A extends KeptAnswer, E, R>(
    request: Repeatable,
    attempt: Effect.Effect<A, E, R>
  ) => Effect.Effect<A | Repeat, E | IdempotencyKeyReused | IdempotencyKeyInUse | IdempotencyAnswerLost | ReadFault, R>
  /** Deletes what is older than 24 hours, as the job does; answers how many answers that were. */
  readonly forgetOld: Effect.Effect<number, ReadFault>
}

const COLLECTION = "idempotency"
/** A process that has not kept its answer so long after it began is taken for dead by others. Unit: milliseconds. */
const UNDER_WAY_MS = 15_000
/** How often a process says that what acts outside is still under way. Unit: milliseconds. */
const RENEW_MS = 5_000
/** Times that a request loses its slot to another one before it answers that the key is in use. */
const ATTEMPTS = 4
/** How long what is under way may go on when its process ends. Unit: milliseconds. */
const CLOSING_MS = 10_000
/** Pause between two rounds of the job, and answers of one commit. */
const ROUND_MS = 300_000
const PAGE = 100

type Body = {
  readonly fingerprint: string
  /** Null while only the effect is committed. */
  readonly status: number | null
  readonly headers: { readonly [name: string]: string }
  /** The answer's text; base64 of it sealed where `sealed`. */
  readonly answer: string | null
  readonly sealed: boolean
  readonly request_id: string
  /** When it ends. Unit: milliseconds since 1970 UTC. */
  readonly until: number
}

/**
 * Answers to requests that come again.
 *
 * ```ts
 * const request = { owner: "sales", key: "order-7", fingerprint: "ab".repeat(32), requestId: "req_1" }
 * const program = Effect.gen(function* () {
 *   const [storage, idempotency] = [yield* Storage, yield* Idempotency]
 *   const order = { puts: [{ collection: "orders", id: "ord_7", expectedVersion: 0, body: { total: 12 } }] }
 *   const place = commitAnswered(storage.commit(order), { status: 201, headers: {}, body: "ord_7" })
 *   const first = yield* idempotency.run(request, place)
 *   const again = yield* idempotency.run(request, place)
 *   console.log(first.body, again.body, "repeats" in again)
 * })
 * const layer = Idempotency.layer.pipe(Layer.provideMerge(answeringStorage), Layer.provide(layerOf(memoryStorage())))
 * await Effect.runPromise(Effect.provide(program, layer)) // prints: ord_7 ord_7 true
 * ```
 *
 * Spec: document 2 section 4; platform section 4.
 */
export class Idempotency extends Context.Service<Idempotency, IdempotencyApi>()("flyball/core/Idempotency") {
  static readonly layer: Layer.Layer<Idempotency, never, Storage> = Layer.effect(
    Idempotency,
    Effect.suspend(() => makeIdempotency)
  )
}

/** The job that deletes what is older than 24 hours. */
export const idempotencyJob: Layer.Layer<never, never, Idempotency | Storage> = Layer.effectDiscard(
  Effect.flatMap(Idempotency, ({ forgetOld }) =>
    leasedJob(
      {
        lease: "idempotency",
        leaseMs: 2 * ROUND_MS,
        failed: "Old answers were not deleted; the next round is in five minutes.",
        pause: Effect.sleep(ROUND_MS)
      },
      whereHeld(forgetOld)
    )
  )
)

/** The answer of the running commit, in a box; null where it does not say. */
const OfferedAnswer = Context.Reference<{ readonly value: unknown } | null>("flyball/core/idempotency/OfferedAnswer", {
  defaultValue: () => null
})

/** Store whose commits carry the key of the request that they are for. The innermost one of a governor. */
export const answeringStorage: Layer.Layer<Storage, never, Storage> = Layer.effect(
  Storage,
  Effect.map(Storage, (storage) => answering(storage))
)

/** The store, with commits that carry the key of the attempt that makes them. Twice changes nothing. */
const answering = (storage: StorageApi): StorageApi => ({
  ...storage,
  commit: (change) =>
    Effect.withFiber((fiber) => {
      const claim = fiber.getRef(CurrentClaim)
      return claim === null ? storage.commit(change) : claim.commit(storage, change, fiber.getRef(OfferedAnswer))
    })
})

/**
 * Runs a commit that carries the answer to its request, so that a crash leaves both or neither. Answers that answer.
 * Outside of {@link IdempotencyApi.run} it only commits.
 *
 * ```ts
 * yield* commitAnswered(storage.commit(change), answer)
 * yield* commitAnswered(quotas.settle(reservation, used, change), answer)
 * ```
 */
export const commitAnswered = <A, E, R>(commit: Effect.Effect<unknown, E, R>, answer: A): Effect.Effect<A, E, R> =>
  Effect.as(Effect.provideService(commit, OfferedAnswer, { value: answer }), answer)

/** Another request took the slot. A defect, since no act may plan again because of it. */
class SlotTaken {
  readonly _tag = "SlotTaken"
}

const isOfSlots = ({ conflicts }: StorageConflict): boolean =>
  conflicts.some((one) => (one._tag === "Version" || one._tag === "Unique") && one.collection === COLLECTION)

/** The slot of one attempt, from its first commit on. */
class Claim implements CommitClaim {
  readonly #request: Repeatable
  readonly #slot: string
  readonly #id: string
  readonly #untilMs: number
  readonly #box: SecretBoxApi | null
  #version: number
  #isOver = false
  /** True once the attempt has committed it. */
  isTaken = false
  /** True once it was committed with the answer. */
  isAnswered = false

  constructor(
    request: Repeatable,
    at: {
      readonly slot: string
      readonly id: string
      readonly version: number
      readonly untilMs: number
      readonly box: SecretBoxApi | null
    }
  ) {
    this.#request = request
    this.#slot = at.slot
    this.#id = at.id
    this.#version = at.version
    this.#untilMs = at.untilMs
    this.#box = at.box
  }

  /** Ends the attempt: what it left behind commits without the key. */
  close(): void {
    this.#isOver = true
  }

  /** Commits a change of the attempt. The first one carries the key, unless all that it records was recorded before. */
  commit(
    storage: StorageApi,
    change: ChangeSet,
    offered: { readonly value: unknown } | null
  ): Effect.Effect<CommitReceipt, StorageConflict | ReadFault> {
    if (this.isTaken || this.#isOver) return storage.commit(change)
    this.isTaken = true
    const { answerOf = asKept } = this.#request
    return Effect.flatMap(this.#put(offered === null ? null : answerOf(offered.value)), (put) =>
      storage.commit({ ...change, puts: [...(change.puts ?? []), put] })
    ).pipe(
      Effect.tap(({ records }) =>
        Effect.sync(() => {
          this.isTaken = records.length === 0 || records.some(({ duplicate }) => !duplicate)
          this.isAnswered = this.isTaken && offered !== null
          if (this.isTaken) this.#version++
        })
      ),
      Effect.onError(() => Effect.sync(() => void (this.isTaken = false))),
      Effect.catchTag("StorageConflict", (conflict) =>
        isOfSlots(conflict) ? Effect.die(new SlotTaken()) : Effect.fail(conflict)
      )
    )
  }

  /** Keeps the answer, in a commit of its own. */
  keep(storage: StorageApi, answer: KeptAnswer): Effect.Effect<CommitReceipt, StorageConflict | ReadFault> {
    return Effect.flatMap(this.#put(answer), (put) => storage.commit({ puts: [put] }))
  }

  #put(answer: KeptAnswer | null): Effect.Effect<DocumentPut> {
    const { fingerprint, isSecret = false, requestId } = this.#request
    const sealed = answer === null || !isSecret ? null : seal(this.#box, this.#slot, answer.body)
    return Effect.map(sealed ?? Effect.succeed(answer?.body ?? null), (text) => ({
      collection: COLLECTION,
      id: this.#id,
      expectedVersion: this.#version,
      body: {
        fingerprint,
        status: answer?.status ?? null,
        headers: answer?.headers ?? {},
        answer: text,
        sealed: isSecret,
        request_id: requestId,
        until: this.#untilMs
      } satisfies Body,
      keys: { ends: `${timeText(this.#untilMs)} ${this.#id}` },
      unique: { slot: this.#slot }
    }))
  }
}

const timeText = (atMs: number): string => String(atMs).padStart(16, "0")

const asKept = (value: unknown): KeptAnswer => value as KeptAnswer

const seal = (box: SecretBoxApi | null, slot: string, text: string): Effect.Effect<string> =>
  box === null
    ? Effect.die(new Error("An answer with a secret was to be kept, and nothing here seals it."))
    : Effect.map(box.seal(utf8(text), boundTo(slot)), toBase64)

const boundTo = (slot: string): string => `idempotency:${slot}`

const slotOf = ({ key, owner }: Repeatable): string => toHex(portableCrypto.sha256(utf8(JSON.stringify([owner, key]))))

const makeIdempotency = Effect.gen(function* () {
  const storage = yield* Storage
  const box = Option.getOrNull(yield* Effect.serviceOption(SecretBox))
  /** Fingerprints of what is under way, by slot. */
  const underWay = new Map<string, string>()
  const fibers = new Set<Fiber.Fiber<unknown, unknown>>()

  /** Answers what a kept answer means for this request. */
  const standing = Effect.fnUntraced(function* (
    { fingerprint }: Repeatable,
    found: Document,
    slot: string,
    ms: number
  ) {
    const { answer, headers, request_id: repeats, sealed, status, ...kept } = found.body as Body
    if (kept.fingerprint !== fingerprint) return yield* new IdempotencyKeyReused()
    if (status === null || answer === null) {
      const isDead = !storage.limits.shared || ms >= kept.until - IDEMPOTENCY_MS + UNDER_WAY_MS
      return yield* isDead ? new IdempotencyAnswerLost() : new IdempotencyKeyInUse()
    }
    if (!sealed) return { status, headers, body: answer, repeats }
    const opened = box === null ? null : yield* Effect.option(box.open(fromBase64(answer)!, boundTo(slot)))
    if (opened === null || Option.isNone(opened)) return yield* new IdempotencyAnswerLost()
    return { status, headers, body: fromUtf8(opened.value)!, repeats }
  })

  const once = <A extends KeptAnswer, E, R>(
    request: Repeatable,
    slot: string,
    attempt: Effect.Effect<A, E, R>,
    left: number
  ): Effect.Effect<A | Repeat, E | IdempotencyKeyReused | IdempotencyKeyInUse | IdempotencyAnswerLost | ReadFault, R> =>
    Effect.gen(function* () {
      if (left === 0) return yield* new IdempotencyKeyInUse()
      const [found] = yield* storage.find(COLLECTION, "slot", slot)
      const { ms } = yield* storage.asOf
      if (found !== undefined && ms < (found.body as Body).until) return yield* standing(request, found, slot, ms)
      const claim = new Claim(request, {
        slot,
        id: found?.id ?? (yield* newId("idm")),
        version: found?.version ?? 0,
        untilMs: ms + IDEMPOTENCY_MS,
        box
      })
      const exit = yield* Effect.exit(Effect.provideService(attempt, CurrentClaim, claim))
      claim.close()
      if (Exit.isFailure(exit))
        return exit.cause.reasons.some((reason) => Cause.isDieReason(reason) && reason.defect instanceof SlotTaken)
          ? yield* once(request, slot, attempt, left - 1)
          : yield* exit
      if (claim.isAnswered) return exit.value
      const kept = yield* Effect.result(claim.keep(storage, exit.value))
      // What another process kept meanwhile is the answer, unless this one has changed something.
      return kept._tag === "Failure" && kept.failure._tag === "StorageConflict" && !claim.isTaken
        ? yield* once(request, slot, attempt, left - 1)
        : exit.value
    })

  /** The same while a request with this key is under way here: what is under way may itself be a repeat. */
  const meanwhile = Effect.fnUntraced(function* (request: Repeatable, slot: string, other: string) {
    if (other !== request.fingerprint) return yield* new IdempotencyKeyReused()
    const [found] = yield* storage.find(COLLECTION, "slot", slot)
    const { ms } = yield* storage.asOf
    return found !== undefined && ms < (found.body as Body).until && (found.body as Body).status !== null
      ? yield* standing(request, found, slot, ms)
      : yield* new IdempotencyKeyInUse()
  })

  /** Runs what acts outside of the store while no other process over it does. A process that died lets go by itself. */
  const alone = <A, E, R>(slot: string, run: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const [lease, holder] = [`idempotency ${slot}`, yield* newId("idm")]
      const take = storage.lease(lease, holder, UNDER_WAY_MS)
      if (!(yield* take)) return yield* new IdempotencyKeyInUse()
      const renewing = Effect.forever(Effect.andThen(Effect.sleep(RENEW_MS), Effect.ignore(take)))
      return yield* Effect.raceFirst(run, renewing).pipe(
        Effect.ensuring(Effect.ignore(storage.releaseLease(lease, holder)))
      )
    })

  const forgetOld = Effect.gen(function* () {
    const { ms } = yield* storage.asOf
    const before = timeText(ms + 1)
    for (let count = 0; ;) {
      const page = yield* storage.range(COLLECTION, "ends", { before, limit: PAGE })
      const deletes = page.map(({ collection, id, version }) => ({ collection, id, version }))
      if (deletes.length > 0)
        // One that begins anew meanwhile stays, and so do the others until the next round.
        yield* Effect.catchTag(Effect.asVoid(storage.commit({ deletes })), "StorageConflict", () => Effect.void)
      count += page.length
      if (page.length < PAGE) return count
    }
  })

  // The store closes after this one: what is under way keeps its answer first.
  yield* Effect.addFinalizer(() =>
    Effect.forEach([...fibers], (fiber) => Fiber.await(fiber), { discard: true }).pipe(
      Effect.timeoutOption(CLOSING_MS),
      Effect.andThen(Effect.suspend(() => Fiber.interruptAll([...fibers])))
    )
  )

  return Idempotency.of({
    keepsSecrets: box !== null,
    run: <A extends KeptAnswer, E, R>(request: Repeatable, attempt: Effect.Effect<A, E, R>) =>
      Effect.contextWith((services: Context.Context<R>) => {
        const slot = slotOf(request)
        const other = underWay.get(slot)
        if (other !== undefined) return beside(meanwhile(request, slot, other))
        underWay.set(slot, request.fingerprint)
        // Detached: a caller that leaves comes back with the same key, and gets the answer.
        // An attempt may take its store from its caller, and not from a governor.
        const held = Context.getOption(services, Storage)
        const inside = Option.isNone(held) ? services : Context.add(services, Storage, answering(held.value))
        const run = once(request, slot, attempt, ATTEMPTS)
        const fiber = Effect.runForkWith(inside)(beside(request.actsOutside === true ? alone(slot, run) : run))
        fibers.add(fiber)
        fiber.addObserver(() => {
          underWay.delete(slot)
          fibers.delete(fiber)
        })
        return Fiber.join(fiber)
      }),
    forgetOld
  })
})
