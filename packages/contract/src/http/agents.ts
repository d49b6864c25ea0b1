/** The registry's endpoints. Spec: document 1 section 4; api.md "agents and registry". */
import { Schema } from "effect"
import {
  Agent,
  AgentCreate,
  AgentCreateOfUnit,
  AgentListQuery,
  AgentUpdate,
  DisownIn,
  Orphan,
  OwnershipTransfer,
  RecertifyIn,
  SuspendIn,
  TimelineEntry,
  TimelineQuery
} from "../agents.ts"
import { IdentityIn, IdentityVerdict } from "../identity.ts"
import { pageQuery } from "../page.ts"
import { ProvenanceCreate, ProvenanceOut } from "../provenance.ts"
import { AgentNotFound } from "../refusals.ts"
import { access, unitOf } from "./access.ts"
import { bodyBy, endpoint, idParam, json, jsonBody, optionalBody, queryOf } from "./endpoint.ts"

/** The agent that a path names. */
export const agentId = idParam("agent", () => new AgentNotFound())

/** The registry. */
export const agents = {
  create: endpoint({
    id: "agents.create",
    method: "POST",
    path: "/api/v1/agents",
    summary: "Registers an agent, in draft.",
    access: access.register,
    body: bodyBy(
      jsonBody(AgentCreate),
      jsonBody(AgentCreateOfUnit),
      (caller) => unitOf(access.register, caller) === null
    ),
    success: json(201, Agent),
    refusals: ["AgentNameTaken", "OrgUnitNotAllowed", "TierOverCap"]
  }),
  list: endpoint({
    id: "agents.list",
    method: "GET",
    path: "/api/v1/agents",
    summary: "Agents, oldest first.",
    access: access.readOwn,
    query: queryOf(AgentListQuery),
    success: json(200, Schema.Array(Agent))
  }),
  get: endpoint({
    id: "agents.get",
    method: "GET",
    path: "/api/v1/agents/{agent_id}",
    summary: "One agent.",
    access: access.readOwn,
    params: { agent_id: agentId },
    success: json(200, Agent),
    refusals: ["AgentNotFound"]
  }),
  timeline: endpoint({
    id: "agents.timeline",
    method: "GET",
    path: "/api/v1/agents/{agent_id}/timeline",
    summary: "What happened to an agent, newest first: one entry for each of its records.",
    access: access.read,
    params: { agent_id: agentId },
    query: queryOf(TimelineQuery),
    success: json(200, Schema.Array(TimelineEntry)),
    refusals: ["AgentNotFound"]
  }),
  addProvenance: endpoint({
    id: "agents.add_provenance",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/provenance",
    summary: "Says what an agent is made of.",
    access: access.govern,
    params: { agent_id: agentId },
    body: jsonBody(ProvenanceCreate),
    success: json(201, ProvenanceOut),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  provenance: endpoint({
    id: "agents.provenance",
    method: "GET",
    path: "/api/v1/agents/{agent_id}/provenance",
    summary: "What an agent is made of, oldest first.",
    access: access.read,
    params: { agent_id: agentId },
    query: queryOf(pageQuery("provenance")),
    success: json(200, Schema.Array(ProvenanceOut)),
    refusals: ["AgentNotFound"]
  }),
  orphans: endpoint({
    id: "agents.orphans",
    method: "GET",
    path: "/api/v1/agents/orphans",
    summary: "Agents that nobody answers for, and when each is suspended.",
    access: access.read,
    query: queryOf(pageQuery("agent")),
    success: json(200, Schema.Array(Orphan))
  }),
  update: endpoint({
    id: "agents.update",
    method: "PATCH",
    path: "/api/v1/agents/{agent_id}",
    summary: "Changes an agent. What is left out stays.",
    access: access.govern,
    params: { agent_id: agentId },
    body: jsonBody(AgentUpdate),
    success: json(200, Agent),
    refusals: ["AgentNotFound", "AgentVersionConflict", "InvalidTransition", "TierGateUnmet"]
  }),
  activate: endpoint({
    id: "agents.activate",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/activate",
    summary: "Lets an agent act, if it has what its tier needs.",
    access: access.govern,
    params: { agent_id: agentId },
    success: json(200, Agent),
    refusals: ["AgentNotFound", "InvalidTransition", "TierGateUnmet"]
  }),
  suspend: endpoint({
    id: "agents.suspend",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/suspend",
    summary: "Stops an agent until it is activated again.",
    access: access.operate,
    params: { agent_id: agentId },
    body: optionalBody(SuspendIn),
    success: json(200, Agent),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  decommission: endpoint({
    id: "agents.decommission",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/decommission",
    summary: "Ends an agent for good.",
    access: access.govern,
    params: { agent_id: agentId },
    success: json(200, Agent),
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
    success: json(200, Agent),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  transferOwnership: endpoint({
    id: "agents.transfer_ownership",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/transfer-ownership",
    summary: "Makes another person answer for an agent.",
    access: access.govern,
    params: { agent_id: agentId },
    body: jsonBody(OwnershipTransfer),
    success: json(200, Agent),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  disown: endpoint({
    id: "agents.disown",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/disown",
    summary: "Takes an agent's owner away; it has a week to get another.",
    access: access.govern,
    params: { agent_id: agentId },
    body: jsonBody(DisownIn),
    success: json(200, Agent),
    refusals: ["AgentNotFound", "InvalidTransition"]
  }),
  attachIdentity: endpoint({
    id: "agents.attach_identity",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/identity",
    summary: "Verifies an agent's signed card, or takes down a declared identity. The verdict is recorded.",
    access: access.register,
    params: { agent_id: agentId },
    body: jsonBody(IdentityIn),
    success: json(201, IdentityVerdict),
    refusals: ["AgentNotFound", "InvalidTransition", "IdentityAlreadyVerified", "KeyNotAllowed"]
  })
} as const
