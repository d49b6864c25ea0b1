/**
 * Sends deliveries: claims those that are due, sends them, and commits their results.
 *
 * Runs in every long-lived process. An attempt is counted when it is claimed, so a crash anywhere costs an attempt and
 * never adds one. A crash between claim and commit leaves a lease that expires; the process that finds it ends
 * the attempt as `crashed`. Spec: document 2 section 6; decision 0019.
 */
import { Cause, Clock, Effect, Fiber, Layer, Queue, Schedule } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import type { Claimed, ClaimAnswer, Delivery } from "../../storage/outbox/outbox.ts"
import { CommitFeed } from "../../storage/commit-feed.ts"
import { type ChangeSet, type ReadFault, Storage } from "../../storage/port.ts"
import { outgoingRequest } from "./outgoing.ts"
import type { Ended } from "./plan-end-attempts.ts"
import { SecretBox } from "../../foundation/secret-box.ts"
import { WebhookSender } from "./ports.ts"
import { renderEvent } from "@flyball/rules"
import { commitEndedAttempts } from "./commit-ended-attempts.ts"
import { WebhookSettings } from "./settings.ts"
import { type Target, Targets } from "./targets.ts"
import { logRarely } from "../../foundation/log-rarely.ts"

/** Options of {@link deliveryEngine}. */
export interface DeliveryEngineOptions {
  /** Deliveries in hand at once, from claim to commit. Default 1,000. */
  readonly maxInFlight?: number
  /**
   * Of one webhook, those of other processes included: a receiver that hangs holds this many and no more. Default 4.
   */
  readonly perEndpoint?: number
  /** Claimed or committed at once. Default 200. */
  readonly batch?: number
  /**
   * How long a claim holds. Unit: milliseconds. Default 30,000: an attempt takes 6 s at most, and its commit a
   * moment.
   */
  readonly leaseMs?: number
  /** How often it polls for what other processes committed. Unit: milliseconds. Default 1,000. */
  readonly pollMs?: number
  /** How long it waits at its end for what is under way. Unit: milliseconds. Default 10,000. */
  readonly drainMs?: number
}

const defaults: Required<DeliveryEngineOptions> = {
  maxInFlight: 1_000,
  perEndpoint: 4,
  batch: 200,
  leaseMs: 30_000,
  pollMs: 1_000,
  drainMs: 10_000
}

/**
 * When something is due already by the store's clock and cannot be had, or our clock is ahead of the store's. Unit:
 * milliseconds.
 */
const NOT_YET_MS = 50

/**
 * Sends deliveries while its scope is open. At its end it claims nothing more, waits up to `drainMs` for attempts under
 * way and commits their ends; the lease ends those that remain. Spec: document 2 section 6, rules 2 to 4; decision
 * 0019; docs/what-is-fast.md.
 */
export const deliveryEngine = (
  options: DeliveryEngineOptions = {}
): Layer.Layer<never, never, Storage | WebhookSender | SecretBox | CommitFeed> =>
  Layer.effectDiscard(engine({ ...defaults, ...options }))

const engine = Effect.fnUntraced(function* ({
  batch,
  drainMs,
  leaseMs,
  maxInFlight,
  perEndpoint,
  pollMs
}: Required<DeliveryEngineOptions>) {
  const storage = yield* Storage
  const sender = yield* WebhookSender
  const crypto = yield* EvidenceCrypto
  const settings = yield* WebhookSettings
  const feed = yield* CommitFeed
  const clock = yield* Clock.Clock
  const targets = new Targets(storage, yield* SecretBox, crypto)
  const services = { storage, settings, sha256: crypto.sha256 }

  const wake = yield* Queue.sliding<void>(1)
  const toCommit = yield* Queue.sliding<void>(1)
  const idle = yield* Queue.sliding<void>(1)
  /** Ids of the deliveries in hand, from claim to commit, and of lapsed ones that wait to be ended. */
  const held = new Set<string>()
  const sending = new Set<Fiber.Fiber<void>>()
  let ended: Array<Ended> = []
  let closing = false
  const isClosing = (): boolean => closing

  const end = (one: Ended): void => {
    ended.push(one)
    Queue.offerUnsafe(toCommit, undefined)
  }

  /** One attempt. It never fails; a defect of the sender is an attempt that crashed. */
  const attempt = (
    { delivery, event }: Claimed,
    target: Target,
    body: Uint8Array,
    claimedNanos: bigint,
    firstStartedAtMs: number
  ): Effect.Effect<void> => {
    const startedAtMs = delivery.leaseUntilMs! - leaseMs
    const request = outgoingRequest(
      {
        url: target.url,
        keys: target.keys,
        eventId: event.id,
        eventType: event.type,
        deliveryId: delivery.id,
        sequence: delivery.sequence,
        attempt: delivery.attempts,
        atMs: startedAtMs,
        body
      },
      settings,
      crypto
    )
    return sender.send(request).pipe(
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("The sender of webhooks failed; the attempt counts as crashed.", defect), crashed)
      ),
      Effect.flatMap(({ errorCode, responseExcerpt, retryAfterMs, statusCode }) =>
        // By the monotonic clock from the store's own time of the claim on: neither a clock that steps nor one that
        // differs from the store's moves the schedule.
        Effect.map(clock.monotonicTimeNanos, (nowNanos) =>
          end({
            delivery,
            eventType: event.type,
            firstStartedAtMs,
            endedAtMs: startedAtMs + Number((nowNanos - claimedNanos) / 1_000_000n),
            errorCode,
            responseExcerpt: cut(responseExcerpt),
            retryAfterMs,
            statusCode
          })
        )
      )
    )
  }

  /** When the first attempt of a delivery began; only some settings ask. */
  const knowsFirstStart = ({ attempts }: Delivery): boolean =>
    attempts === 1 || (settings.schedule.base === "previous_attempt" && settings.endpointFailure === "any_delivery")
  const firstStart = (delivery: Delivery): Effect.Effect<number, ReadFault> => {
    const { id, leaseUntilMs } = delivery
    return knowsFirstStart(delivery)
      ? Effect.succeed(leaseUntilMs! - leaseMs)
      : Effect.map(storage.outbox.delivery(id), (found) => found?.attempts[0]?.startedAtMs ?? leaseUntilMs! - leaseMs)
  }

  const launch = Effect.fnUntraced(function* (claimed: ReadonlyArray<Claimed>, claimedNanos: bigint) {
    for (const { delivery } of claimed) held.add(delivery.id)
    // A store that is away for a moment must not cost attempts that were counted already.
    const isRequested = !claimed.every(({ delivery }) => knowsFirstStart(delivery))
    const firstStarts = isRequested
      ? yield* waitsAMoment(Effect.forEach(claimed, ({ delivery }) => firstStart(delivery)))
      : claimed.map(({ delivery }) => delivery.leaseUntilMs! - leaseMs)
    // The claim's webhook versions are current only while nothing was awaited since: a webhook that was ended meanwhile
    // gets nothing.
    const receivers = yield* waitsAMoment(
      targets.of(new Map(claimed.map(({ delivery, version }) => [delivery.endpointId, isRequested ? null : version])))
    )
    const bodies = new Map<string, Uint8Array>()
    for (const [index, one] of claimed.entries()) {
      const { delivery, event } = one
      const firstStartedAtMs = firstStarts[index]!
      const target = receivers.get(delivery.endpointId)
      if (target === undefined) {
        end({
          delivery,
          eventType: event.type,
          firstStartedAtMs,
          endedAtMs: delivery.leaseUntilMs! - leaseMs,
          ...crashed
        })
        continue
      }
      let body = bodies.get(event.id)
      if (body === undefined) bodies.set(event.id, (body = renderEvent(event)))
      const fiber = yield* Effect.forkDetach(attempt(one, target, body, claimedNanos, firstStartedAtMs), {
        startImmediately: true
      })
      sending.add(fiber)
      fiber.addObserver(() => sending.delete(fiber))
    }
  })

  /** Attempts whose process is gone: they ended, without a report, when their lease did. */
  const endLapsed = Effect.fnUntraced(function* (lapsed: ReadonlyArray<Delivery>) {
    for (const delivery of lapsed) {
      if (held.has(delivery.id)) continue
      const event = yield* storage.outbox.event(delivery.eventId)
      const firstStartedAtMs = yield* firstStart(delivery)
      held.add(delivery.id)
      // It stays claimed, so that it is logged once and does not block other receivers.
      if (event === null) {
        yield* Effect.logError(
          `Delivery ${delivery.id} has no stored event. It is not attempted; an operator must check the store.`
        )
        continue
      }
      end({ delivery, eventType: event.type, firstStartedAtMs, endedAtMs: delivery.leaseUntilMs!, ...crashed })
    }
  })

  /** Claims once, and says how long there is nothing to do. Not interrupted in the middle: what was claimed is sent. */
  const claim = Effect.gen(function* () {
    const limit = Math.min(batch, maxInFlight - held.size)
    if (limit <= 0) return pollMs
    const claimedNanos = yield* Clock.monotonicTimeNanos
    const answer: ClaimAnswer = yield* storage.outbox.claim({ leaseMs, limit, perEndpoint })
    if (answer.claimed.length > 0)
      yield* launch(answer.claimed, claimedNanos).pipe(
        // Nothing was sent: the leases run out, and the attempts count.
        Effect.onError(() => Effect.sync(() => answer.claimed.forEach(({ delivery }) => held.delete(delivery.id))))
      )
    yield* endLapsed(answer.lapsed)
    if (answer.claimed.length === limit) return 0
    if (answer.nextAtMs === null) return pollMs
    const inMs = answer.nextAtMs - (yield* Clock.currentTimeMillis)
    return Math.min(pollMs, inMs > 0 ? inMs : NOT_YET_MS)
  })

  const outage = logRarely(
    "Webhook deliveries could not be claimed; the engine tries again.",
    "Webhook deliveries can be claimed again."
  )

  const claiming = Effect.gen(function* () {
    while (!isClosing()) {
      const waitMs = yield* claim.pipe(
        Effect.tap(outage.over),
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.as(outage.reported(cause), pollMs)
        )
      )
      if (isClosing()) return
      // Even with more to claim the others have their turn first.
      if (waitMs === 0 && held.size < maxInFlight) yield* Effect.yieldNow
      else yield* Effect.timeoutOption(Queue.take(wake), Math.max(waitMs, 1))
    }
  })

  const commitAlone = (one: Ended): Effect.Effect<void, ReadFault> =>
    commitEndedAttempts(services, [one]).pipe(
      Effect.catchDefect((defect) =>
        Effect.logError(
          `The result of delivery ${one.delivery.id} could not be committed. This is a bug; please report it with ` +
            `the cause.`,
          defect
        )
      )
    )

  const commitNext = Effect.gen(function* () {
    const some = ended.slice(0, batch)
    // One that cannot be committed must not keep the others from it.
    yield* commitEndedAttempts(services, some).pipe(
      Effect.catchDefect(() => Effect.forEach(some, commitAlone, { discard: true }))
    )
    return some
  }).pipe(
    // A contradiction in the store does not resolve itself: the leases run out, and an operator must intervene.
    Effect.catchTag("StorageCorrupt", (cause) =>
      Effect.as(
        Effect.logError("Results of webhook deliveries could not be committed, and are not tried again.", cause),
        ended.slice(0, batch)
      )
    )
  )

  const committed = (some: ReadonlyArray<Ended>): void => {
    ended = ended.slice(some.length)
    for (const { delivery } of some) held.delete(delivery.id)
    Queue.offerUnsafe(wake, undefined)
    if (held.size === 0) Queue.offerUnsafe(idle, undefined)
  }

  const committing = Effect.gen(function* () {
    if (ended.length === 0) yield* Queue.take(toCommit)
    else committed(yield* commitNext)
  }).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(
            Effect.logError("Results of webhook deliveries could not be committed; the engine tries again.", cause),
            Effect.sleep(pollMs)
          )
    ),
    Effect.forever
  )

  const committer = yield* Effect.forkDetach(committing)
  const claimer = yield* Effect.forkDetach(claiming)
  // Called for each event. Nearly always nobody wants it, and to find that out a claim takes dozens of Effects, two
  // fibers and a timer.
  yield* feed.subscribe((change) => {
    if (leavesDeliveries(change) && storage.outbox.isEmpty?.() !== true) Queue.offerUnsafe(wake, undefined)
  })

  const drained = Effect.gen(function* () {
    yield* Fiber.await(claimer)
    while (held.size > 0) yield* Queue.take(idle)
  })
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      closing = true
      Queue.offerUnsafe(wake, undefined)
      yield* Effect.timeoutOption(drained, drainMs)
      yield* Fiber.interrupt(claimer)
      yield* Fiber.interruptAll(sending)
      yield* Fiber.interrupt(committer)
    })
  )
})

/**
 * Reports whether a commit leaves deliveries that are due. One that waited is due now. What an attempt sends back to
 * wait is due later, and the engine that did it knows when.
 */
const leavesDeliveries = ({ again = [], events = [], moves = [] }: ChangeSet): boolean =>
  events.length > 0 || again.length > 0 || moves.some(({ from }) => from.state === "pending")

/** How long the store may be away between a claim and its sending; well within the lease. */
const waitsAMoment = <A>(read: Effect.Effect<A, ReadFault>): Effect.Effect<A, ReadFault> =>
  Effect.retry(read, {
    times: 20,
    schedule: Schedule.spaced("250 millis"),
    while: (fault: ReadFault) => fault._tag === "StorageUnavailable"
  })

/**
 * Cuts the response text of a sender that did not cut it to the outbox's limit: 1,024 characters are never more than
 * 4,096 bytes.
 */
const cut = (text: string): string =>
  text.length <= 1_024 || new TextEncoder().encode(text).length <= 4_096 ? text : text.slice(0, 1_024).toWellFormed()

/** An attempt of which nobody knows how it went. */
const crashed = { statusCode: null, errorCode: "crashed", responseExcerpt: "", retryAfterMs: null } as const
