/** Refusals about webhooks and their deliveries. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such webhook, or the caller may not see it. Spec: api.md, Conventions. */
export class WebhookNotFound extends Schema.TaggedError<WebhookNotFound>()("WebhookNotFound", {
  webhookId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): WebhookNotFound {
    return new WebhookNotFound({})
  }
  override get message(): string {
    return "There is no such webhook among those that the caller may see."
  }
}

/** The webhook is revoked. Spec: document 1 section 6; decision 0019. */
export class WebhookRevoked extends Schema.TaggedError<WebhookRevoked>()("WebhookRevoked", {
  webhookId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): WebhookRevoked {
    return new WebhookRevoked({})
  }
  override get message(): string {
    return "The webhook is revoked, which cannot be undone. Create another one."
  }
}

/** Nothing is sent to this webhook. `status` is its status. Spec: decisions 0019 and 0030. */
export class WebhookNotActive extends Schema.TaggedError<WebhookNotActive>()("WebhookNotActive", {
  status: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): WebhookNotActive {
    return new WebhookNotActive({ status: "failed" })
  }
  override get message(): string {
    return (
      `The webhook is ${this.status ?? "not active"}, so nothing is sent to it. Enable it first; a revoked one ` +
      "stays revoked."
    )
  }
}

/** A webhook has at most two signing secrets, and this one has two. Spec: decision 0019. */
export class RotationUnderWay extends Schema.TaggedError<RotationUnderWay>()("RotationUnderWay", {
  overlapUntil: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): RotationUnderWay {
    return new RotationUnderWay({ overlapUntil: "2026-11-22T00:00:00.000Z" })
  }
  override get message(): string {
    return (
      `A rotation is under way${this.overlapUntil === undefined ? "" : ` until ${this.overlapUntil}`}. ` +
      "Complete it first, or wait for its end."
    )
  }
}

/** There is no such delivery of this webhook. Spec: decision 0030. */
export class DeliveryNotFound extends Schema.TaggedError<DeliveryNotFound>()("DeliveryNotFound", {
  deliveryId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): DeliveryNotFound {
    return new DeliveryNotFound({})
  }
  override get message(): string {
    return "There is no such delivery of this webhook."
  }
}

/** An attempt at the delivery is under way. `state` is the delivery's state. Spec: decision 0030. */
export class DeliveryUnfinished extends Schema.TaggedError<DeliveryUnfinished>()("DeliveryUnfinished", {
  state: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): DeliveryUnfinished {
    return new DeliveryUnfinished({ state: "in_flight" })
  }
  override get message(): string {
    return (
      `The delivery is ${this.state ?? "unfinished"}: an attempt is under way. Redeliver ` +
      "it when its state has changed."
    )
  }
}

/** The host has no sender, or no key that encrypts secrets. Spec: api.md, Conventions. */
export class WebhooksUnavailable extends Schema.TaggedError<WebhooksUnavailable>()("WebhooksUnavailable", {}) {
  static readonly status = 503
  static get example(): WebhooksUnavailable {
    return new WebhooksUnavailable()
  }
  override get message(): string {
    return (
      "This host sends no webhooks. It was started without a sender, or without the key that encrypts their " +
      "secrets."
    )
  }
}
