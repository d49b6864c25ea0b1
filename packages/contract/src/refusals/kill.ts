/** Refusals about the kill switch and the response policy. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such activation of the kill switch, or not in the caller's org units. Spec: api.md, Conventions. */
export class ActivationNotFound extends Schema.TaggedError<ActivationNotFound>()("ActivationNotFound", {
  activationId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): ActivationNotFound {
    return new ActivationNotFound({})
  }
  override get message(): string {
    return "There is no such activation of the kill switch."
  }
}

/** The activation is already released. Spec: api.md, Conventions. */
export class ActivationReleased extends Schema.TaggedError<ActivationReleased>()("ActivationReleased", {
  releasedAt: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ActivationReleased {
    return new ActivationReleased({})
  }
  override get message(): string {
    return (
      "The activation is already released. Other activations for the same target stay active until each is " +
      "released."
    )
  }
}

/** The records of an activation are in a retired chain. Spec: decision 0010. */
export class ActivationPutAside extends Schema.TaggedError<ActivationPutAside>()("ActivationPutAside", {
  activationId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ActivationPutAside {
    return new ActivationPutAside({ activationId: `kil_${"0".repeat(26)}` })
  }
  override get message(): string {
    return (
      "The record of this activation is in a chain that a recovery retired. Export that chain on the host (flyball " +
      "export --chain), and make the certificate from it with flyball-verify."
    )
  }
}

/**
 * A halt of an agent at L3 or above cannot be released by its activator, and never by a rule. Spec: format 1 section 8,
 * `writer` of `kill.released`; decision 0047.
 */
export class ReleaseNotAllowed extends Schema.TaggedError<ReleaseNotAllowed>()("ReleaseNotAllowed", {
  sentence: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ReleaseNotAllowed {
    return new ReleaseNotAllowed({})
  }
  override get message(): string {
    return (
      this.sentence ??
      "This halt reaches an agent at L3 or above, so its activator cannot release it. Ask another operator."
    )
  }
}

/**
 * The agent is quarantined: its keys may read its kill status and acknowledge, and nothing else. Spec: decision 0047.
 */
export class AgentQuarantined extends Schema.TaggedError<AgentQuarantined>()("AgentQuarantined", {
  activationId: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): AgentQuarantined {
    return new AgentQuarantined({})
  }
  override get message(): string {
    return (
      "The agent is quarantined. Until the release, its ingest key may only read the kill status and acknowledge " +
      "it. Keep decisions locally, and report the gap afterwards."
    )
  }
}

/** The response policy has changed since it was read. `version` is the one that is there. Spec: api.md, Conventions. */
export class PolicyVersionConflict extends Schema.TaggedError<PolicyVersionConflict>()("PolicyVersionConflict", {
  version: reported(Schema.Int)
}) {
  static readonly status = 409
  static get example(): PolicyVersionConflict {
    return new PolicyVersionConflict({ version: 2 })
  }
  override get message(): string {
    return "The response policy has changed since it was read. Read it again and send the change with its ETag."
  }
}
