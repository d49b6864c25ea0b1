/** Workflows and executions as state. Plain data; times in milliseconds since 1970 UTC. */
import type { Execution, ExecutionStatus, ExecutionStepStatus, Workflow } from "@flyball/contract"
import { executionKeys, EXECUTIONS, type ListEntry, workflowKeys, WORKFLOWS } from "@flyball/core"
import type { Document, DocumentPut, JsonObject } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"

/** The call that an agent step sends. Header values are sealed elsewhere. */
export type StepCall = {
  readonly url: string
  readonly method: string
  readonly header_names: ReadonlyArray<string>
  readonly body: JsonObject | null
}

/** A step of a definition, as it is shown and recorded. */
export type StepDefinition =
  | {
      readonly id: string
      readonly type: "agent"
      readonly agent: string
      readonly action: string
      readonly signals: JsonObject
      readonly request: StepCall
      readonly timeout_ms: number
      readonly retries: number
      readonly cost: { readonly usd: number }
    }
  | {
      readonly id: string
      readonly type: "approval"
      readonly title: string
      readonly role: string | null
      readonly expires_in_s: number
      readonly subject: JsonObject | null
    }
  | { readonly id: string; readonly type: "delay"; readonly ms: number }

/** A workflow. It never changes. */
export type WorkflowDocument = {
  readonly name: string
  readonly orgUnit: string
  readonly owner: string
  readonly fourEyes: boolean
  readonly steps: ReadonlyArray<StepDefinition>
  readonly digest: string
  /** Of each step with headers: these, as JSON, sealed and in base64. */
  readonly sealedHeaders: { readonly [stepId: string]: string }
  readonly createdAtMs: number
}

/** A step of an execution. */
export type StepState = {
  readonly type: StepDefinition["type"]
  /** How often an engine took it up: each time its envelope is evaluated anew. */
  readonly takes: number
  readonly status: ExecutionStepStatus
  readonly output: JsonObject
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  /** How often its request was sent. */
  readonly tries: number
  /** The review that its agent's envelope asks for. */
  readonly reviewId: string | null
}

/** An approval that waits for a person. */
export type Waiting = {
  readonly id: string
  readonly stepId: string
  readonly role: string | null
  readonly subject: JsonObject
  readonly subjectDigest: string
  readonly openedAtMs: number
  readonly expiresAtMs: number
  /** The subject was erased: it can be rejected, and not approved. */
  readonly isErased: boolean
}

/** The last answer of a person. */
export type Decision = {
  readonly id: string
  readonly subjectDigest: string
  readonly approved: boolean
  readonly by: string
  readonly atMs: number
  readonly notes: string | null
}

/** Why an execution failed. */
export type Failure = { readonly code: string; readonly message: string; readonly stepId: string | null }

/** An execution. */
export type ExecutionDocument = {
  readonly workflowId: string
  readonly orgUnit: string
  readonly owner: string
  readonly startedBy: string
  /** Runs at once that the plan of its starter allows. */
  readonly cap: number
  readonly status: ExecutionStatus
  readonly inputs: JsonObject
  /** The place of the step that is next. */
  readonly at: number
  /** True while it counts as a run. */
  readonly holdsSlot: boolean
  readonly steps: ReadonlyArray<StepState>
  readonly waiting: Waiting | null
  readonly decision: Decision | null
  readonly costMicroUsd: number
  /** Rupees for a dollar when it was started; null where the server had no rate. */
  readonly usdInr: number | null
  readonly createdAtMs: number
  /** When the engine reads it next; null for never, and while it is queued. */
  readonly dueMs: number | null
  readonly completedAtMs: number | null
  readonly error: Failure | null
}

/** A document with its version. */
export interface Stored<A> {
  readonly id: string
  readonly version: number
  readonly body: A
}

/** Reads the workflow of a document. */
export const storedWorkflow = ({ body, id, version }: Document): Stored<WorkflowDocument> => ({
  id,
  version,
  body: body as unknown as WorkflowDocument
})
/** Reads the execution of a document. */
export const storedExecution = ({ body, id, version }: Document): Stored<ExecutionDocument> => ({
  id,
  version,
  body: body as unknown as ExecutionDocument
})

/** True once an execution never changes again. */
export const isFinal = ({ status }: ExecutionDocument): boolean =>
  status === "completed" || status === "failed" || status === "cancelled"

/** The counter of an org unit's runs. */
export const runsOf = (owner: string): string => `${owner}:runs`

const entry = (id: string, { createdAtMs, owner }: { readonly owner: string; readonly createdAtMs: number }) => ({
  id,
  owner,
  createdAtMs
})
/** The place of a workflow in lists. */
export const listedWorkflow = (document: Document): ListEntry => entry(document.id, storedWorkflow(document).body)
/** The place of an execution in lists, and its filter. */
export const listedExecution = (document: Document): ListEntry => {
  const { body } = storedExecution(document)
  return { ...entry(document.id, body), filters: { status: body.status } }
}

/** Puts a new workflow. */
export const putWorkflow = (id: string, workflow: WorkflowDocument): DocumentPut => {
  const body = workflow as unknown as JsonObject
  return { collection: WORKFLOWS, id, expectedVersion: 0, body, keys: workflowKeys(id, body) }
}

/** Puts an execution over the version that was read. */
export const putExecution = ({ body: execution, id, version }: Stored<ExecutionDocument>): DocumentPut => {
  const body = execution as unknown as JsonObject
  return { collection: EXECUTIONS, id, expectedVersion: version, body, keys: executionKeys(id, body) }
}

/** Shows a workflow. */
export const workflowOut = ({ body, id }: Stored<WorkflowDocument>): Workflow => ({
  id,
  name: body.name,
  four_eyes: body.fourEyes,
  steps: body.steps,
  definition_digest: `sha256:${body.digest}`,
  created_at: formatInstant(body.createdAtMs)
})

const MICRO = 1_000_000
const spent = ({ endedAtMs, startedAtMs }: StepState): number =>
  startedAtMs === null || endedAtMs === null ? 0 : Math.max(0, endedAtMs - startedAtMs)

/** Outputs of the steps of agents that are over. */
export const outputsOf = (steps: ReadonlyArray<StepDefinition>, body: ExecutionDocument): JsonObject =>
  Object.fromEntries(
    steps.flatMap(({ id, type }, at) =>
      type === "agent" && body.steps[at]?.status === "completed" ? [[id, body.steps[at]!.output]] : []
    )
  )

/** The cost of an execution. */
export const costOf = ({ costMicroUsd, usdInr }: ExecutionDocument): Execution["cost"] => ({
  usd: costMicroUsd / MICRO,
  inr: usdInr === null ? null : Math.round(costMicroUsd * usdInr) / MICRO
})

/** The title of a step; its id once the definition was erased. */
const titleOf = (steps: ReadonlyArray<StepDefinition>, stepId: string): string => {
  const step = steps.find(({ id }) => id === stepId)
  return step?.type === "approval" ? step.title : stepId
}

/** Shows an execution. */
export const executionOut = (
  { body, id }: Stored<ExecutionDocument>,
  { name, steps }: Pick<WorkflowDocument, "name" | "steps">
): Execution => ({
  id,
  workflow_id: body.workflowId,
  workflow_name: name,
  status: body.status,
  inputs: body.inputs,
  outputs: outputsOf(steps, body),
  steps: steps.map((step, at) => ({
    id: step.id,
    agent: step.type === "agent" ? step.agent : step.type === "approval" ? "human" : "timer",
    status: body.steps[at]!.status,
    output: body.steps[at]!.output,
    duration_ms: spent(body.steps[at]!)
  })),
  cost: costOf(body),
  duration_ms: body.completedAtMs === null ? null : Math.max(0, body.completedAtMs - body.createdAtMs),
  created_at: formatInstant(body.createdAtMs),
  completed_at: body.completedAtMs === null ? null : formatInstant(body.completedAtMs),
  ...(body.waiting === null
    ? {}
    : {
        waiting: {
          id: body.waiting.id,
          step_id: body.waiting.stepId,
          title: titleOf(steps, body.waiting.stepId),
          subject: body.waiting.subject,
          subject_digest: `sha256:${body.waiting.subjectDigest}`,
          role: body.waiting.role,
          requested_at: formatInstant(body.waiting.openedAtMs),
          expires_at: formatInstant(body.waiting.expiresAtMs)
        }
      }),
  ...(body.error === null
    ? {}
    : { error: { code: body.error.code, message: body.error.message, step_id: body.error.stepId } })
})
