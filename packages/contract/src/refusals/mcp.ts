/** Refusals about tool servers and findings. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such tool server, or the caller may not see it. Spec: api.md, Conventions. */
export class McpServerNotFound extends Schema.TaggedError<McpServerNotFound>()("McpServerNotFound", {
  serverId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): McpServerNotFound {
    return new McpServerNotFound({})
  }
  override get message(): string {
    return "There is no such tool server among those that the caller may see."
  }
}

/** There is no such finding, or the caller may not see it. Spec: api.md, Conventions. */
export class FindingNotFound extends Schema.TaggedError<FindingNotFound>()("FindingNotFound", {
  findingId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): FindingNotFound {
    return new FindingNotFound({})
  }
  override get message(): string {
    return "There is no such finding among those that the caller may see."
  }
}

/** A finding is resolved once. Spec: decision 0072. */
export class FindingResolved extends Schema.TaggedError<FindingResolved>()("FindingResolved", {}) {
  static readonly status = 409
  static get example(): FindingResolved {
    return new FindingResolved()
  }
  override get message(): string {
    return "The finding was approved or rejected before. Pin the list that is right instead."
  }
}
