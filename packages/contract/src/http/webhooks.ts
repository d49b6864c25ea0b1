/** The endpoints of webhooks. Spec: document 1 section 4; api.md "agents and registry", `/webhooks`. */
import { Schema } from "effect"
import { pageQuery } from "../foundation/page.ts"
import { named } from "../foundation/plain.ts"
import { DeliveryNotFound, WebhookNotFound } from "../refusals.ts"
import {
  DeliveriesQuery,
  type DeliveryInfo,
  DeliveryOut,
  RecoverIn,
  RecoverOut,
  RotateSecretIn,
  WebhookCreate,
  type WebhookInfo,
  type WebhookInput,
  WebhookOut,
  type WebhookSecretInfo,
  type WebhookTestInfo,
  WebhookTestOut,
  WebhookWithSecret
} from "../webhooks.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, optionalBody, queryOf } from "./endpoint.ts"

const webhook = { webhook_id: idParam("webhook", () => new WebhookNotFound()) } as const
const delivery = { ...webhook, delivery_id: idParam("delivery", () => new DeliveryNotFound()) } as const
const Webhook = named<WebhookInfo>()(WebhookOut)
const WithSecret = named<WebhookSecretInfo>()(WebhookWithSecret)
const Delivery = named<DeliveryInfo>()(DeliveryOut)
const AT = "/api/v1/webhooks/{webhook_id}"

/**
 * Webhooks. They get the events of every org unit's agents, so their administrators may see all units. Spec: document 1
 * sections 4 and 6, document 2 section 6; decision 0019.
 */
export const webhooks = {
  create: endpoint({
    id: "webhooks.create",
    showsSecret: true,
    method: "POST",
    path: "/api/v1/webhooks",
    summary: "Creates a webhook. Only this response contains its secret.",
    access: access.administerAll,
    body: jsonBody(named<WebhookInput>()(WebhookCreate)),
    success: json(201, WithSecret),
    refusals: ["WebhooksUnavailable"]
  }),
  list: endpoint({
    id: "webhooks.list",
    method: "GET",
    path: "/api/v1/webhooks",
    summary: "Lists webhooks without their secrets, oldest first, including revoked ones.",
    access: access.administerAll,
    query: queryOf(pageQuery("webhook")),
    success: json(200, Schema.Array(Webhook))
  }),
  get: endpoint({
    id: "webhooks.get",
    method: "GET",
    path: AT,
    summary: "Returns one webhook without its secret.",
    access: access.administerAll,
    params: webhook,
    success: json(200, Webhook),
    refusals: ["WebhookNotFound"]
  }),
  test: endpoint({
    id: "webhooks.test",
    method: "POST",
    path: `${AT}/test`,
    summary: "Sends one signed test event at once, whatever event types the webhook has, and returns the result.",
    access: access.administerAll,
    params: webhook,
    success: json(200, named<WebhookTestInfo>()(WebhookTestOut)),
    refusals: ["WebhookNotFound", "WebhookRevoked", "WebhooksUnavailable"]
  }),
  revoke: endpoint({
    id: "webhooks.revoke",
    method: "POST",
    path: `${AT}/revoke`,
    summary: "Revokes a webhook and cancels its pending deliveries.",
    access: access.administerAll,
    params: webhook,
    success: json(200, Webhook),
    refusals: ["WebhookNotFound"]
  }),
  rotateSecret: endpoint({
    id: "webhooks.rotate_secret",
    showsSecret: true,
    method: "POST",
    path: `${AT}/rotate-secret`,
    summary: "Creates a new secret, returned only here. The old one signs too until the overlap ends.",
    access: access.administerAll,
    params: webhook,
    body: optionalBody(RotateSecretIn),
    success: json(200, WithSecret),
    refusals: ["RotationUnderWay", "WebhookNotFound", "WebhookRevoked", "WebhooksUnavailable"]
  }),
  completeRotation: endpoint({
    id: "webhooks.complete_rotation",
    method: "POST",
    path: `${AT}/rotate-secret/complete`,
    summary: "Completes a rotation: the old secret stops signing before its overlap ends.",
    access: access.administerAll,
    params: webhook,
    success: json(200, Webhook),
    refusals: ["WebhookNotFound", "WebhookRevoked"]
  }),
  disable: endpoint({
    id: "webhooks.disable",
    method: "POST",
    path: `${AT}/disable`,
    summary: "Disables a webhook until it is enabled again, and cancels its pending deliveries.",
    access: access.administerAll,
    params: webhook,
    success: json(200, Webhook),
    refusals: ["WebhookNotFound", "WebhookRevoked"]
  }),
  enable: endpoint({
    id: "webhooks.enable",
    method: "POST",
    path: `${AT}/enable`,
    summary: "Enables a failed or disabled webhook, from the next event on.",
    access: access.administerAll,
    params: webhook,
    success: json(200, Webhook),
    refusals: ["WebhookNotFound", "WebhookRevoked"]
  }),
  deliveries: endpoint({
    id: "webhooks.deliveries",
    method: "GET",
    path: `${AT}/deliveries`,
    summary: "Lists deliveries to a webhook, newest first, with every attempt.",
    access: access.administerAll,
    params: webhook,
    query: queryOf(DeliveriesQuery),
    success: json(200, Schema.Array(Delivery)),
    refusals: ["WebhookNotFound"]
  }),
  redeliver: endpoint({
    id: "webhooks.redeliver",
    method: "POST",
    path: `${AT}/deliveries/{delivery_id}/redeliver`,
    summary:
      "Attempts a waiting delivery at once; delivers the event of a finished one again, under the same event id.",
    access: access.administerAll,
    params: delivery,
    success: json(200, Delivery),
    refusals: ["DeliveryNotFound", "DeliveryUnfinished", "WebhookNotActive", "WebhookNotFound"]
  }),
  recover: endpoint({
    id: "webhooks.recover",
    method: "POST",
    path: `${AT}/recover`,
    summary: "Recovers a webhook: delivers again every event that it missed since a time, at most 14 days ago.",
    access: access.administerAll,
    params: webhook,
    body: jsonBody(RecoverIn),
    success: json(200, RecoverOut),
    refusals: ["WebhookNotActive", "WebhookNotFound"]
  })
} as const
