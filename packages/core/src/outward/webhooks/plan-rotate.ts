/** Plans the rotation of a webhook's secret, and the end of the overlap. Pure. */
import { RotationUnderWay, WebhookRevoked } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Result } from "effect"
import type { ChangeSet, Document, DocumentPut } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { endpointAfter } from "@flyball/rules"
import { overlapUntilMs, putSecret, storedSecret } from "./secrets.ts"
import { type StoredWebhook, putWebhook } from "./document.ts"

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
