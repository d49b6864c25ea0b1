/** Refusals about circuit breakers. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such breaker, or the caller may not see it. Spec: api.md, Conventions. */
export class BreakerNotFound extends Schema.TaggedError<BreakerNotFound>()("BreakerNotFound", {
  breakerId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): BreakerNotFound {
    return new BreakerNotFound({})
  }
  override get message(): string {
    return "There is no such breaker among those that the caller may see."
  }
}

/** The agent has a breaker of this name. Spec: api.md, Conventions. */
export class BreakerNameTaken extends Schema.TaggedError<BreakerNameTaken>()("BreakerNameTaken", {
  breakerId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): BreakerNameTaken {
    return new BreakerNameTaken({})
  }
  override get message(): string {
    return "The agent has a breaker with this name. Change that one, or choose another name."
  }
}

/** Only a tripped breaker can be released. Spec: decision 0044. */
export class BreakerNotTripped extends Schema.TaggedError<BreakerNotTripped>()("BreakerNotTripped", {}) {
  static readonly status = 409
  static get example(): BreakerNotTripped {
    return new BreakerNotTripped()
  }
  override get message(): string {
    return "The breaker is armed: it has not tripped, so there is nothing to release."
  }
}

/** The metric is named, but its source is not built yet. `lacks` says what is missing. Spec: decision 0044. */
export class MetricNotAvailable extends Schema.TaggedError<MetricNotAvailable>()("MetricNotAvailable", {
  metric: reported(Schema.String),
  lacks: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): MetricNotAvailable {
    return new MetricNotAvailable({ metric: "confidence_floor", lacks: "a signal that records show" })
  }
  override get message(): string {
    const named = this.metric === undefined ? "This metric" : `The metric ${this.metric}`
    return `${named} is not available in this version${this.lacks === undefined ? "" : `: it needs ${this.lacks}`}.`
  }
}
