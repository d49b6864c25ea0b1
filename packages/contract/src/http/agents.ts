/** The registry's endpoints. Spec: document 1 section 4; api.md "agents and registry". */
import { Schema } from "effect"
import {
  Agent,
  type AgentChange,
  AgentCreate,
  AgentCreateOfUnit,
  type AgentInfo,
  type AgentInput,
  AgentListQuery,
  AgentUpdate,
  DisownIn,
  Orphan,
  type OrphanInfo,
  type OwnerInput,
  OwnershipTransfer,
  RecertifyIn,
  SuspendIn,
  TimelineEntry,
  type TimelineEntryInfo,
  TimelineQuery
} from "../agents.ts"
import { IdentityIn, type IdentityInfo, type IdentityInput, IdentityVerdict } from "../identity.ts"
import { pageQuery } from "../foundation/page.ts"
import { named } from "../foundation/plain.ts"
import { ProvenanceCreate, type ProvenanceInfo, type ProvenanceInput, ProvenanceOut } from "../provenance.ts"
import { AgentNotFound } from "../refusals.ts"
import { access, unitOf } from "./access.ts"
import { bodyBy, endpoint, idParam, json, jsonBody, optionalBody, queryOf } from "./endpoint.ts"

/** The agent that a path names. */
export const agentId = idParam("agent", () => new AgentNotFound())

const One = named<AgentInfo>()(Agent)
const Piece = named<ProvenanceInfo>()(ProvenanceOut)

/** Endpoints of the agent registry. Spec: document 1 section 4, `/agents`; decision 0013. */
export const agents = {
  create: endpoint({
    id: "agents.create",
    method: "POST",
    path: "/api/v1/agents",
    summary: "Registers an agent in status draft.",
    access: access.register,
    body: bodyBy(
      jsonBody(named<AgentInput>()(AgentCreate)),
      jsonBody(AgentCreateOfUnit),
      (caller) => unitOf(access.register, caller) === null
    ),
    success: json(201, One),
    refusals: ["AgentNameTaken", "OrgUnitNotAllowed", "TierOverCap"]
  }),
  list: endpoint({
    id: "agents.list",
    method: "GET",
    path: "/api/v1/agents",
    summary: "Lists agents, oldest first.",
    access: access.readOwn,
    query: queryOf(AgentListQuery),
    success: json(200, Schema.Array(One))
  }),
  get: endpoint({
    id: "agents.get",
    method: "GET",
    path: "/api/v1/agents/{agent_id}",
    summary: "Returns one agent.",
    access: access.readOwn,
    params: { agent_id: agentId },
    success: json(200, One),
    refusals: ["AgentNotFound"]
  }),
  timeline: endpoint({
    id: "agents.timeline",
    method: "GET",
    path: "/api/v1/agents/{agent_id}/timeline",
    summary: "Lists an agent's history, newest first: one entry per record.",
    access: access.read,
    params: { agent_id: agentId },
    query: queryOf(TimelineQuery),
    success: json(200, Schema.Array(named<TimelineEntryInfo>()(TimelineEntry))),
    admission: "large_page",
    refusals: ["AgentNotFound"]
  }),
  orphans: endpoint({
    id: "agents.orphans",
    method: "GET",
    path: "/api/v1/agents/orphans",
    summary: "Lists agents without an owner, and when each is suspended.",
    access: access.read,
    query: queryOf(pageQuery("agent")),
    success: json(200, Schema.Array(named<OrphanInfo>()(Orphan)))
  }),
  update: endpoint({
    id: "agents.update",
    method: "PATCH",
    path: "/api/v1/agents/{agent_id}",
    summary: "Updates an agent. Members that are left out keep their values.",
    access: access.govern,
    params: { agent_id: agentId },
    body: jsonBody(named<AgentChange>()(AgentUpdate)),
    success: json(200, One),
    refusals: ["AgentNotFound", "AgentVersionConflict", "InvalidTransition", "TierGateUnmet"]
  }),
  activate: endpoint({
    id: "agents.activate",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/activate",
    summary: "Activates an agent that meets the conditions of its tier.",
    access: access.govern,
    params: { agent_id: agentId },
    success: json(200, One),
    refusals: ["AgentNotFound", "InvalidTransition", "TierGateUnmet"]
  }),
  suspend: endpoint({
    id: "agents.suspend",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/suspend",
    summary: "Suspends an agent until it is activated again.",
    access: access.operate,
    params: { agent_id: agentId },
    body: optionalBody(SuspendIn),
    success: json(200, One),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  decommission: endpoint({
    id: "agents.decommission",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/decommission",
    summary: "Decommissions an agent. This cannot be undone.",
    access: access.govern,
    params: { agent_id: agentId },
    success: json(200, One),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  recertify: endpoint({
    id: "agents.recertify",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/recertify",
    summary: "Records that an agent was reviewed, and the next date.",
    access: access.govern,
    params: { agent_id: agentId },
    body: jsonBody(RecertifyIn),
    success: json(200, One),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  transferOwnership: endpoint({
    id: "agents.transfer_ownership",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/transfer-ownership",
    summary: "Transfers an agent to another owner.",
    access: access.govern,
    params: { agent_id: agentId },
    body: jsonBody(named<OwnerInput>()(OwnershipTransfer)),
    success: json(200, One),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  disown: endpoint({
    id: "agents.disown",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/disown",
    summary: "Removes an agent's owner. The agent is suspended after a week without one.",
    access: access.govern,
    params: { agent_id: agentId },
    body: jsonBody(DisownIn),
    success: json(200, One),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  attachIdentity: endpoint({
    id: "agents.attach_identity",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/identity",
    summary: "Verifies an agent's signed card, or records a declared identity. Records the verdict.",
    access: access.register,
    params: { agent_id: agentId },
    body: jsonBody(named<IdentityInput>()(IdentityIn)),
    success: json(201, named<IdentityInfo>()(IdentityVerdict)),
    refusals: ["AgentNotFound", "InvalidTransition", "IdentityAlreadyVerified", "KeyNotAllowed"]
  })
} as const

/** Endpoints of the provenance of agents. Spec: document 1 section 4, `/agents/{agent_id}/provenance`. */
export const provenance = {
  add: endpoint({
    id: "agents.add_provenance",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/provenance",
    summary: "Records one component of an agent, such as its code, model or prompt.",
    access: access.govern,
    params: { agent_id: agentId },
    body: jsonBody(named<ProvenanceInput>()(ProvenanceCreate)),
    success: json(201, Piece),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  list: endpoint({
    id: "agents.provenance",
    method: "GET",
    path: "/api/v1/agents/{agent_id}/provenance",
    summary: "Lists an agent's recorded components, oldest first.",
    access: access.read,
    params: { agent_id: agentId },
    query: queryOf(pageQuery("provenance")),
    success: json(200, Schema.Array(Piece)),
    refusals: ["AgentNotFound"]
  })
} as const
