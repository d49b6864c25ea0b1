/**
 * Webhooks and their deliveries as they travel. Spec: document 1 section 6, document 2 sections 2 and 6; api.md "agents
 * and registry", `/webhooks`.
 */
import { Schema } from "effect"
import { instant, integer, integerParam, leftOut, list, oneOf, optional, text } from "./foundation/fields.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { DEFAULT_PAGE, MAX_PAGE } from "./foundation/limits.ts"
import { mailAddress } from "./foundation/mail-address.ts"
import { subscribableTypes } from "./webhook-events.ts"
import { becomesRecord, computed, inBody, inDocument, inPart, showsRecords } from "./foundation/place.ts"

/** Statuses of a webhook. Spec: document 2 section 3; decision 0019. */
export const webhookStatuses = ["active", "failed", "disabled", "revoked"] as const
/** Causes of a webhook's status. */
export const webhookCauses = ["owner", "seventh_failure", "secret_rotated", "enabled"] as const
/** States of a delivery. */
export const deliveryStates = ["pending", "in_flight", "succeeded", "failed", "cancelled"] as const
/** Errors of an attempt. */
export const attemptErrors = [
  "timeout",
  "connect",
  "dns",
  "tls",
  "ssrf_blocked",
  "redirect",
  "http_status",
  "body_too_large",
  "crashed"
] as const

/**
 * How long an old secret may continue signing beside the new one.
 *
 * - Unit: hours.
 */
export const MAX_OVERLAP_HOURS = 72

/**
 * Body of POST /webhooks. The letter about a failure goes to `notify_email`; left out, to the creator's own address, or
 * the host's where the creator has none that letters can be sent to. Spec: document 2 section 4, POST /webhooks.
 */
export const WebhookCreate = Schema.Struct({
  /** https, without user name, password and fragment. Where it leads is checked at each attempt. */
  url: inPart("endpoint", text(1, 2048)),
  /** Types of the catalogue of events, 1 to 100. */
  events: inBody(list(oneOf(subscribableTypes), 1, 100)),
  description: inPart("endpoint", optional(text(0, 2000))),
  /** The address that is written to when it fails; left out, the one that the host was started with. */
  notify_email: inPart("endpoint", optional(mailAddress))
}).annotate(becomesRecord("webhook.created"))
export type WebhookCreate = typeof WebhookCreate.Type

/**
 * A webhook to be created. Absent and null mean the same. Spec: document 2 section 4, POST /webhooks; decision 0019.
 */
export interface WebhookInput extends Omit<Input<typeof WebhookCreate>, "events"> {
  /** Types of the catalogue of events, 1 to 100. */
  readonly events: ReadonlyArray<string>
}

/**
 * A webhook without its secret. `secret_overlap_until` is when a rotated secret stops signing; null when there is only
 * one. Spec: document 2 section 2, "Webhook endpoint".
 */
export const WebhookOut = Schema.Struct({
  id: inBody(Schema.String, "webhook_id"),
  url: inPart("endpoint", Schema.NullOr(Schema.String)),
  events: inBody(Schema.Array(Schema.String)),
  description: inPart("endpoint", Schema.NullOr(Schema.String)),
  notify_email: inPart("endpoint", Schema.NullOr(Schema.String)),
  status: inBody(oneOf(webhookStatuses)),
  cause: inBody(Schema.NullOr(oneOf(webhookCauses))),
  created_by: inBody(Schema.String, "writer"),
  created_at: computed(instant),
  revoked_at: computed(Schema.NullOr(instant)),
  secret_overlap_until: inDocument(Schema.NullOr(instant))
}).annotate(showsRecords(["webhook.created", "webhook.changed", "webhook.revoked"], { body: ["owner_digest"] }))
export type WebhookOut = typeof WebhookOut.Type

/**
 * A webhook. Texts are null once their part was erased. Spec: document 2 section 2, "Webhook endpoint"; decision 0019.
 */
export interface WebhookInfo extends Info<typeof WebhookOut> {}

/**
 * Answer of the creation, and of a rotation: the only times that `secret` is shown. Spec: document 2 section 2,
 * "Webhook endpoint".
 */
export const WebhookWithSecret = Schema.Struct({ ...WebhookOut.fields, secret: Schema.String })
export type WebhookWithSecret = typeof WebhookWithSecret.Type

/** A webhook with its secret, which is shown only once. */
export interface WebhookSecretInfo extends Info<typeof WebhookWithSecret> {}

/**
 * Body of POST /webhooks/{webhook_id}/rotate-secret. Default 24 hours; 0 ends the old secret at once. Spec: decision
 * 0019.
 */
export const RotateSecretIn = Schema.Struct({ overlap_hours: optional(integer(0, MAX_OVERLAP_HOURS)) })
export type RotateSecretIn = typeof RotateSecretIn.Type

/**
 * Answer of POST /webhooks/{webhook_id}/test. `error` is null when it was delivered. Spec: document 1 section 4, POST
 * /webhooks/{webhook_id}/test.
 */
export const WebhookTestOut = Schema.Struct({
  delivered: Schema.Boolean,
  status_code: Schema.NullOr(Schema.Int),
  duration_ms: Schema.Int,
  error: Schema.NullOr(oneOf(attemptErrors)),
  event_id: Schema.String
})
export type WebhookTestOut = typeof WebhookTestOut.Type

/** Result of a test delivery. Spec: document 1 section 4, POST /webhooks/{webhook_id}/test; decision 0019. */
export interface WebhookTestInfo extends Info<typeof WebhookTestOut> {}

/** An attempt of a delivery. `ended_at` is null while it is under way. */
export const AttemptOut = Schema.Struct({
  attempt: Schema.Int,
  started_at: instant,
  ended_at: Schema.NullOr(instant),
  duration_ms: Schema.NullOr(Schema.Int),
  status_code: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(oneOf(attemptErrors)),
  response_excerpt: Schema.String
})
export type AttemptOut = typeof AttemptOut.Type

/**
 * An event owed to a webhook, with every attempt so far. `sequence` counts the webhook's deliveries without a gap.
 * Spec: document 2 section 6, rule 4; decision 0019.
 */
export const DeliveryOut = Schema.Struct({
  id: inBody(Schema.String, "delivery_id"),
  webhook_id: inBody(Schema.String),
  event_id: inBody(Schema.String),
  event_type: inBody(Schema.String),
  /** 1, 2, 3 … for each webhook without a gap. */
  sequence: inDocument(Schema.Int),
  state: inDocument(oneOf(deliveryStates)),
  created_at: inDocument(instant),
  next_attempt_at: inDocument(Schema.NullOr(instant)),
  finished_at: inDocument(Schema.NullOr(instant)),
  attempts: inDocument(Schema.Array(AttemptOut))
}).annotate(showsRecords(["delivery.finished"], { body: ["attempts", "error_code", "outcome", "status_code"] }))
export type DeliveryOut = typeof DeliveryOut.Type

/** An event owed to a webhook, with every attempt so far. Spec: document 2 section 6, rule 4; decision 0019. */
export interface DeliveryInfo extends Info<typeof DeliveryOut> {}

/** Query of GET /webhooks/{webhook_id}/deliveries: newest first, `before` a sequence. */
export const DeliveriesQuery = Schema.Struct({
  before: Schema.optionalKey(integerParam(1)),
  limit: leftOut(integerParam(1, MAX_PAGE), DEFAULT_PAGE)
})
export type DeliveriesQuery = typeof DeliveriesQuery.Type

/** Body of POST /webhooks/{webhook_id}/recover. With `dry_run` it only counts. Spec: decisions 0019 and 0030. */
export const RecoverIn = Schema.Struct({ since: instant, dry_run: optional(Schema.Boolean) })
export type RecoverIn = typeof RecoverIn.Type

/**
 * Number of events that are, or with `dry_run` would be, delivered again. `has_more`: the limit of one call was
 * reached; call again for the rest.
 */
export const RecoverOut = Schema.Struct({ count: Schema.Int, dry_run: Schema.Boolean, has_more: Schema.Boolean })
export type RecoverOut = typeof RecoverOut.Type
