/** Webhooks of the platform API as they travel. Spec: document 2 sections 2 and 4; api.md "Document 2". */
import { Schema } from "effect"
import { instant, list, oneOf, optional, text } from "../foundation/fields.ts"
import { DeliveryOut, webhookStatuses } from "../webhooks.ts"
import { platformEventTypes } from "./events.ts"
import { DEFAULT_SORT, listOf, listQuery } from "./list.ts"

const url = text(1, 2_048)
const events = list(oneOf(platformEventTypes), 1, platformEventTypes.length)
const description = text(0, 2_000)

/** Body of POST /v1/webhooks. Spec: document 2 section 4. */
export const PlatformWebhookCreate = Schema.Struct({
  /** https, without user name, password and fragment. Where it leads is checked at each attempt. */
  url,
  /** Types of the events of the platform API. */
  events,
  description: optional(description)
})

/** Body of PATCH /v1/webhooks/{webhook_id}. What is left out stays; a description is emptied by null. */
export const PlatformWebhookChange = Schema.Struct({
  url: Schema.optionalKey(url),
  events: Schema.optionalKey(events),
  description: optional(description),
  /** `disabled` cancels what waits. `active` enables one that is disabled or has failed. */
  status: Schema.optionalKey(oneOf(["active", "disabled"]))
})

/** A webhook without its secret. `url` is null once it was erased. Spec: document 2 section 2, "Webhook endpoint". */
export const PlatformWebhook = Schema.Struct({
  id: Schema.String,
  url: Schema.NullOr(Schema.String),
  events: Schema.Array(Schema.String),
  description: Schema.optionalKey(Schema.String),
  status: oneOf(webhookStatuses),
  created_at: instant
})
/** A webhook of the platform API. */
export type PlatformWebhook = typeof PlatformWebhook.Type

/** Answer of the creation, and of a rotation: the only times that `secret` is shown. */
export const PlatformWebhookWithSecret = Schema.Struct({ ...PlatformWebhook.fields, secret: Schema.String })

/** Query of GET /v1/webhooks. */
export const PlatformWebhooksQuery = listQuery({ status: Schema.optionalKey(oneOf(webhookStatuses)) })

/** Answer of GET /v1/webhooks. */
export const PlatformWebhooksPage = listOf(PlatformWebhook)

/** Query of GET /v1/webhooks/{webhook_id}/deliveries. */
export const PlatformDeliveriesQuery = listQuery({}, [DEFAULT_SORT])

/** Answer of GET /v1/webhooks/{webhook_id}/deliveries. */
export const PlatformDeliveriesPage = listOf(DeliveryOut)
