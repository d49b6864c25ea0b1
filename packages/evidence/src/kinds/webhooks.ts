/** Rows of the catalogue: webhooks, and the results of their deliveries. */
import type { MemberType } from "./members.ts"
import { choice, hash, id, type KindRow, may, must, name, objectPart, type PartRow, writer } from "./row.ts"

const webhookId = must("webhook_id", id("whk_"))
const eventTypes: MemberType = { type: "list", of: name(64), min: 1, max: 100 }
const endpointPart = (more = ""): PartRow =>
  objectPart("endpoint", 32_768, ["description?", "notify_email?", "url"], more)

/** The rows, in the order of the specification's table. */
export const webhookKinds: ReadonlyArray<KindRow> = [
  {
    kind: "webhook.created",
    about:
      "A receiver subscribed to events of these types. `owner_digest` is there where they are the events of one org " +
      "unit: SHA-256 over its name.",
    body: [must("events", eventTypes), may("owner_digest", hash), webhookId, writer],
    parts: [endpointPart()]
  },
  {
    kind: "webhook.changed",
    about:
      "The state of a webhook from this record on: `events` and `status` are present where they changed. After " +
      "`seventh_failure` nothing is sent until it is enabled.",
    body: [
      must("cause", choice("owner", "seventh_failure", "secret_rotated", "enabled")),
      may("events", eventTypes),
      may("status", choice("active", "failed", "disabled")),
      webhookId,
      writer
    ],
    parts: [endpointPart("; left out where nothing of it changed")]
  },
  {
    kind: "webhook.revoked",
    about: "A webhook was revoked. Nothing is sent to it any more.",
    body: [webhookId, writer],
    parts: []
  },
  {
    kind: "delivery.finished",
    about:
      "The result of a delivery to a webhook. Deliveries of `chain.checkpoint` and `webhook.failed` have no such " +
      "record. `status_code` and `error_code` are those of the last attempt.",
    body: [
      must("attempts", { type: "integer", min: 0, max: 7 }),
      must("delivery_id", id("dlv_")),
      may(
        "error_code",
        choice(
          "timeout",
          "connect",
          "dns",
          "tls",
          "ssrf_blocked",
          "redirect",
          "http_status",
          "body_too_large",
          "crashed"
        )
      ),
      must("event_id", id("evt_")),
      must("event_type", name(64)),
      must("outcome", choice("succeeded", "failed", "cancelled")),
      may("status_code", { type: "integer", min: 0, max: 999 }),
      webhookId
    ],
    parts: []
  }
]
