/** The endpoints of eval runs. Spec: document 1 section 4, GET /evals/eval-runs; decision 0067. */
import { Schema } from "effect"
import { EvalRun, EvalRunIn, type EvalRunInfo, type EvalRunInput, EvalRunsQuery } from "../evals.ts"
import { named } from "../foundation/plain.ts"
import { access } from "./access.ts"
import { endpoint, json, jsonBody, queryOf } from "./endpoint.ts"

const Run = named<EvalRunInfo>()(EvalRun)

/** Endpoints of eval runs. Spec: document 1 section 4, GET /evals/eval-runs; decision 0067. */
export const evals = {
  list: endpoint({
    id: "evals.list",
    method: "GET",
    path: "/api/v1/evals/eval-runs",
    summary: "Lists eval runs, newest first.",
    access: access.read,
    query: queryOf(EvalRunsQuery),
    success: json(200, Schema.Array(Run)),
    refusals: ["AgentNotFound"]
  }),
  record: endpoint({
    id: "evals.record",
    method: "POST",
    path: "/api/v1/evals/eval-runs",
    summary: "Records the results of a suite, and compares them with an earlier run.",
    access: access.govern,
    body: jsonBody(named<EvalRunInput>()(EvalRunIn)),
    success: json(201, Run),
    refusals: ["AgentNotFound"]
  })
} as const
