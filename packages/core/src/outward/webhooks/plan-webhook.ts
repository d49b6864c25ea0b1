/** Plans the life of a webhook: made, revoked, enabled, its secret rotated. Pure. */
import { RotationUnderWay, type WebhookInput, type WebhookOut, WebhookRevoked } from "@flyball/contract"
import { canonicalBytes, formatInstant } from "@flyball/evidence"
import { Result } from "effect"
import { idAtMs } from "../../foundation/id-time.ts"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { ChangeSet, Document, DocumentPut, JsonObject, RecordDraft } from "../../storage/port.ts"
import { type ListEntry, listKeys } from "../../storage/lists/keys.ts"
import { WEBHOOKS } from "../../storage/outbox/outbox.ts"
import type { Writer } from "../../foundation/writer.ts"
import {
  type ChangeCause,
  endpointAfter,
  type EndpointStatus,
  erasedEndpoint,
  ownerOf,
  type WebhookDocument,
  webhookKeys,
  writeMembers
} from "@flyball/rules"
import { forgottenSecret, overlapUntilMs, putSecret, type SecretDocument, storedSecret } from "./secrets.ts"

/** A webhook as it was read. */
export interface StoredWebhook {
  readonly id: string
  readonly version: number
  readonly body: WebhookDocument
}

/** The webhook in a document of the collection `webhooks`; only this folder writes there. */
export const storedWebhook = ({ body, id, version }: Document): StoredWebhook => ({
  id,
  version,
  body: body as WebhookDocument
})

/** Everything that creating needs to know. The secret itself never comes here. */
export interface CreateCommand {
  readonly webhookId: string
  readonly input: WebhookInput
  /** Who is written to where the input names nobody; null: nobody. */
  readonly defaultNotifyEmail: string | null
  readonly secret: SecretDocument
  /** SHA-256 of the org unit whose events it gets; null: it gets those of the governance. */
  readonly ownerDigest: string | null
  readonly writer: Writer
}

/**
 * Plans the creation of a webhook.
 *
 * - Fails: never; the caller has checked that the URL may be sent to.
 * - Spec: document 2 section 4, POST /webhooks; api "agents and registry".
 */
export const planCreate = ({
  defaultNotifyEmail,
  input,
  ownerDigest,
  secret,
  webhookId,
  writer
}: CreateCommand): { readonly webhook: WebhookDocument; readonly change: ChangeSet } => {
  const webhook: WebhookDocument = {
    url: input.url,
    description: input.description ?? null,
    notifyEmail: input.notify_email ?? defaultNotifyEmail,
    events: [...new Set(input.events)],
    owner: ownerDigest === null ? null : ownerOf(ownerDigest),
    status: "active",
    cause: null,
    createdBy: writer.id
  }
  const endpoint = omitNullish(writeMembers(webhook, erasedEndpoint))
  return {
    webhook,
    change: {
      puts: [putWebhook(webhookId, 0, webhook), putSecret(webhookId, 0, secret)],
      records: [
        {
          kind: "webhook.created",
          agentId: null,
          body: omitNullish({
            events: webhook.events,
            owner_digest: ownerDigest,
            webhook_id: webhookId,
            writer: writer.id
          }) as JsonObject,
          parts: [{ name: "endpoint", bytes: canonicalBytes(endpoint) }]
        }
      ]
    }
  }
}

/** Scope of the revocations: by it the record of a webhook's revocation, and so its time, is found again. */
export const REVOKE_SCOPE = "webhook.revoked"
/** A webhook is revoked once: every revocation has this digest. */
export const REVOKED_DIGEST = "0".repeat(64)

/**
 * Plans the revocation of a webhook; null when it is revoked already. Its pending deliveries are cancelled, and its
 * secret is deleted.
 *
 * - Fails: never.
 * - Spec: document 1 section 4, POST /webhooks/{webhook_id}/revoke.
 */
export const planRevoke = (
  { body, id, version }: StoredWebhook,
  secret: Document | null,
  writer: Writer
): ChangeSet | null => {
  const status = endpointAfter("revoke", body.status)
  if (status === null) return null
  return {
    puts: [
      putWebhook(id, version, { ...body, status, cause: "owner" }),
      ...(secret === null ? [] : [forgottenSecret(secret)])
    ],
    records: [webhookRevoked(id, writer)],
    cancel: [{ endpointId: id }]
  }
}

/** The record of a webhook's end. */
export const webhookRevoked = (id: string, writer: Writer): RecordDraft => ({
  kind: "webhook.revoked",
  agentId: null,
  body: { webhook_id: id, writer: writer.id },
  parts: [],
  once: { scope: REVOKE_SCOPE, key: id, digest: REVOKED_DIGEST }
})

/**
 * Plans enabling a webhook; null when it is active already. Only later events are delivered to it; `recover` delivers
 * the earlier ones.
 *
 * - Fails: `WebhookRevoked`.
 */
export const planEnable = (
  { body, id, version }: StoredWebhook,
  writer: Writer
): Result.Result<ChangeSet | null, WebhookRevoked> => {
  if (body.status === "active") return Result.succeed(null)
  const status = endpointAfter("enable", body.status)
  return status === null
    ? Result.fail(new WebhookRevoked({ webhookId: id }))
    : Result.succeed(changeStatus({ body, id, version }, status, "enabled", writer))
}

/**
 * Plans disabling a webhook; null when nothing is sent to it anyway. Its pending deliveries are cancelled.
 *
 * - Fails: `WebhookRevoked`.
 */
export const planDisable = (
  webhook: StoredWebhook,
  writer: Writer
): Result.Result<ChangeSet | null, WebhookRevoked> => {
  if (webhook.body.status === "revoked") return Result.fail(new WebhookRevoked({ webhookId: webhook.id }))
  const status = endpointAfter("disable", webhook.body.status)
  return Result.succeed(
    status === null ? null : { ...changeStatus(webhook, status, "owner", writer), cancel: [{ endpointId: webhook.id }] }
  )
}

/** A change of a webhook by its owner: what is left out stays. A description may be emptied by null. */
export interface WebhookChange {
  readonly url?: string
  readonly events?: ReadonlyArray<string>
  readonly description?: string | null
  readonly status?: "active" | "disabled"
}

/**
 * Plans a change of a webhook as one record; null when it changes nothing. One that is disabled has its pending
 * deliveries cancelled.
 *
 * - Fails: `WebhookRevoked`.
 * - Spec: api.md "Document 2", PATCH /v1/webhooks/{webhook_id}.
 */
export const planChange = (
  { body, id, version }: StoredWebhook,
  change: WebhookChange,
  writer: Writer
): Result.Result<ChangeSet | null, WebhookRevoked> => {
  if (body.status === "revoked") return Result.fail(new WebhookRevoked({ webhookId: id }))
  const events = change.events === undefined ? body.events : [...new Set(change.events)]
  const { description = body.description, url = body.url } = change
  const act = change.status === undefined ? null : change.status === "active" ? "enable" : "disable"
  const status = act === null ? null : endpointAfter(act, body.status)
  const cause: ChangeCause = status === "active" ? "enabled" : "owner"
  const hasEvents = String(events) !== String(body.events)
  const hasTexts = url !== body.url || description !== body.description
  if (!hasEvents && !hasTexts && status === null) return Result.succeed(null)
  const next = { ...body, url, description, events, ...(status === null ? {} : { status, cause }) } as const
  const endpoint = omitNullish(writeMembers(next, erasedEndpoint))
  return Result.succeed({
    puts: [putWebhook(id, version, next)],
    records: [
      {
        kind: "webhook.changed",
        agentId: null,
        body: omitNullish({
          cause,
          events: hasEvents ? events : null,
          status,
          webhook_id: id,
          writer: writer.id
        }) as JsonObject,
        parts: hasTexts ? [{ name: "endpoint", bytes: canonicalBytes(endpoint) }] : []
      }
    ],
    ...(status === "disabled" ? { cancel: [{ endpointId: id }] } : {})
  })
}

/** A webhook in another status, with the record that says why. */
export const changeStatus = (
  { body, id, version }: StoredWebhook,
  status: EndpointStatus,
  cause: ChangeCause,
  writer: Writer
): ChangeSet & { readonly puts: ReadonlyArray<DocumentPut>; readonly records: ReadonlyArray<RecordDraft> } => ({
  puts: [putWebhook(id, version, { ...body, status, cause })],
  records: [
    { kind: "webhook.changed", agentId: null, body: { cause, status, webhook_id: id, writer: writer.id }, parts: [] }
  ]
})

/** Another secret for a webhook. */
export interface RotateCommand {
  readonly webhook: StoredWebhook
  /** The stored secret document, with its version. */
  readonly secret: Document
  /** The new one, sealed. */
  readonly sealed: string
  readonly keyId: string
  readonly overlapMs: number
  readonly writer: Writer
}

/**
 * Plans the rotation of a webhook's secret. The old one signs beside the new one for the overlap.
 *
 * - Fails: `WebhookRevoked`; `RotationUnderWay` when two secrets sign already.
 * - Spec: api "agents and registry", `/webhooks/{id}/rotate-secret`; decision 0019.
 */
export const planRotate = (
  { keyId, overlapMs, sealed, secret, webhook, writer }: RotateCommand,
  nowMs: number
): Result.Result<ChangeSet, WebhookRevoked | RotationUnderWay> => {
  const before = storedSecret(secret)
  if (endpointAfter("rotate-secret", webhook.body.status) === null)
    return Result.fail(new WebhookRevoked({ webhookId: webhook.id }))
  const underWayMs = overlapUntilMs(before, nowMs)
  if (underWayMs !== null) return Result.fail(new RotationUnderWay({ overlapUntil: formatInstant(underWayMs) }))
  const old =
    overlapMs > 0 && before.sealed !== undefined ? { old_sealed: before.sealed, old_until_ms: nowMs + overlapMs } : {}
  return Result.succeed(
    secretChanged(webhook, putSecret(webhook.id, secret.version, { sealed, ...old, key_id: keyId }), writer)
  )
}

/**
 * Plans the early end of an overlap; null when only one secret signs.
 *
 * - Fails: `WebhookRevoked`.
 */
export const planCompleteRotation = (
  webhook: StoredWebhook,
  secret: Document,
  nowMs: number,
  writer: Writer
): Result.Result<ChangeSet | null, WebhookRevoked> => {
  if (endpointAfter("complete-rotation", webhook.body.status) === null)
    return Result.fail(new WebhookRevoked({ webhookId: webhook.id }))
  const { key_id, sealed } = storedSecret(secret)
  if (overlapUntilMs(storedSecret(secret), nowMs) === null || sealed === undefined) return Result.succeed(null)
  return Result.succeed(secretChanged(webhook, putSecret(webhook.id, secret.version, { sealed, key_id }), writer))
}

/**
 * The webhook's own document gets a new version too: by it the senders of every process know that their keys are old.
 */
const secretChanged = ({ body, id, version }: StoredWebhook, put: DocumentPut, writer: Writer): ChangeSet => ({
  puts: [putWebhook(id, version, body), put],
  records: [
    {
      kind: "webhook.changed",
      agentId: null,
      body: { cause: "secret_rotated", webhook_id: id, writer: writer.id },
      parts: []
    }
  ]
})

/** Puts a webhook, with the look-up keys that its status and events give it. */
export const putWebhook = (id: string, version: number, body: WebhookDocument): DocumentPut => ({
  collection: WEBHOOKS,
  id,
  expectedVersion: version,
  body: body as JsonObject,
  keys: { ...webhookKeys(body), ...(body.owner === null ? {} : listKeys(webhookEntry(id, body, body.owner))) }
})

const webhookEntry = (id: string, { status }: WebhookDocument, owner: string): ListEntry => ({
  owner,
  id,
  createdAtMs: idAtMs(id),
  filters: { status }
})

/** The place of an org unit's webhook in the list of that unit. */
export const listedWebhook = ({ body, id }: Document): ListEntry =>
  webhookEntry(id, body as WebhookDocument, String(body["owner"]))

/** A webhook as the lists of the platform API show it. */
export const shownWebhook = (
  document: Document
): Pick<WebhookOut, "id" | "url" | "events" | "description" | "status" | "created_at"> =>
  webhookOut(document.id, storedWebhook(document).body, { revokedAtMs: null, overlapUntilMs: null })

/** Facts about a webhook that its own document does not hold. */
export interface ReportedElsewhere {
  /** Time of the record that revoked it. */
  readonly revokedAtMs: number | null
  readonly overlapUntilMs: number | null
}

/** The webhook as the interface shows it: never its secret. */
export const webhookOut = (id: string, webhook: WebhookDocument, reported: ReportedElsewhere): WebhookOut => ({
  id,
  url: webhook.url,
  events: webhook.events,
  description: webhook.description,
  notify_email: webhook.notifyEmail,
  status: webhook.status,
  cause: webhook.cause,
  created_by: webhook.createdBy,
  created_at: formatInstant(idAtMs(id)),
  revoked_at: reported.revokedAtMs === null ? null : formatInstant(reported.revokedAtMs),
  secret_overlap_until: reported.overlapUntilMs === null ? null : formatInstant(reported.overlapUntilMs)
})
