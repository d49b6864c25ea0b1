/** Refusals of the platform API: limits, quotas, idempotency, products that are not installed, its keys. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/**
 * A limit of the plan or of the operation is reached. `reason`: `plan-minute`, `plan-day`, `concurrency` or
 * `operation:<area>.<name>`. Spec: document 2 sections 7 and 8.
 */
export class RateLimitExceeded extends Schema.TaggedError<RateLimitExceeded>()("RateLimitExceeded", {
  reason: reported(Schema.String),
  /** At least 1. */
  retryAfterS: reported(Schema.Int)
}) {
  static readonly status = 429
  static get example(): RateLimitExceeded {
    return new RateLimitExceeded({ reason: "plan-minute", retryAfterS: 12 })
  }
  override get message(): string {
    return `The limit ${this.reason ?? ""} is reached. Send the request again after ${this.retryAfterS ?? 1} seconds.`
  }
}

/** The month's quota of a resource is used up. `until`: when the next month begins. Spec: document 2 section 8. */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>()("QuotaExceeded", {
  resource: reported(Schema.String),
  until: reported(Schema.String),
  retryAfterS: reported(Schema.Int)
}) {
  static readonly status = 429
  static get example(): QuotaExceeded {
    return new QuotaExceeded({ resource: "tokens", until: "2026-12-01T00:00:00Z", retryAfterS: 3_600 })
  }
  override get message(): string {
    const { resource = "this resource", until = "the end of the month" } = this
    return `The quota of ${resource} is used up. It begins anew at ${until}.`
  }
}

/** The plan allows no more of what is counted, and no month brings more. Spec: document 2 section 8. */
export class PlanLimitReached extends Schema.TaggedError<PlanLimitReached>()("PlanLimitReached", {
  resource: reported(Schema.String),
  limit: reported(Schema.Number)
}) {
  static readonly status = 403
  static get example(): PlanLimitReached {
    return new PlanLimitReached({ resource: "monitors", limit: 5 })
  }
  override get message(): string {
    return `The plan allows ${this.limit ?? "no more"} ${this.resource ?? ""}. Delete some, or change the plan.`
  }
}

/** The key came with another request within 24 hours. Nothing ran. Spec: document 2 section 4. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()("IdempotencyKeyReused", {}) {
  static readonly status = 422
  static get example(): IdempotencyKeyReused {
    return new IdempotencyKeyReused()
  }
  override get message(): string {
    return "This Idempotency-Key came with another request within 24 hours. Use a new key for a new request."
  }
}

/** The request with this key is under way. Spec: document 2 section 4. */
export class IdempotencyKeyInUse extends Schema.TaggedError<IdempotencyKeyInUse>()("IdempotencyKeyInUse", {}) {
  static readonly status = 409
  static get example(): IdempotencyKeyInUse {
    return new IdempotencyKeyInUse()
  }
  override get message(): string {
    return "A request with this Idempotency-Key is under way. Send it again in a second: it then gets its answer."
  }
}

/**
 * The request with this key took effect, and its answer was lost: its process ended between the two. Nothing runs.
 * Spec: document 2 section 4.
 */
export class IdempotencyAnswerLost extends Schema.TaggedError<IdempotencyAnswerLost>()("IdempotencyAnswerLost", {}) {
  static readonly status = 409
  static get example(): IdempotencyAnswerLost {
    return new IdempotencyAnswerLost()
  }
  override get message(): string {
    return (
      "The request with this Idempotency-Key took effect, and the server stopped before it kept the answer. Read " +
      "what it changed; sent again, it changes nothing."
    )
  }
}

/**
 * The answer is a stream, or has a secret that nothing here can seal. Spec: document 2 section 4; api.md "Conventions".
 */
export class IdempotencyNotSupported extends Schema.TaggedError<IdempotencyNotSupported>()(
  "IdempotencyNotSupported",
  {}
) {
  static readonly status = 400
  static get example(): IdempotencyNotSupported {
    return new IdempotencyNotSupported()
  }
  override get message(): string {
    return (
      "This answer is not kept: it is a stream, or has a secret and this server no key to seal it. Leave the header " +
      "Idempotency-Key out."
    )
  }
}

/** No product is installed that runs this operation. Spec: api.md "Document 2". */
export class ModuleNotInstalled extends Schema.TaggedError<ModuleNotInstalled>()("ModuleNotInstalled", {
  module: reported(Schema.String)
}) {
  static readonly status = 501
  static get example(): ModuleNotInstalled {
    return new ModuleNotInstalled({ module: "fleet" })
  }
  override get message(): string {
    return `The module ${this.module ?? ""} is not installed on this server. Its limits and checks are.`
  }
}

/** There is no such platform key, or the caller may not see it. Spec: api.md "Document 2". */
export class PlatformKeyNotFound extends Schema.TaggedError<PlatformKeyNotFound>()("PlatformKeyNotFound", {
  keyId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): PlatformKeyNotFound {
    return new PlatformKeyNotFound({})
  }
  override get message(): string {
    return "There is no such platform key among those that the caller may see."
  }
}
