/** Refusals about agents. */
import { Schema } from "effect"
import { tierConditionWords } from "../agents.ts"
import { agentId, reported } from "./members.ts"

/** The autonomy tier is above what the ingest key may register. Spec: api.md "agents and registry", POST /agents. */
export class TierOverCap extends Schema.TaggedError<TierOverCap>()("TierOverCap", {
  tier: reported(Schema.String),
  cap: reported(Schema.String)
}) {
  static readonly status = 403
  static get example(): TierOverCap {
    return new TierOverCap({})
  }
  override get message(): string {
    return (
      "The autonomy tier is above the highest that this ingest key may register. Register with a lower tier; a " +
      "person can raise it later."
    )
  }
}

/** There is no such agent, or the caller may not see it. Spec: api.md, Conventions. */
export class AgentNotFound extends Schema.TaggedError<AgentNotFound>()("AgentNotFound", {
  agentId: reported(Schema.NullOr(Schema.String))
}) {
  static readonly status = 404
  static get example(): AgentNotFound {
    return new AgentNotFound({})
  }
  override get message(): string {
    return "There is no such agent among those that the caller may see."
  }
}

/**
 * An agent has this name already. `agentId` is there when the caller may read that agent. Spec: document 1 section 2,
 * "Agent".
 */
export class AgentNameTaken extends Schema.TaggedError<AgentNameTaken>()("AgentNameTaken", {
  agentId: reported(Schema.NullOr(Schema.String))
}) {
  static readonly status = 409
  static get example(): AgentNameTaken {
    return new AgentNameTaken({ agentId })
  }
  override get message(): string {
    return "An agent with this name exists. Search for it by its exact name, or choose another name."
  }
}

/**
 * The agent's status does not allow the act; `why` explains it if the status alone does not. Spec: document 1 section 3
 * leaves the transitions open; decision 0013.
 */
export class InvalidTransition extends Schema.TaggedError<InvalidTransition>()("InvalidTransition", {
  status: reported(Schema.String),
  act: reported(Schema.String),
  why: reported(Schema.String)
}) {
  static readonly status = 409
  static get example(): InvalidTransition {
    return new InvalidTransition({ status: "decommissioned", act: "activate" })
  }
  override get message(): string {
    if (this.why !== undefined) return this.why
    return this.status === undefined || this.act === undefined
      ? "The agent's status does not allow this."
      : `An agent that is ${this.status} does not take ${this.act}.`
  }
}

/** The agent's identity is verified, and a declared identity does not replace it. Spec: decision 0015. */
export class IdentityAlreadyVerified extends Schema.TaggedError<IdentityAlreadyVerified>()(
  "IdentityAlreadyVerified",
  {}
) {
  static readonly status = 409
  static get example(): IdentityAlreadyVerified {
    return new IdentityAlreadyVerified()
  }
  override get message(): string {
    return (
      "The agent's identity is verified, and a declared identity does not replace it. " +
      "Send a signed card. To withdraw the verified identity, a governor sends the declaration with withdraw_verified."
    )
  }
}

/** The agent does not meet the conditions of its tier. `missing` lists them. Spec: decisions 0013 and 0038. */
export class TierGateUnmet extends Schema.TaggedError<TierGateUnmet>()("TierGateUnmet", {
  tier: reported(Schema.String),
  missing: reported(Schema.Array(Schema.String))
}) {
  static readonly status = 409
  static get example(): TierGateUnmet {
    return new TierGateUnmet({ tier: "L3", missing: ["owner"] })
  }
  override get message(): string {
    return (
      `Tier ${this.tier ?? "of this agent"} has conditions that the agent does not meet. It needs ` +
      `${(this.missing ?? []).map((condition) => tierConditionWords[condition] ?? condition).join(", ")}.`
    )
  }
}

/**
 * The agent has changed since it was read. `version` is the one that is there. Spec: api.md "agents and registry",
 * PATCH /agents/{id}.
 */
export class AgentVersionConflict extends Schema.TaggedError<AgentVersionConflict>()("AgentVersionConflict", {
  version: reported(Schema.Int)
}) {
  static readonly status = 409
  static get example(): AgentVersionConflict {
    return new AgentVersionConflict({ version: 2 })
  }
  override get message(): string {
    return "The agent has changed since it was read. Read it again and send the change with its version."
  }
}
