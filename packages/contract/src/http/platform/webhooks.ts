/** The endpoints of webhooks and events of the platform API. Spec: document 2 sections 4 and 6. */
import { Schema } from "effect"
import { PlatformEventsPage, PlatformEventsQuery } from "../../platform/events.ts"
import { unitQuery } from "../../platform/list.ts"
import {
  PlatformDeliveriesPage,
  PlatformDeliveriesQuery,
  PlatformWebhook,
  PlatformWebhookChange,
  PlatformWebhookCreate,
  PlatformWebhooksPage,
  PlatformWebhooksQuery,
  PlatformWebhookWithSecret
} from "../../platform/webhooks.ts"
import { DeliveryNotFound, WebhookNotFound } from "../../refusals.ts"
import { DeliveryOut, RecoverIn, RecoverOut, RotateSecretIn, WebhookTestOut } from "../../webhooks.ts"
import { platformAccess } from "../access.ts"
import { endpoint, idParam, json, jsonBody, optionalBody, queryOf } from "../endpoint.ts"

const access = platformAccess("webhooks:manage", ["admin"])
const platform = { module: "webhooks" }
const query = queryOf(Schema.Struct(unitQuery))
const params = { webhook_id: idParam("webhook", () => new WebhookNotFound()) } as const
const AT = "/v1/webhooks/{webhook_id}"

/** Webhooks of an org unit, which get the events of that unit alone. Spec: document 2 sections 4 and 6. */
export const platformWebhooks = {
  create: endpoint({
    id: "platform_webhooks.create",
    showsSecret: true,
    method: "POST",
    path: "/v1/webhooks",
    summary: "Creates a webhook. Only this response contains its secret.",
    access,
    platform,
    query,
    body: jsonBody(PlatformWebhookCreate),
    success: json(201, PlatformWebhookWithSecret),
    refusals: ["PlanLimitReached", "WebhooksUnavailable"]
  }),
  list: endpoint({
    id: "platform_webhooks.list",
    method: "GET",
    path: "/v1/webhooks",
    summary: "Lists webhooks, the newest first, including revoked ones.",
    access,
    platform,
    query: queryOf(PlatformWebhooksQuery),
    success: json(200, PlatformWebhooksPage)
  }),
  get: endpoint({
    id: "platform_webhooks.get",
    method: "GET",
    path: AT,
    summary: "Returns one webhook without its secret.",
    access,
    platform,
    params,
    query,
    success: json(200, PlatformWebhook),
    refusals: ["WebhookNotFound"]
  }),
  change: endpoint({
    id: "platform_webhooks.change",
    method: "PATCH",
    path: AT,
    summary: "Changes a webhook's address, events, description or status.",
    access,
    platform,
    params,
    query,
    body: jsonBody(PlatformWebhookChange),
    success: json(200, PlatformWebhook),
    refusals: ["WebhookNotFound", "WebhookRevoked", "WebhooksUnavailable"]
  }),
  revoke: endpoint({
    id: "platform_webhooks.revoke",
    method: "DELETE",
    path: AT,
    summary: "Revokes a webhook for good and cancels its pending deliveries. It stays in lists as revoked.",
    access,
    platform,
    params,
    query,
    success: json(200, PlatformWebhook),
    refusals: ["WebhookNotFound"]
  }),
  test: endpoint({
    id: "platform_webhooks.test",
    method: "POST",
    path: `${AT}/test`,
    summary: "Sends one signed test event at once, and returns the result.",
    access,
    platform,
    params,
    query,
    success: json(200, WebhookTestOut),
    refusals: ["WebhookNotFound", "WebhookRevoked", "WebhooksUnavailable"]
  }),
  rotateSecret: endpoint({
    id: "platform_webhooks.rotate_secret",
    showsSecret: true,
    method: "POST",
    path: `${AT}/rotate-secret`,
    summary: "Creates a new secret, returned only here. The old one signs too until the overlap ends.",
    access,
    platform,
    params,
    query,
    body: optionalBody(RotateSecretIn),
    success: json(200, PlatformWebhookWithSecret),
    refusals: ["RotationUnderWay", "WebhookNotFound", "WebhookRevoked", "WebhooksUnavailable"]
  }),
  deliveries: endpoint({
    id: "platform_webhooks.deliveries",
    method: "GET",
    path: `${AT}/deliveries`,
    summary: "Lists deliveries to a webhook, the newest first, with every attempt.",
    access,
    platform,
    params,
    query: queryOf(PlatformDeliveriesQuery),
    success: json(200, PlatformDeliveriesPage),
    refusals: ["WebhookNotFound"]
  }),
  redeliver: endpoint({
    id: "platform_webhooks.redeliver",
    method: "POST",
    path: `${AT}/deliveries/{delivery_id}/redeliver`,
    summary:
      "Attempts a waiting delivery at once; delivers the event of a finished one again, under the same event id.",
    access,
    platform,
    params: { ...params, delivery_id: idParam("delivery", () => new DeliveryNotFound()) },
    query,
    success: json(200, DeliveryOut),
    refusals: ["DeliveryNotFound", "DeliveryUnfinished", "WebhookNotActive", "WebhookNotFound"]
  }),
  recover: endpoint({
    id: "platform_webhooks.recover",
    method: "POST",
    path: `${AT}/recover`,
    summary: "Delivers again every event that a webhook missed since a time, at most 14 days ago.",
    access,
    platform,
    params,
    query,
    body: jsonBody(RecoverIn),
    success: json(200, RecoverOut),
    refusals: ["WebhookNotActive", "WebhookNotFound"]
  })
} as const

/** The events of an org unit, kept for 30 days. Spec: document 2 section 6; api.md "Document 2". */
export const platformEventRows = {
  list: endpoint({
    id: "platform_events.list",
    method: "GET",
    path: "/v1/events",
    summary: "Lists the events of the caller's org unit, the newest first.",
    access: platformAccess("events:read"),
    platform: { module: "events" },
    query: queryOf(PlatformEventsQuery),
    success: json(200, PlatformEventsPage)
  })
} as const
