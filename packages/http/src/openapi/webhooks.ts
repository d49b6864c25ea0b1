/**
 * The events that webhooks get, in OpenAPI 3.1: what the server sends, not what it takes. Spec: document 1 section 6.
 */
import { eventEnvelope, type EventType, webhookEvents } from "@flyball/contract"
import type { Components } from "./components.ts"
import type { Webhook } from "./document-types.ts"

const responses = {
  "2XX": {
    description:
      "Received, within 5 seconds. After any other answer, a redirect too, or none, the event is sent again: " +
      "seven times at most."
  }
}

/** Events of the catalogue, by type. */
export const webhooksOf = (
  shapes: Components,
  types: ReadonlyArray<EventType>
): { readonly [type: string]: { readonly post: Webhook } } =>
  Object.fromEntries(
    types.map((type) => [
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
