/** One attempt as the POST it is. */
import type { Crypto } from "@flyball/evidence"
import type { OutgoingRequest } from "./ports.ts"
import { signatureHeaders, type SigningKeys } from "./rules/signature.ts"
import type { WebhookSettingsApi } from "./settings.ts"

/** What an attempt sends, and to whom. */
export interface Outgoing {
  readonly url: string
  readonly keys: SigningKeys
  readonly eventId: string
  readonly eventType: string
  readonly deliveryId: string
  /** 0 for a test, which is in no sequence. */
  readonly sequence: number
  readonly attempt: number
  /** When the attempt began. Unit: milliseconds since 1970 UTC. */
  readonly atMs: number
  readonly body: Uint8Array
}

/** The POST of an attempt, signed. Spec: document 2 section 6; decision 0019. */
export const outgoingRequest = (outgoing: Outgoing, settings: WebhookSettingsApi, crypto: Crypto): OutgoingRequest => ({
  url: outgoing.url,
  headers: {
    "Content-Type": "application/json",
    "User-Agent": settings.userAgent,
    ...signatureHeaders(outgoing.keys, { id: outgoing.eventId, atMs: outgoing.atMs, body: outgoing.body }, crypto.sha256, settings.signatureHeader),
    "webhook-sequence": String(outgoing.sequence),
    "X-Platform-Event": outgoing.eventType,
    "X-Platform-Delivery": outgoing.deliveryId,
    "X-Platform-Attempt": String(outgoing.attempt)
  },
  body: outgoing.body
})
