/** The endpoints of workflows and executions. Spec: document 2 section 4; api.md "Document 2". */
import { Schema } from "effect"
import { unitQuery } from "../../platform/list.ts"
import {
  Execution,
  ExecutionApprove,
  ExecutionDecided,
  ExecutionsPage,
  ExecutionsQuery,
  ExecutionStart,
  Workflow,
  WorkflowCreate,
  WorkflowsPage,
  WorkflowsQuery
} from "../../platform/workflows.ts"
import { ExecutionNotFound, WorkflowNotFound } from "../../refusals.ts"
import { access, platformAccess } from "../access.ts"
import { endpoint, idParam, json, jsonBody, optionalBody, queryOf } from "../endpoint.ts"

const write = platformAccess("workflows:write", access.operate.roles)
const read = platformAccess("workflows:read")
const platform = { module: "workflows" }
const query = queryOf(Schema.Struct(unitQuery))
const ofExecution = { execution_id: idParam("execution", () => new ExecutionNotFound({})) } as const
const AT = "/v1/workflows/executions/{execution_id}"

/** Endpoints of workflows and executions. Spec: document 2 section 4; api.md "Document 2". */
export const workflows = {
  create: endpoint({
    id: "workflows.create",
    method: "POST",
    path: "/v1/workflows",
    summary: "Creates a workflow: steps that call agents, ask people or wait.",
    access: write,
    platform: { ...platform, operation: "workflows.create_workflow" },
    query,
    body: jsonBody(WorkflowCreate),
    success: json(201, Workflow),
    refusals: ["AgentNotFound", "EgressUnavailable"]
  }),
  list: endpoint({
    id: "workflows.list",
    method: "GET",
    path: "/v1/workflows",
    summary: "Lists workflows, the newest first.",
    access: read,
    platform,
    query: queryOf(WorkflowsQuery),
    success: json(200, WorkflowsPage)
  }),
  start: endpoint({
    id: "workflows.start",
    method: "POST",
    path: "/v1/workflows/{workflow_id}/executions",
    summary: "Starts a workflow. The execution waits in a queue where the plan's runs are all in use.",
    access: write,
    platform: { ...platform, operation: "workflows.run_workflow" },
    params: { workflow_id: idParam("workflow", () => new WorkflowNotFound({})) },
    query,
    body: optionalBody(ExecutionStart),
    success: json(201, Execution),
    refusals: ["WorkflowNotFound"]
  }),
  executions: endpoint({
    id: "workflows.executions",
    method: "GET",
    path: "/v1/workflows/executions",
    summary: "Lists executions, the newest first.",
    access: read,
    platform,
    query: queryOf(ExecutionsQuery),
    success: json(200, ExecutionsPage)
  }),
  execution: endpoint({
    id: "workflows.execution",
    method: "GET",
    path: AT,
    summary: "Returns one execution with its steps.",
    access: read,
    platform,
    params: ofExecution,
    query,
    success: json(200, Execution),
    refusals: ["ExecutionNotFound"]
  }),
  approve: endpoint({
    id: "workflows.approve",
    method: "POST",
    path: `${AT}/approve`,
    summary: "Answers the step that waits for a person.",
    access: platformAccess("executions:approve", access.review.roles),
    platform,
    params: ofExecution,
    query,
    body: jsonBody(ExecutionApprove),
    success: json(200, ExecutionDecided),
    refusals: [
      "ApprovalAlreadyDecided",
      "ApprovalNotEligible",
      "ApprovalStale",
      "ExecutionNotFound",
      "ExecutionNotWaiting"
    ]
  }),
  cancel: endpoint({
    id: "workflows.cancel",
    method: "POST",
    path: `${AT}/cancel`,
    summary: "Cancels an execution that is not over.",
    access: write,
    platform,
    params: ofExecution,
    query,
    success: json(200, Execution),
    refusals: ["ExecutionFinal", "ExecutionNotFound"]
  })
} as const
