/** The endpoints of tool servers. Spec: document 1 section 4, GET /fairness/mcp-screen; decision 0072. */
import {
  FindingResolveIn,
  type FindingResolveInput,
  McpFinding,
  type McpFindingInfo,
  McpManifestIn,
  type McpManifestInput,
  McpPinIn,
  type McpPinInput,
  type McpScreenInfo,
  McpScreenOut,
  McpScreenQuery,
  McpServer,
  type McpServerInfo
} from "../mcp.ts"
import { named } from "../foundation/plain.ts"
import { FindingNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

const Server = named<McpServerInfo>()(McpServer)

/** Endpoints of tool servers. Spec: document 1 section 4, GET /fairness/mcp-screen; decision 0072. */
export const mcp = {
  screen: endpoint({
    id: "mcp.screen",
    method: "GET",
    path: "/api/v1/fairness/mcp-screen",
    summary: "Shows tool servers, calls of their tools, and findings about their lists.",
    access: access.read,
    query: queryOf(McpScreenQuery),
    success: json(200, named<McpScreenInfo>()(McpScreenOut))
  }),
  upload: endpoint({
    id: "mcp.upload",
    method: "POST",
    path: "/api/v1/fairness/mcp-manifests",
    summary: "Records a list of tools, as if an agent had seen it.",
    access: access.govern,
    body: jsonBody(named<McpManifestInput>()(McpManifestIn)),
    success: json(201, Server),
    refusals: ["AgentNotFound"]
  }),
  pin: endpoint({
    id: "mcp.pin",
    method: "POST",
    path: "/api/v1/fairness/mcp-pins",
    summary: "Approves a list of a tool server: another list is a change.",
    access: access.govern,
    body: jsonBody(named<McpPinInput>()(McpPinIn)),
    success: json(201, Server),
    refusals: ["McpServerNotFound"]
  }),
  resolve: endpoint({
    id: "mcp.resolve",
    method: "POST",
    path: "/api/v1/fairness/findings/{finding_id}/resolve",
    summary: "Approves or rejects what a finding names.",
    access: access.govern,
    params: { finding_id: idParam("finding", () => new FindingNotFound({})) },
    body: jsonBody(named<FindingResolveInput>()(FindingResolveIn)),
    success: json(200, named<McpFindingInfo>()(McpFinding)),
    refusals: ["FindingNotFound", "FindingResolved"]
  })
} as const
