/** Sends one signed test event at once. Spec: document 1 section 6. */
import type { WebhookTestOut } from "@flyball/contract"
import type { Crypto } from "@flyball/evidence"
import { Effect } from "effect"
import { newId } from "../../foundation/ids.ts"
import type { Head } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import { outgoingRequest } from "./outgoing.ts"
import type { WebhookSenderApi } from "./ports.ts"
import { renderEvent } from "@flyball/rules"
import type { SigningKeys } from "@flyball/rules"
import type { WebhookSettingsApi } from "./settings.ts"

/** Inputs of a test delivery. */
export interface TestCommand {
  readonly webhookId: string
  readonly owner: string | null
  readonly url: string
  readonly keys: SigningKeys
  readonly head: Head
  /** When it is sent, by the store: what every delivery is signed by. Unit: milliseconds since 1970 UTC. */
  readonly atMs: number
}

/**
 * One attempt at a `webhook.test` event that nobody keeps: it is not in the outbox, is not retried and changes no
 * status, since nothing happened.
 */
export const sendTest = Effect.fnUntraced(function* (
  { atMs, head, keys, owner, url, webhookId }: TestCommand,
  sender: WebhookSenderApi,
  settings: WebhookSettingsApi,
  crypto: Crypto
) {
  const eventId = yield* newId("evt")
  const { data: given, type } = event("webhook.test", { webhook_id: webhookId })
  const owned = owner === null ? {} : { owner }
  const data = owner === null ? given : { ...given, resource: `/v1/webhooks/${webhookId}/deliveries` }
  const body = renderEvent({ id: eventId, type, ...owned, atMs, seq: head.seq, hash: head.hash, data })
  const how = yield* sender.send(
    outgoingRequest(
      { url, keys, eventId, eventType: type, deliveryId: yield* newId("dlv"), sequence: 0, attempt: 1, atMs, body },
      settings,
      crypto
    )
  )
  const out: WebhookTestOut = {
    delivered: how.errorCode === null,
    status_code: how.statusCode,
    duration_ms: Math.round(how.durationMs),
    error: how.errorCode,
    event_id: eventId
  }
  return out
})
