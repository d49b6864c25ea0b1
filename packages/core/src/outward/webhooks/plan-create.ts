/** Plans the creation of a webhook. Pure. */
import type { WebhookInput } from "@flyball/contract"
import { canonicalBytes } from "@flyball/evidence"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { erasedEndpoint, ownerOf, type WebhookDocument, writeMembers } from "@flyball/rules"
import { putSecret, type SecretDocument } from "./secrets.ts"
import { putWebhook } from "./document.ts"

/** Everything that creating needs to know. The secret itself never comes here. */
export interface CreateCommand {
  readonly webhookId: string
  readonly input: WebhookInput
  /** The address that is written to where the input names nobody; null: nobody. */
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
