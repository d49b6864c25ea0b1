/** The endpoints of agents that work in a browser. Spec: document 2 section 8, "create_agent". */
import { Schema } from "effect"
import { DocumentAgent, DocumentAgentCreate } from "../../platform/document-agents.ts"
import { unitQuery } from "../../platform/list.ts"
import { AgentNotFound } from "../../refusals.ts"
import { access, platformAccess } from "../access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "../endpoint.ts"

const platform = { module: "document_agents" }
const query = queryOf(Schema.Struct(unitQuery))

/** Endpoints of agents that work in a browser. Spec: document 2 section 8, "documents". */
export const documentAgents = {
  createAgent: endpoint({
    id: "documents.create_agent",
    method: "POST",
    path: "/v1/documents/agents",
    summary: "Registers an agent that works in a browser, and drafts its envelope. Its caller runs the browser.",
    access: platformAccess("documents:write", access.operate.roles),
    platform: { ...platform, operation: "documents.create_agent" },
    query,
    body: jsonBody(DocumentAgentCreate),
    success: json(201, DocumentAgent),
    refusals: ["AgentNameTaken"]
  }),
  agent: endpoint({
    id: "documents.agent",
    method: "GET",
    path: "/v1/documents/agents/{agent_id}",
    summary: "Returns an agent that works in a browser, and whether its proxy is connected.",
    access: platformAccess("documents:read"),
    platform,
    params: { agent_id: idParam("agent", () => new AgentNotFound({})) },
    query,
    success: json(200, DocumentAgent),
    refusals: ["AgentNotFound"]
  })
} as const
