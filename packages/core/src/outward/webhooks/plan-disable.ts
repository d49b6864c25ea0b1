/** Plans the disabling of a webhook. Pure. */
import { WebhookRevoked } from "@flyball/contract"
import { Result } from "effect"
import type { ChangeSet, DocumentPut, RecordDraft } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type ChangeCause, endpointAfter, type EndpointStatus } from "@flyball/rules"
import { type StoredWebhook, putWebhook } from "./document.ts"

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
