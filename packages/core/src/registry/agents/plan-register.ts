/** Plans the registration of an agent. */
import { type AgentCreate, detailItem, InvalidInput, isId, OrgUnitNotAllowed, TierOverCap } from "@flyball/contract"
import { formatInstant, parseInstant } from "@flyball/evidence"
import { Result } from "effect"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS } from "./document.ts"
import { ownerPart, profilePart } from "./parts.ts"
import {
  type AgentDocument,
  agentKeys,
  agentUnique,
  type AutonomyTier,
  erasedProfile,
  noOwner,
  readMembers
} from "@flyball/rules"

/** What an ingest key, or a person of some org units, may register. */
export interface RegistrationLimits {
  /** Where there is one, an agent without an org unit is of it. */
  readonly orgUnits: ReadonlyArray<string>
  readonly maxTier: AutonomyTier
}

/** Everything that registering an agent needs to know. */
export interface RegisterCommand {
  /** The new agent's id. */
  readonly agentId: string
  readonly input: AgentCreate
  readonly writer: Writer
  /** Null when the caller is not an ingest key. */
  readonly limits: RegistrationLimits | null
}

/** The agent there will be, and the change that makes it. */
export interface RegisterPlan {
  readonly agent: AgentDocument
  readonly change: ChangeSet
}

/**
 * Decides what registering an agent would change. That its name is free is checked by the commit.
 *
 * - Fails: `InvalidInput` when no org unit is named and none follows from a key, or the name has the form of an agent's
 *   id; `OrgUnitNotAllowed`, `TierOverCap` beyond what the key allows.
 * - Spec: document 1 section 4, POST /agents; api "agents and registry". Decision 0006 says why the name is a part.
 */
export const planRegister = (
  command: RegisterCommand
): Result.Result<RegisterPlan, InvalidInput | OrgUnitNotAllowed | TierOverCap> => {
  const { agentId, input, limits } = command
  // An agent whose profile is erased is called by its id. An agent that had taken such a name before would block the
  // erasure for ever.
  if (isId("agent", input.name))
    return Result.fail(
      new InvalidInput({
        detail: [
          detailItem(["body", "name"], "value_error", "A name cannot have the form of an agent's id", input.name)
        ]
      })
    )
  const orgUnit = input.org_unit ?? (limits?.orgUnits.length === 1 ? limits.orgUnits[0] : undefined)
  if (orgUnit === undefined)
    return Result.fail(new InvalidInput({ detail: [detailItem(["body", "org_unit"], "missing", "Field required")] }))
  if (limits !== null && !limits.orgUnits.includes(orgUnit)) return Result.fail(new OrgUnitNotAllowed())
  const tier = input.autonomy_tier ?? "L0"
  if (limits !== null && tier > limits.maxTier) return Result.fail(new TierOverCap({ tier, cap: limits.maxTier }))
  const agent = newAgent(input, orgUnit, tier)
  return Result.succeed({
    agent,
    change: {
      puts: [
        {
          collection: AGENTS,
          id: agentId,
          expectedVersion: 0,
          body: agent,
          unique: agentUnique(agent),
          keys: agentKeys(agent)
        }
      ],
      records: [agentRegistered(agentId, agent, command.writer)],
      events: [
        event("agent.registered", {
          agent_id: agentId,
          autonomy_tier: agent.autonomyTier,
          risk_class: input.risk_class ?? "unclassified",
          writer: command.writer.id
        })
      ]
    }
  })
}

const newAgent = (input: AgentCreate, orgUnit: string, autonomyTier: AutonomyTier): AgentDocument => ({
  ...readMembers(input, erasedProfile(input.name)),
  ...readMembers(input, noOwner),
  orgUnit,
  autonomyTier,
  riskClass: input.risk_class ?? "unclassified",
  status: "draft",
  recertDueAtMs: typeof input.recert_due_at === "string" ? parseInstant(input.recert_due_at) : null,
  ...(typeof input.owner_name === "string" && typeof input.owner_email === "string" ? {} : { ownerComplete: false })
})

/** The record of a registration: what the agent may do in the body, what people wrote in parts. */
const agentRegistered = (agentId: string, agent: AgentDocument, writer: Writer) => ({
  kind: "agent.registered",
  agentId,
  body: registrationBody(agentId, agent, writer),
  parts: [...ownerPart(agent), profilePart(agent)]
})

const registrationBody = (
  agentId: string,
  { autonomyTier, ownerComplete, recertDueAtMs, riskClass }: AgentDocument,
  writer: Writer
): JsonObject => ({
  agent_id: agentId,
  autonomy_tier: autonomyTier,
  owner_complete: ownerComplete !== false,
  ...(recertDueAtMs === null ? {} : { recert_due_at: formatInstant(recertDueAtMs) }),
  risk_class: riskClass,
  writer: writer.id
})
