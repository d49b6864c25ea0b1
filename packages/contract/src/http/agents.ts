/** The registry's endpoints. Spec: document 1 section 4; api.md "agents and registry". */
import { Schema } from "effect"
import { Agent, AgentCreate, AgentListQuery } from "../agents.ts"
import { AgentNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

/** The agent that a path names. */
export const agentId = idParam("agent", () => new AgentNotFound())

/** The registry. */
export const agents = {
  create: endpoint({
    id: "agents.create", method: "POST", path: "/api/v1/agents", summary: "Registers an agent, in draft.",
    access: access.capture, body: jsonBody(AgentCreate), success: json(201, Agent),
    refusals: ["AgentNameTaken", "OrgUnitNotAllowed", "TierOverCap"]
  }),
  list: endpoint({
    id: "agents.list", method: "GET", path: "/api/v1/agents", summary: "Agents, oldest first.",
    access: access.readOwn, query: queryOf(AgentListQuery), success: json(200, Schema.Array(Agent))
  }),
  get: endpoint({
    id: "agents.get", method: "GET", path: "/api/v1/agents/{agent_id}", summary: "One agent.",
    access: access.readOwn, params: { agent_id: agentId }, success: json(200, Agent), refusals: ["AgentNotFound"]
  })
} as const
