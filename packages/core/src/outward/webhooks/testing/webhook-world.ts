/** Webhooks over a store in memory, with receivers that tests decide over. */
import { fromUtf8 } from "@flyball/evidence"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Chain } from "../../../chain/chain.ts"
import { ephemeralKeys } from "../../../chain/keys/ephemeral-keys.ts"
import { keysLayerOf } from "../../../chain/keys/keys.ts"
import type { GovernorServices, StartError } from "../../../governor/governor-layer.ts"
import { Replay } from "../../replay/service.ts"
import { layerOf } from "../../../storage/choice.ts"
import { CommitFeed } from "../../../storage/commit-feed.ts"
import { memoryStorage } from "../../../storage/memory/memory.ts"
import { Storage, type StorageApi } from "../../../storage/port.ts"
import { governorWorld } from "../../../testing/governor-world.ts"
import { SecretBox, SecretUnreadable } from "../../../foundation/secret-box.ts"
import { type Attempted, type Mail, Mailer, MailFailed, type OutgoingRequest, WebhookSender } from "../ports.ts"
import { Webhooks } from "../service.ts"
import { literalWebhookSettings, WebhookSettings, type WebhookSettingsApi } from "../settings.ts"

/** A request as it came in, and when. */
export interface Arrived extends OutgoingRequest {
  readonly atMs: number
}

/** The simulated outside: receivers, and a mail server. */
export interface Outside {
  readonly arrived: Array<Arrived>
  readonly mails: Array<Mail>
  /** How a request is answered; tests set it. */
  answer: (request: Arrived) => Effect.Effect<Attempted>
  /** True when the mail server takes letters. */
  takesMail: boolean
}

const plain = { durationMs: 0, responseExcerpt: "", retryAfterMs: null } as const

/** 2xx. */
export const accepted: Attempted = { ...plain, statusCode: 204, errorCode: null }
/** Anything else. */
export const answered = (statusCode: number, retryAfterMs: number | null = null): Attempted => ({
  ...plain,
  statusCode,
  errorCode: "http_status",
  retryAfterMs
})
/** Nobody there. */
export const unreachable: Attempted = { ...plain, statusCode: null, errorCode: "connect" }

/** Receivers that take everything, until a test says otherwise. */
export const outside = (): Outside => ({
  arrived: [],
  mails: [],
  answer: () => Effect.succeed(accepted),
  takesMail: true
})

/**
 * Turns every bit around and adds whose it is: enough to see that nothing is kept as it is, and that each opens only
 * its own.
 */
const turningBox: SecretBox["Service"] = {
  keyId: "test",
  seal: (secret, boundTo) =>
    Effect.sync(() =>
      Uint8Array.from([...secret.map((byte) => byte ^ 255), ...new TextEncoder().encode(`|${boundTo}`)])
    ),
  open: (sealed, boundTo) => {
    const owner = new TextEncoder().encode(`|${boundTo}`)
    const at = sealed.length - owner.length
    return at >= 0 && fromUtf8(sealed.slice(at)) === `|${boundTo}`
      ? Effect.succeed(sealed.slice(0, at).map((byte) => byte ^ 255))
      : Effect.fail(new SecretUnreadable({ reason: "it was sealed for another" }))
  }
}

/** Sender, mailer and secret box over what is outside. */
export const outsideLayer = (there: Outside): Layer.Layer<WebhookSender | Mailer | SecretBox> =>
  Layer.mergeAll(
    Layer.succeed(WebhookSender, {
      send: (request) =>
        Effect.flatMap(Clock.currentTimeMillis, (atMs) => {
          const one = { ...request, atMs }
          there.arrived.push(one)
          return there.answer(one)
        }),
      urlProblem: (url) => (url.includes("10.0.0.1") ? "URL leads to a private address" : null)
    }),
    Layer.succeed(Mailer, {
      send: (mail) =>
        there.takesMail
          ? Effect.sync(() => void there.mails.push(mail))
          : Effect.fail(new MailFailed({ reason: "the mail server is away" }))
    }),
    Layer.succeed(SecretBox, turningBox)
  )

/** Services that {@link webhookWorld} provides. */
export type WebhookWorld = Webhooks | Replay | Chain | CommitFeed | Storage | WebhookSender | Mailer | SecretBox

/**
 * Webhooks over a new store, without the rest of a governor: nothing else wakes as time passes, so days pass in no
 * time. Nothing is sent yet: add `deliveryEngine`.
 * `wrap` stands between the store and everything else.
 */
export const webhookWorld = (
  there: Outside,
  settings: Partial<WebhookSettingsApi> = {},
  wrap = (storage: StorageApi): StorageApi => storage
): Layer.Layer<WebhookWorld, unknown> =>
  Layer.mergeAll(Webhooks.layer, Replay.layer).pipe(
    Layer.provideMerge(CommitFeed.layer),
    Layer.provideMerge(Chain.layer({ origin: "flyball.example/test" })),
    Layer.provide(keysLayerOf(ephemeralKeys())),
    Layer.provideMerge(Layer.effect(Storage, Effect.map(Storage, wrap)).pipe(Layer.provide(layerOf(memoryStorage())))),
    ...around(there, settings)
  )

/** A whole governor with what is outside of it. */
export const governorWithWebhooks = (
  there: Outside,
  settings: Partial<WebhookSettingsApi> = {}
): Layer.Layer<GovernorServices | Storage | WebhookSender | Mailer | SecretBox, StartError> =>
  governorWorld().pipe(...around(there, settings))

const around = (there: Outside, settings: Partial<WebhookSettingsApi>) =>
  [
    Layer.provideMerge(outsideLayer(there)),
    Layer.provideMerge(Layer.succeed(WebhookSettings, { ...literalWebhookSettings, ...settings }))
  ] as const

/** An event that a webhook may want. */
export const happened = (type = "agent.registered"): Effect.Effect<void, unknown, Storage> =>
  Storage.use((storage) => Effect.asVoid(storage.commit({ events: [{ type, data: {} }] })))

/**
 * Turns in which everything that is due in this test happens: no time passes. What one instant brings about is seen to
 * take three, on whatever machine; each costs real time on a busy one.
 */
const TURNS = 20

/** Lets everything that is due happen. */
export const untilIdle: Effect.Effect<void> = Effect.gen(function* () {
  for (let turn = 0; turn < TURNS; turn++) yield* TestClock.adjust(0)
})

/**
 * Lets time pass, from one instant at which something is owed to the next, and everything happen that is due then. A
 * clock that is simply set ahead would be ahead of the engine.
 *
 * - Unit: milliseconds.
 */
export const wait = Effect.fnUntraced(function* (ms: number) {
  const storage = yield* Storage
  const endMs = (yield* Clock.currentTimeMillis) + ms
  for (;;) {
    yield* untilIdle
    const nowMs = yield* Clock.currentTimeMillis
    const webhooks = yield* storage.list("webhooks")
    const owed = (yield* Effect.forEach(webhooks, ({ id }) => storage.outbox.deliveriesOf(id, { limit: 1_000 }))).flat()
    // Receivers answer on whole seconds here.
    const dueMs = owed.flatMap(({ nextAttemptAtMs, state }) =>
      state === "in_flight"
        ? [nowMs + 1_000]
        : nextAttemptAtMs !== null && nextAttemptAtMs > nowMs
          ? [nextAttemptAtMs]
          : []
    )
    const nextMs = Math.min(endMs, ...dueMs)
    if (nextMs <= nowMs) return
    yield* TestClock.setTime(nextMs)
  }
})
