/** Workflows and their executions as they travel. Spec: document 2 sections 2 to 4; api.md "Document 2". */
import { Schema } from "effect"
import {
  check,
  defaulted,
  foreignName,
  id,
  identifier,
  instant,
  integer,
  jsonObject,
  leftOut,
  list,
  name,
  oneOf,
  optional,
  patterned,
  reason,
  text
} from "../foundation/fields.ts"
import { roles } from "../session.ts"
import { listOf, listQuery } from "./list.ts"

/** Kinds of steps. */
export const workflowStepTypes = ["agent", "approval", "delay"] as const

/** Statuses of an execution. The last three are final. Spec: document 2 section 3. */
export const executionStatuses = ["queued", "running", "waiting_approval", "completed", "failed", "cancelled"] as const
export type ExecutionStatus = (typeof executionStatuses)[number]

/** Statuses of a step. */
export const executionStepStatuses = [
  "pending",
  "running",
  "waiting_approval",
  "completed",
  "failed",
  "skipped"
] as const
export type ExecutionStepStatus = (typeof executionStepStatuses)[number]

/** Bounds of workflows. Units: as their names say. */
export const workflowBounds = {
  steps: 50,
  /** Of inputs, of a body, of an answer. Characters of JSON. */
  json: 65_536,
  delayMs: 2_592_000_000,
  expiresInS: 2_592_000,
  defaultExpiresInS: 604_800,
  timeoutMs: 120_000,
  defaultTimeoutMs: 30_000,
  retries: 10,
  defaultRetries: 3
} as const

const dollars = Schema.Number.check(
  check<number>(
    (value) => Number.isFinite(value) && value >= 0 && value <= 1_000_000,
    { type: "value_error", msg: "Input should be an amount from 0 to 1,000,000" },
    { minimum: 0, maximum: 1_000_000 }
  )
)

const Headers = Schema.Record(Schema.String, Schema.String).check(
  check<object>((value) => Object.keys(value).length <= 32, { type: "too_long", msg: "At most 32 headers" })
)

/** The request of an agent step. Texts of `body` may hold placeholders such as `{{inputs.order.id}}`. */
export const StepRequest = Schema.Struct({
  url: text(1, 2_048),
  method: defaulted(oneOf(["POST", "PUT", "PATCH", "GET", "DELETE"]), "POST"),
  /** Values are sealed at rest, and never shown again. */
  headers: optional(Headers),
  body: optional(jsonObject)
})

/** A step of a workflow. Members beside `id` and `type` belong to one type. */
export const WorkflowStep = Schema.Struct({
  id: patterned(/^[a-z][a-z0-9_-]{0,63}$/, 64),
  type: oneOf(workflowStepTypes),
  /** `agent`: the agent that acts. Its envelope is evaluated first. */
  agent: optional(id("agent")),
  /** `agent`: the action that is evaluated; left out: the id of the step. */
  action: optional(foreignName(200)),
  /** `agent`: the signals of that evaluation, with placeholders. */
  signals: optional(jsonObject),
  /** `agent`: what is sent, with an Idempotency-Key of the execution and the step. */
  request: optional(StepRequest),
  /** `agent`: the longest that an answer may take. Milliseconds. */
  timeout_ms: leftOut(integer(100, workflowBounds.timeoutMs), workflowBounds.defaultTimeoutMs),
  /** `agent`: how often it is sent again after no answer, 429 or 5xx. */
  retries: leftOut(integer(0, workflowBounds.retries), workflowBounds.defaultRetries),
  /** `agent`: what one run of the step costs. */
  cost: optional(Schema.Struct({ usd: dollars })),
  /** `approval`: what is to be approved, in a line. */
  title: optional(name(200)),
  /** `approval`: the role that a person must have. With it, no key answers. */
  approvers: optional(Schema.Struct({ role: oneOf(roles.filter((role) => role !== "auditor")) })),
  /** `approval`: how long an answer is waited for. Seconds. */
  expires_in_s: leftOut(integer(60, workflowBounds.expiresInS), workflowBounds.defaultExpiresInS),
  /** `approval`: what the person must see, with placeholders. Left out: the inputs and the outputs so far. */
  subject: optional(jsonObject),
  /** `delay`: milliseconds. */
  ms: optional(integer(0, workflowBounds.delayMs))
})
export type WorkflowStep = typeof WorkflowStep.Type

/** Body of POST /v1/workflows. Spec: api.md "Document 2". */
export const WorkflowCreate = Schema.Struct({
  name: name(200),
  /** The caller that starts an execution may not approve it. Default true. */
  four_eyes: Schema.optionalKey(Schema.Boolean),
  steps: list(WorkflowStep, 1, workflowBounds.steps)
})
export type WorkflowCreate = typeof WorkflowCreate.Type

/** A workflow. Of a request's headers the names are shown. */
export const Workflow = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  four_eyes: Schema.Boolean,
  steps: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  /** SHA-256 of the definition, as the record of its creation has it. */
  definition_digest: Schema.String,
  created_at: instant
})
export type Workflow = typeof Workflow.Type

/** Query of GET /v1/workflows. */
export const WorkflowsQuery = listQuery({})
/** Answer of GET /v1/workflows. */
export const WorkflowsPage = listOf(Workflow)

/** Body of POST /v1/workflows/{workflow_id}/executions. */
export const ExecutionStart = Schema.Struct({ inputs: optional(jsonObject) })

/** A step of an execution. `agent`: `human` for an approval, `timer` for a delay. Spec: document 2 section 2. */
export const ExecutionStep = Schema.Struct({
  id: Schema.String,
  agent: Schema.String,
  status: oneOf(executionStepStatuses),
  output: Schema.Record(Schema.String, Schema.Unknown),
  duration_ms: Schema.Int
})

/**
 * An approval that waits for a person. `subject_digest` names exactly what is to be approved: an answer may repeat it.
 */
export const WaitingApproval = Schema.Struct({
  id: Schema.String,
  step_id: Schema.String,
  title: Schema.String,
  subject: Schema.Unknown,
  subject_digest: Schema.String,
  role: Schema.NullOr(Schema.String),
  requested_at: instant,
  expires_at: instant
})

/**
 * An execution. `completed_at` and `duration_ms` are null until it is over; `cost.inr` is null where the server has no
 * rate. `waiting` is there while an answer is requested, `error` once it failed. Spec: document 2 section 2, "Workflow
 * execution".
 */
export const Execution = Schema.Struct({
  id: Schema.String,
  workflow_id: Schema.String,
  workflow_name: Schema.String,
  status: oneOf(executionStatuses),
  inputs: Schema.Record(Schema.String, Schema.Unknown),
  outputs: Schema.Record(Schema.String, Schema.Unknown),
  steps: Schema.Array(ExecutionStep),
  cost: Schema.Struct({ usd: Schema.Number, inr: Schema.NullOr(Schema.Number) }),
  duration_ms: Schema.NullOr(Schema.Int),
  created_at: instant,
  completed_at: Schema.NullOr(instant),
  waiting: Schema.optionalKey(WaitingApproval),
  error: Schema.optionalKey(
    Schema.Struct({ code: Schema.String, message: Schema.String, step_id: Schema.NullOr(Schema.String) })
  )
})
export type Execution = typeof Execution.Type

/** Query of GET /v1/workflows/executions. `status=waiting_approval`: what waits for people. */
export const ExecutionsQuery = listQuery({ status: Schema.optionalKey(oneOf(executionStatuses)) })
/** Answer of GET /v1/workflows/executions. */
export const ExecutionsPage = listOf(Execution)

/** Body of POST /v1/workflows/executions/{execution_id}/approve. Spec: document 2 section 4. */
export const ExecutionApprove = Schema.Struct({
  approved: Schema.Boolean,
  notes: optional(reason(4_000)),
  /** The approval that is answered. Another one that waits by now is 409. */
  approval_id: optional(id("approval")),
  /** The answered subject, as in `waiting.subject_digest`. */
  subject_digest: optional(identifier(71))
})
export type ExecutionApprove = typeof ExecutionApprove.Type

/** The answer that was recorded. */
export const DecidedApproval = Schema.Struct({
  id: Schema.String,
  approved: Schema.Boolean,
  decided_by: Schema.String,
  decided_at: instant,
  notes: Schema.NullOr(Schema.String)
})

/** Answer of the same. */
export const ExecutionDecided = Schema.Struct({ ...Execution.fields, approval: DecidedApproval })
