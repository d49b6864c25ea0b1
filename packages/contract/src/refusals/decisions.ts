/** Refusals about decisions. */
import { Schema } from "effect"
import { PART_LIMIT_BYTES } from "../foundation/limits.ts"
import { reported } from "./members.ts"

/** There is no such decision, or the caller may not see it. Spec: api.md, Conventions. */
export class DecisionNotFound extends Schema.TaggedError<DecisionNotFound>()("DecisionNotFound", {
  decisionId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): DecisionNotFound {
    return new DecisionNotFound({})
  }
  override get message(): string {
    return "There is no such decision among those that the caller may see."
  }
}

/**
 * Some decisions repeat a `client_ref` with other content. `indexes` are positions in the batch. Spec: decision 0002.
 */
export class ClientRefReused extends Schema.TaggedError<ClientRefReused>()("ClientRefReused", {
  indexes: reported(Schema.Array(Schema.Int))
}) {
  static readonly status = 409
  static get example(): ClientRefReused {
    return new ClientRefReused({ indexes: [0] })
  }
  override get message(): string {
    return (
      "A client_ref was used before with different content. Nothing was recorded. Use a new client_ref for " +
      "each decision."
    )
  }
}

/**
 * Some decisions claim `capture: mediated`, and their writer is no key of a gateway. Spec: format 1 section 8,
 * `decision.witnessed`.
 */
export class CaptureNotMediated extends Schema.TaggedError<CaptureNotMediated>()("CaptureNotMediated", {
  indexes: reported(Schema.Array(Schema.Int))
}) {
  static readonly status = 403
  static get example(): CaptureNotMediated {
    return new CaptureNotMediated({ indexes: [0] })
  }
  override get message(): string {
    return (
      "Only an ingest key that was minted with capture mediated may witness decisions as mediated. Nothing was " +
      "recorded. Leave capture out, or use the gateway's key."
    )
  }
}

/** The decision was settled before with another outcome. Spec: decision 0002. */
export class DecisionAlreadySettled extends Schema.TaggedError<DecisionAlreadySettled>()("DecisionAlreadySettled", {
  decisionId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): DecisionAlreadySettled {
    return new DecisionAlreadySettled({})
  }
  override get message(): string {
    return "The decision is already settled with a different outcome. An outcome is recorded once."
  }
}

/**
 * An ingest key settled a meter below the reserved amount. `reserved` is the lowest amount that it may settle. Spec:
 * `envelope/1` section 6; decision 0025.
 */
export class SettleBelowReserved extends Schema.TaggedError<SettleBelowReserved>()("SettleBelowReserved", {
  meter: reported(Schema.String),
  reserved: reported(Schema.Int)
}) {
  static readonly status = 403
  static get example(): SettleBelowReserved {
    return new SettleBelowReserved({ meter: "spend_24h", reserved: 2_000 })
  }
  override get message(): string {
    return (
      "An ingest key may settle a meter at the amount that its evaluation reserved, or above. To settle below it, a " +
      "person settles the decision in a session, or voids the evaluation."
    )
  }
}

/**
 * `args`, `result`, `labels` or `signals` of these decisions are over their limit. Spec: format 1 section 8,
 * `decision.witnessed`.
 */
export class DecisionTooLarge extends Schema.TaggedError<DecisionTooLarge>()("DecisionTooLarge", {
  indexes: reported(Schema.Array(Schema.Int)),
  limitBytes: reported(Schema.Int)
}) {
  static readonly status = 413
  static get example(): DecisionTooLarge {
    return new DecisionTooLarge({ indexes: [0] })
  }
  override get message(): string {
    return (
      `args, result, labels and signals may have ${PART_LIMIT_BYTES} bytes each. Nothing was recorded. ` +
      "Shorten them, or record a digest."
    )
  }
}

/**
 * The key has as much capture under way as it may, and this request waited in vain. Nothing of it was recorded.
 * `retryAfterS`: when what waits before it will be written, at the present rate. Unit: seconds. Spec: api.md, "Small
 * things decided".
 */
export class CaptureQueueFull extends Schema.TaggedError<CaptureQueueFull>()("CaptureQueueFull", {
  retryAfterS: Schema.Int
}) {
  static readonly status = 429
  static get example(): CaptureQueueFull {
    return new CaptureQueueFull({ retryAfterS: 2 })
  }
  override get message(): string {
    return (
      "As much capture of this key is waiting as may wait. Nothing was recorded. " +
      "Keep it and send it again after Retry-After."
    )
  }
}
