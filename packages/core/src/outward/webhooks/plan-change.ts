/** Plans the change of a webhook by its owner. Pure. */
import { WebhookRevoked } from "@flyball/contract"
import { canonicalBytes } from "@flyball/evidence"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type ChangeCause, endpointAfter, erasedEndpoint, writeMembers } from "@flyball/rules"
import { type StoredWebhook, putWebhook } from "./document.ts"

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
