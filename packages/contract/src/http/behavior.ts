/** The endpoints of behaviour. Spec: document 1 section 4; decision 0073. */
import { BehaviorChange, type BehaviorChangeInfo, ChangeQuery } from "../behavior.ts"
import { named } from "../foundation/plain.ts"
import { access } from "./access.ts"
import { agentId } from "./agents.ts"
import { endpoint, json, queryOf } from "./endpoint.ts"

/** Endpoints of behaviour. Spec: document 1 section 4, GET /behavior/agents/{agent_id}/change; decision 0073. */
export const behavior = {
  change: endpoint({
    id: "behavior.change",
    method: "GET",
    path: "/api/v1/behavior/agents/{agent_id}/change",
    summary: "Compares an agent's last window of decisions with the window before it.",
    access: access.read,
    params: { agent_id: agentId },
    query: queryOf(ChangeQuery),
    success: json(200, named<BehaviorChangeInfo>()(BehaviorChange)),
    admission: "costly_read",
    refusals: ["AgentNotFound"]
  })
} as const
