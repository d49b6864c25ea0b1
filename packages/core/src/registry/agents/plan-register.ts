/** Plans the registration of an agent. */
import { type AgentCreate, detailItem, InvalidInput, isId, OrgUnitNotAllowed, TierOverCap } from "@flyball/contract"
import { formatInstant, parseInstant } from "@flyball/evidence"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, type StoredAgent } from "./document.ts"
import { ownerPart, profilePart } from "./parts.ts"
import {
  type AgentDocument,
  agentKeys,
  agentUnique,
  type AutonomyTier,
  erasedProfile,
  MAX_ANCESTORS,
  noOwner,
  type ParentProblem,
  parentProblem,
  readMembers,
  sealedBody,
  withSealedMembers
} from "@flyball/rules"

/**
 * Limits on the agents that an ingest key, or a person of some org units, may register. Spec: document 1 section 5,
 * item 3.
 */
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
  /** First 4 bytes of SHA-256 of the chain's origin. */
  readonly originTag: Uint8Array
  /** The parent that the input names, its parent and so on, as far as they are found; empty where it names none. */
  readonly line: ReadonlyArray<StoredAgent>
}

/** The agent there will be, and the change that makes it. */
export interface RegisterPlan {
  readonly agent: AgentDocument
  readonly change: ChangeSet
}

/**
 * Decides what registering an agent would change. That its name is free is checked by the commit.
 *
 * - Fails: `InvalidInput` when no org unit is named and none follows from a key, the name has the form of an agent's
 *   id, or the parent is no agent of the same org unit or has too many ancestors; `OrgUnitNotAllowed`, `TierOverCap`
 *   beyond what the key allows.
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
  if (limits !== null && !limits.orgUnits.includes(orgUnit)) return Result.fail(new OrgUnitNotAllowed({}))
  const tier = input.autonomy_tier ?? "L0"
  if (limits !== null && tier > limits.maxTier) return Result.fail(new TierOverCap({ tier, cap: limits.maxTier }))
  const agent = withSealedMembers(newAgent(input, orgUnit, tier), command.originTag)
  const problem = problemWithParent(command, agent)
  if (problem !== null)
    return Result.fail(
      new InvalidInput({
        detail: [detailItem(["body", "parent_agent_id"], "value_error", parentWords[problem], agent.parentAgentId)]
      })
    )
  return Result.succeed({
    agent,
    change: {
      turn: { class: "act", key: command.writer.id },
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

/** One sentence for an unknown parent and one of another unit: who may not see it learns nothing. */
const parentWords: { readonly [problem in ParentProblem]: string } = {
  not_of_the_unit: "The parent must be an agent of the same org unit",
  too_deep: `An agent can have at most ${MAX_ANCESTORS} ancestors`
}

const problemWithParent = ({ agentId, line }: RegisterCommand, agent: AgentDocument): ParentProblem | null => {
  if (agent.parentAgentId === undefined) return null
  const known = new Map(line.map(({ body, id }) => [id, body]))
  const { orgUnitDigest, parentAgentId: parentId } = agent
  return parentProblem({ id: agentId, parentId, orgUnitDigest }, (id) => known.get(id))
}

const newAgent = (input: AgentCreate, orgUnit: string, autonomyTier: AutonomyTier): AgentDocument => ({
  ...readMembers(input, erasedProfile(input.name)),
  ...readMembers(input, noOwner),
  orgUnit,
  autonomyTier,
  riskClass: input.risk_class ?? "unclassified",
  status: "draft",
  recertDueAtMs: typeof input.recert_due_at === "string" ? parseInstant(input.recert_due_at) : null,
  ...(typeof input.owner_name === "string" && typeof input.owner_email === "string" ? {} : { ownerComplete: false }),
  ...(typeof input.parent_agent_id === "string" ? { parentAgentId: input.parent_agent_id } : {})
})

/** The record of a registration: what the agent may do in the body, what people wrote in parts. */
const agentRegistered = (agentId: string, agent: AgentDocument, writer: Writer) => ({
  kind: "agent.registered",
  agentId,
  body: registrationBody(agentId, agent, writer),
  parts: [...ownerPart(agent), profilePart(agent)]
})

const registrationBody = (agentId: string, agent: AgentDocument, writer: Writer): JsonObject =>
  omitNullish({
    ...sealedBody(agent),
    agent_id: agentId,
    autonomy_tier: agent.autonomyTier,
    recert_due_at: agent.recertDueAtMs === null ? null : formatInstant(agent.recertDueAtMs),
    risk_class: agent.riskClass,
    writer: writer.id
  }) as JsonObject
