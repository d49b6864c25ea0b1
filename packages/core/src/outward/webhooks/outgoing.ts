/** One attempt as the POST it is. */
import type { Crypto } from "@flyball/evidence"
import type { OutgoingRequest } from "./ports.ts"
import { addSignatures, type SigningKeys } from "@flyball/rules"
import type { WebhookSettingsApi } from "./settings.ts"

/** Content and target of a delivery attempt. */
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
export const outgoingRequest = (
  { atMs, attempt, body, deliveryId, eventId, eventType, keys, sequence, url }: Outgoing,
  { signatureHeader, userAgent }: WebhookSettingsApi,
  { sha256 }: Crypto
): OutgoingRequest => {
  const headers: { [name: string]: string } = { "Content-Type": "application/json", "User-Agent": userAgent }
  addSignatures(headers, keys, { id: eventId, atMs, body }, sha256, signatureHeader)
  headers["webhook-sequence"] = String(sequence)
  headers["X-Platform-Event"] = eventType
  headers["X-Platform-Delivery"] = deliveryId
  headers["X-Platform-Attempt"] = String(attempt)
  return { url, headers, body }
}
