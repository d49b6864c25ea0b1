/**
 * Webhooks: which receivers get which events. Spec: document 1 sections 4 and 6, document 2 sections 2, 4 and 6; api
 * "agents and registry", `/webhooks`; decision 0019.
 */
import {
  DEFAULT_PAGE,
  type DeliveriesQuery,
  DeliveryNotFound,
  type DeliveryOut,
  type DeliveryUnfinished,
  detailItem,
  InvalidInput,
  isId,
  isMailAddress,
  type RecoverIn,
  type RecoverOut,
  type RotateSecretIn,
  type RotationUnderWay,
  type WebhookInput,
  WebhookNotActive,
  WebhookNotFound,
  type WebhookOut,
  WebhookRevoked,
  WebhooksUnavailable,
  type WebhookTestOut,
  type WebhookWithSecret
} from "@flyball/contract"
import { type Crypto, formatInstant, parseInstant } from "@flyball/evidence"
import { Context, Effect, Layer, Option } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { commitAnswered } from "../../idempotency/idempotency.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { Entropy, type EntropySource } from "../../foundation/entropy.ts"
import { newId } from "../../foundation/ids.ts"
import { everyDocument } from "../../storage/document-pages.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { orgUnitDigestOf } from "../../storage/event.ts"
import { WEBHOOKS } from "../../storage/outbox/outbox.ts"
import { type ChangeSet, type Document, type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { planChange, type WebhookChange } from "./plan-change.ts"
import { planCompleteRotation, planRotate } from "./plan-rotate.ts"
import { planCreate } from "./plan-create.ts"
import { planDisable } from "./plan-disable.ts"
import { planEnable } from "./plan-enable.ts"
import { planRevoke, REVOKE_SCOPE } from "./plan-revoke.ts"
import { storedWebhook, type StoredWebhook, webhookOut } from "./document.ts"
import { SecretBox, type SecretBoxApi } from "../../foundation/secret-box.ts"
import { WebhookSender, type WebhookSenderApi } from "./ports.ts"
import { RESEND_MS, resendMissed } from "./resend-missed.ts"
import { redeliver } from "./redeliver.ts"
import { type WebhookDocument, endpointAfter, ownerOf, SECRET_BYTES, secretText, urlFormProblem } from "@flyball/rules"
import { openSecrets, overlapUntilMs, sealSecret, storedSecret, WEBHOOK_SECRETS } from "./secrets.ts"
import { sendTest } from "./send-test.ts"
import { showDeliveries } from "./show-deliveries.ts"
import { WebhookSettings, type WebhookSettingsApi } from "./settings.ts"
import { requireUsableSettings, type WebhookSettingsInvalid } from "./settings-problem.ts"

/**
 * Operations on the webhooks of one owner; those of others do not exist for them. Every change of a webhook is a
 * record. Spec: document 1 sections 4 and 6, document 2 section 6; decisions 0019 and 0030.
 */
export interface OwnedWebhooksApi {
  /**
   * The answer holds the secret, this once. Who is written to when it fails: the input's address, else `creatorEmail`
   * where letters can be sent to it, else the host's.
   */
  readonly create: (
    input: WebhookInput,
    writer: Writer,
    creatorEmail?: string | null
  ) => Effect.Effect<WebhookWithSecret, InvalidInput | WebhooksUnavailable | ReadFault>
  /** Oldest first, revoked ones too. */
  readonly list: Effect.Effect<ReadonlyArray<WebhookOut>, ReadFault>
  readonly get: (id: string) => Effect.Effect<WebhookOut, WebhookNotFound | ReadFault>
  /** Changes what is named, in one record. What is disabled has its pending deliveries cancelled. */
  readonly change: (
    id: string,
    change: WebhookChange,
    writer: Writer
  ) => Effect.Effect<WebhookOut, InvalidInput | WebhookNotFound | WebhookRevoked | WebhooksUnavailable | ReadFault>
  /** Cancels its pending deliveries and deletes its secret. Revoking a revoked webhook answers it unchanged. */
  readonly revoke: (id: string, writer: Writer) => Effect.Effect<WebhookOut, WebhookNotFound | ReadFault>
  /** From `failed` or `disabled`; one that is active is answered as it is. */
  readonly enable: (
    id: string,
    writer: Writer
  ) => Effect.Effect<WebhookOut, WebhookNotFound | WebhookRevoked | ReadFault>
  /** Stops sending to an active webhook until it is enabled, and cancels its pending deliveries. */
  readonly disable: (
    id: string,
    writer: Writer
  ) => Effect.Effect<WebhookOut, WebhookNotFound | WebhookRevoked | ReadFault>
  /** The answer holds the new secret, this once. */
  readonly rotateSecret: (
    id: string,
    input: RotateSecretIn,
    writer: Writer
  ) => Effect.Effect<
    WebhookWithSecret,
    WebhookNotFound | WebhookRevoked | RotationUnderWay | WebhooksUnavailable | ReadFault
  >
  /** Ends the old secret now. */
  readonly completeRotation: (
    id: string,
    writer: Writer
  ) => Effect.Effect<WebhookOut, WebhookNotFound | WebhookRevoked | ReadFault>
  /** Newest first. */
  readonly deliveries: (
    id: string,
    query?: DeliveriesQuery
  ) => Effect.Effect<ReadonlyArray<DeliveryOut>, WebhookNotFound | ReadFault>
  /**
   * Has a waiting delivery tried at once, as the next of its seven attempts. Owes the event of a finished one once
   * more: a new delivery, the same event id.
   */
  readonly redeliver: (
    id: string,
    deliveryId: string
  ) => Effect.Effect<
    DeliveryOut,
    WebhookNotFound | WebhookNotActive | DeliveryNotFound | DeliveryUnfinished | ReadFault
  >
  readonly recover: (
    id: string,
    input: RecoverIn
  ) => Effect.Effect<RecoverOut, WebhookNotFound | WebhookNotActive | InvalidInput | ReadFault>
  /** Makes one attempt at once, without retries. */
  readonly test: (
    id: string
  ) => Effect.Effect<WebhookTestOut, WebhookNotFound | WebhookRevoked | WebhooksUnavailable | ReadFault>
}

/**
 * The webhooks of the governance, and those of an org unit, which get the events of that unit alone. Spec: document 1
 * section 6, document 2 section 6.
 */
export interface WebhooksApi extends OwnedWebhooksApi {
  /** `show` makes the answer to a request of a change: what is kept for its Idempotency-Key, in the same commit. */
  readonly ofOrgUnit: (orgUnit: string, show?: ShowWebhook) => OwnedWebhooksApi
}

/** Makes an answer of a webhook, with its secret where that is new. */
export type ShowWebhook = (webhook: WebhookOut | WebhookWithSecret) => unknown

/** Hours of a rotation's overlap where nobody says. */
const OVERLAP_HOURS = 24
const HOUR_MS = 3_600_000
/**
 * Service of webhooks. Without a sender and a secret box webhooks can only be listed and ended. Spec: document 1
 * sections 4 and 6, document 2 section 6; decisions 0019 and 0030.
 */
export class Webhooks extends Context.Service<Webhooks, WebhooksApi>()("flyball/core/Webhooks") {
  static readonly layer: Layer.Layer<Webhooks, WebhookSettingsInvalid, Storage> = Layer.effect(
    Webhooks,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const settings = yield* WebhookSettings
  yield* requireUsableSettings(settings)
  const services: WebhookServices = {
    storage: yield* Storage,
    crypto: yield* EvidenceCrypto,
    entropy: yield* Entropy,
    settings,
    sender: Option.getOrNull(yield* Effect.serviceOption(WebhookSender)),
    box: Option.getOrNull(yield* Effect.serviceOption(SecretBox))
  }
  return Webhooks.of({
    ...ownedBy(services, null),
    ofOrgUnit: (orgUnit, show) => ownedBy(services, orgUnitDigestOf(orgUnit), show)
  })
})

interface WebhookServices {
  readonly storage: StorageApi
  readonly crypto: Crypto
  readonly entropy: EntropySource
  readonly settings: WebhookSettingsApi
  readonly sender: WebhookSenderApi | null
  readonly box: SecretBoxApi | null
}

/** The operations for one owner: an org unit by its digest, or null for the governance. */
const ownedBy = (
  { box, crypto, entropy, sender, settings, storage }: WebhookServices,
  ownerDigest: string | null,
  show: ShowWebhook = (webhook) => webhook
): OwnedWebhooksApi => {
  const owner = ownerDigest === null ? null : ownerOf(ownerDigest)

  const read = (id: string): Effect.Effect<StoredWebhook, WebhookNotFound | ReadFault> =>
    isId("webhook", id)
      ? Effect.flatMap(storage.get(WEBHOOKS, id), (document) =>
          document === null || storedWebhook(document).body.owner !== owner
            ? Effect.fail(new WebhookNotFound({ webhookId: id }))
            : Effect.succeed(storedWebhook(document))
        )
      : Effect.fail(new WebhookNotFound({ webhookId: id }))

  const readSecret = (id: string): Effect.Effect<Document, ReadFault> =>
    Effect.flatMap(storage.get(WEBHOOK_SECRETS, id), (document) =>
      document === null
        ? Effect.fail(new StorageCorrupt({ reason: `webhook ${id} has no secret document` }))
        : Effect.succeed(document)
    )

  /** The store's time, which deliveries are signed by. */
  const now = Effect.map(storage.asOf, ({ ms }) => ms)

  /** As they are shown, each with what is kept of its secret. */
  const shown = Effect.fnUntraced(function* (
    webhooks: ReadonlyArray<StoredWebhook>,
    secretOf: (webhook: StoredWebhook) => Effect.Effect<Pick<Document, "body"> | null, ReadFault>
  ) {
    const nowMs = yield* now
    const revocations = yield* storage.once(
      REVOKE_SCOPE,
      webhooks.filter(({ body }) => body.status === "revoked").map(({ id }) => id)
    )
    const seqs = new Map(revocations.map(({ key, seq }) => [key, seq]))
    return yield* Effect.forEach(
      webhooks,
      Effect.fnUntraced(function* (webhook) {
        const { body, id } = webhook
        const seq = seqs.get(id)
        // One that is revoked without a record here was revoked in a chain before this one: at the latest when this one
        // began.
        const revokedAtMs = body.status === "revoked" ? ((yield* storage.record(seq ?? 0))?.atMs ?? null) : null
        const secret = body.status === "revoked" ? null : yield* secretOf(webhook)
        return webhookOut(id, body, {
          revokedAtMs,
          overlapUntilMs: overlapUntilMs(secret === null ? null : storedSecret(secret), nowMs)
        })
      }),
      { concurrency: 8 }
    )
  })
  const keptSecret = ({ id }: StoredWebhook): Effect.Effect<Document | null, ReadFault> =>
    storage.get(WEBHOOK_SECRETS, id)
  const get = (id: string): Effect.Effect<WebhookOut, WebhookNotFound | ReadFault> =>
    Effect.flatMap(read(id), (webhook) => Effect.map(shown([webhook], keptSecret), ([one]) => one!))

  /**
   * Commits, and answers the webhook as this act leaves it: read again, it could be as another act has left it since.
   * `secret` is what was kept before.
   */
  const commitShown = Effect.fnUntraced(function* <M extends object = {}>(
    webhook: StoredWebhook,
    secret: Document | null,
    change: ChangeSet | null,
    more = {} as M
  ) {
    const put = (collection: string) =>
      change?.puts?.find((one) => one.collection === collection && one.id === webhook.id)
    const body = (put(WEBHOOKS)?.body ?? webhook.body) as WebhookDocument
    const answer = Effect.map(
      shown([{ ...webhook, body }], () => Effect.succeed(put(WEBHOOK_SECRETS) ?? secret)),
      ([one]) => ({ ...one!, ...more })
    )
    if (change === null) return yield* answer
    // When it was revoked is in the record of this commit.
    if (body.status === "revoked") return yield* Effect.andThen(storage.commit(change), answer)
    const known = yield* answer
    yield* commitAnswered(storage.commit(change), show(known))
    return known
  })

  const freshSecret = Effect.fnUntraced(function* (webhookId: string) {
    if (box === null) return yield* new WebhooksUnavailable()
    const secret = secretText(entropy.bytes(SECRET_BYTES))
    return { secret, sealed: yield* sealSecret(box, webhookId, secret), keyId: box.keyId }
  })

  const urlProblem = (url: string) =>
    sender === null ? new WebhooksUnavailable() : invalidUrl(urlFormProblem(url, true) ?? sender.urlProblem(url), url)

  return {
    create: (input, writer, creatorEmail = null) =>
      commitWithRetry(
        storage,
        Effect.gen(function* () {
          const problem = urlProblem(input.url)
          if (problem !== null) return yield* problem
          const webhookId = yield* newId("whk")
          const { keyId, sealed, secret } = yield* freshSecret(webhookId)
          const { change, webhook } = planCreate({
            webhookId,
            input,
            defaultNotifyEmail:
              creatorEmail !== null && isMailAddress(creatorEmail) ? creatorEmail : settings.alertEmail,
            secret: { sealed, key_id: keyId },
            ownerDigest,
            writer
          })
          const made = { ...webhookOut(webhookId, webhook, { revokedAtMs: null, overlapUntilMs: null }), secret }
          yield* commitAnswered(storage.commit(change), show(made))
          return made
        })
      ),

    list: everyDocument(storage, WEBHOOKS, (page) =>
      shown(
        page.map(storedWebhook).filter(({ body }) => body.owner === owner),
        keptSecret
      )
    ),

    get,

    change: (id, change, writer) =>
      commitWithRetry(
        storage,
        Effect.gen(function* () {
          const webhook = yield* read(id)
          const problem = change.url === undefined ? null : urlProblem(change.url)
          if (problem !== null) return yield* problem
          return yield* commitShown(
            webhook,
            yield* keptSecret(webhook),
            yield* Effect.fromResult(planChange(webhook, change, writer))
          )
        })
      ),

    revoke: (id, writer) =>
      commitWithRetry(
        storage,
        Effect.gen(function* () {
          const webhook = yield* read(id)
          const secret = yield* keptSecret(webhook)
          return yield* commitShown(webhook, secret, planRevoke(webhook, secret, writer))
        })
      ),

    enable: (id, writer) =>
      commitWithRetry(
        storage,
        Effect.gen(function* () {
          const webhook = yield* read(id)
          return yield* commitShown(
            webhook,
            yield* keptSecret(webhook),
            yield* Effect.fromResult(planEnable(webhook, writer))
          )
        })
      ),

    disable: (id, writer) =>
      commitWithRetry(
        storage,
        Effect.gen(function* () {
          const webhook = yield* read(id)
          return yield* commitShown(
            webhook,
            yield* keptSecret(webhook),
            yield* Effect.fromResult(planDisable(webhook, writer))
          )
        })
      ),

    rotateSecret: (id, input, writer) =>
      commitWithRetry(
        storage,
        Effect.gen(function* () {
          const webhook = yield* read(id)
          const secret = yield* readSecret(id)
          const fresh = yield* freshSecret(id)
          // A secret that does not open any more, since its key is lost, cannot sign beside the new one.
          const opens = box !== null && (yield* Effect.isSuccess(openSecrets(box, crypto, id, storedSecret(secret))))
          const overlapMs = opens ? (input.overlap_hours ?? OVERLAP_HOURS) * HOUR_MS : 0
          const change = yield* Effect.fromResult(
            planRotate({ webhook, secret, sealed: fresh.sealed, keyId: fresh.keyId, overlapMs, writer }, yield* now)
          )
          return yield* commitShown(webhook, secret, change, { secret: fresh.secret })
        })
      ),

    completeRotation: (id, writer) =>
      commitWithRetry(
        storage,
        Effect.gen(function* () {
          const webhook = yield* read(id)
          const secret = yield* readSecret(id)
          return yield* commitShown(
            webhook,
            secret,
            yield* Effect.fromResult(planCompleteRotation(webhook, secret, yield* now, writer))
          )
        })
      ),

    deliveries: Effect.fnUntraced(function* (id, { before, limit } = {}) {
      yield* read(id)
      const page = { limit: limit ?? DEFAULT_PAGE, ...(before === undefined ? {} : { before }) }
      return yield* showDeliveries(storage, yield* storage.outbox.deliveriesOf(id, page))
    }),

    redeliver: (id, deliveryId) =>
      commitWithRetry(
        storage,
        Effect.gen(function* () {
          const webhook = yield* read(id)
          const found = isId("delivery", deliveryId) ? yield* storage.outbox.delivery(deliveryId) : null
          if (found === null || found.delivery.endpointId !== id) return yield* new DeliveryNotFound({ deliveryId })
          if (endpointAfter("redeliver", webhook.body.status) === null)
            return yield* new WebhookNotActive({ status: webhook.body.status })
          return (yield* showDeliveries(storage, [yield* redeliver(storage, webhook, found.delivery)]))[0]!
        })
      ),

    recover: Effect.fnUntraced(function* (id, { dry_run: dryRun, since }) {
      yield* read(id)
      const sinceMs = parseInstant(since)!
      const nowMs = yield* now
      if (sinceMs < nowMs - RESEND_MS) {
        const earliest = `Expected a time from ${formatInstant(nowMs - RESEND_MS)} on, 14 days ago`
        return yield* new InvalidInput({ detail: [detailItem(["body", "since"], "value_error", earliest, since)] })
      }
      const webhook = Effect.filterOrFail(
        read(id),
        ({ body }) => endpointAfter("recover", body.status) !== null,
        ({ body }) => new WebhookNotActive({ status: body.status })
      )
      const { count, hasMore } = yield* resendMissed(storage, {
        webhookId: id,
        webhook,
        sinceMs,
        untilMs: nowMs,
        dryRun: dryRun === true
      })
      return { count, dry_run: dryRun === true, has_more: hasMore }
    }),

    test: Effect.fnUntraced(function* (id) {
      const { body } = yield* read(id)
      if (endpointAfter("test", body.status) === null || body.url === null)
        return yield* new WebhookRevoked({ webhookId: id })
      const secret = yield* readSecret(id)
      const head = yield* storage.head
      if (sender === null || box === null || head === null) return yield* new WebhooksUnavailable()
      const keys = yield* Effect.catchTag(openSecrets(box, crypto, id, storedSecret(secret)), "SecretUnreadable", () =>
        Effect.fail(new WebhooksUnavailable())
      )
      return yield* sendTest(
        { webhookId: id, owner, url: body.url, keys, head, atMs: yield* now },
        sender,
        settings,
        crypto
      )
    })
  }
}

const invalidUrl = (problem: string | null, url: string): InvalidInput | null =>
  problem === null ? null : new InvalidInput({ detail: [detailItem(["body", "url"], "value_error", problem, url)] })
