/**
 * The events that webhooks get, in OpenAPI 3.1: what the server sends, not what it takes. Spec: document 1 section 6.
 */
import { eventEnvelope, eventTypes, webhookEvents } from "@flyball/contract"
import type { Components } from "./components.ts"
import type { Webhook } from "./document-types.ts"

const responses = {
  "2XX": {
    description:
      "Received, within 5 seconds. After any other answer, a redirect too, or none, the event is sent again: " +
      "seven times at most."
  }
}

/** Every event of the catalogue, by type. */
export const webhooksOf = (shapes: Components): { readonly [type: string]: { readonly post: Webhook } } =>
  Object.fromEntries(
    eventTypes.map((type) => [
      type,
      {
        post: {
          summary: webhookEvents[type].about,
          security: [],
          requestBody: {
            required: true,
            content: { "application/json": { schema: shapes.schema(eventEnvelope(type), "output") } }
          },
          responses
        }
      }
    ])
  )
