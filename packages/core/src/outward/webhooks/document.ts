/** Reads a webhook out of its document, and writes it for lists and for the wire. */
import type { WebhookOut } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { idAtMs } from "../../foundation/id-time.ts"
import type { Document, DocumentPut, JsonObject } from "../../storage/port.ts"
import { type ListEntry, listKeys } from "../../storage/lists/keys.ts"
import { WEBHOOKS } from "../../storage/outbox/outbox.ts"
import { type WebhookDocument, webhookKeys } from "@flyball/rules"

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
