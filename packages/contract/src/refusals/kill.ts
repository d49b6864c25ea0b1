/** Refusals about the kill switch and the response policy. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** There is no such activation of the kill switch, or not in the caller's org units. */
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

/** The activation holds no more. */
export class ActivationReleased extends Schema.TaggedError<ActivationReleased>()("ActivationReleased", {
  releasedAt: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ActivationReleased {
    return new ActivationReleased({})
  }
  override get message(): string {
    return "The activation was released before. Others of the same target hold on until each is released."
  }
}

/** The records of an activation lie in a chain that a recovery put aside. */
export class ActivationPutAside extends Schema.TaggedError<ActivationPutAside>()("ActivationPutAside", {
  activationId: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): ActivationPutAside {
    return new ActivationPutAside({ activationId: `kil_${"0".repeat(26)}` })
  }
  override get message(): string {
    return (
      "A recovery put aside the chain that has the record of this activation. Export that chain on the host " +
      "(flyball export --chain), and have the verifier make the certificate from it."
    )
  }
}

/** A halt of an agent at L3 or above is released by somebody else than who made it, and never by a rule. */
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
      "This halt reaches an agent at L3 or above, so somebody else than its activator releases it. Ask another " +
        "operator."
    )
  }
}

/** The agent is quarantined: its keys may read its kill status and acknowledge, and nothing else. */
export class AgentQuarantined extends Schema.TaggedError<AgentQuarantined>()("AgentQuarantined", {
  activationId: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): AgentQuarantined {
    return new AgentQuarantined({})
  }
  override get message(): string {
    return (
      "The agent is quarantined. Until that is released an ingest key may read its kill status and acknowledge it, " +
      "and nothing else. Keep what happened, and report the gap afterwards."
    )
  }
}

/** The response policy was changed since it was read. `version` is the one that is there. */
export class PolicyVersionConflict extends Schema.TaggedError<PolicyVersionConflict>()("PolicyVersionConflict", {
  version: reported(Schema.Int)
}) {
  static readonly status = 409
  static get example(): PolicyVersionConflict {
    return new PolicyVersionConflict({ version: 2 })
  }
  override get message(): string {
    return "The response policy was changed since it was read. Read it again and send the change with its ETag."
  }
}
