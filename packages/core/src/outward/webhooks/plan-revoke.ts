/** Plans the revocation of a webhook. Pure. */
import type { ChangeSet, Document, RecordDraft } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { endpointAfter } from "@flyball/rules"
import { forgottenSecret } from "./secrets.ts"
import { type StoredWebhook, putWebhook } from "./document.ts"

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
