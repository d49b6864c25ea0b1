/** Plans the moves of an execution: slots, steps, answers of people, and its end. Pure. Spec: document 2 section 3. */
import { PART_LIMIT_BYTES } from "@flyball/contract"
import { platformEvent } from "@flyball/core"
import type { ChangeSet, JsonObject, RecordDraft } from "@flyball/core/storage"
import { EXECUTION_WRITER, fillTemplate, sealedForm } from "@flyball/rules"
import {
  costOf,
  type Decision,
  type ExecutionDocument,
  type Failure,
  outputsOf,
  putExecution,
  runsOf,
  type StepDefinition,
  type StepState,
  type Stored,
  type Waiting,
  type WorkflowDocument
} from "./document.ts"

/** An execution after a move, and the commit that makes it. */
export interface Move {
  readonly body: ExecutionDocument
  readonly change: ChangeSet
}

/**
 * Makes the commit of a move. What it does to the slot follows from the two documents: a slot is taken only while the
 * counter stays within the cap, else the commit is a conflict `Count`.
 */
const moved = (
  { body: before, id, version }: Stored<ExecutionDocument>,
  after: ExecutionDocument,
  dueMs: number | null,
  more: Pick<ChangeSet, "records" | "events" | "sealBeforeMs"> = {}
): Move => {
  const body = { ...after, dueMs }
  const add = Number(body.holdsSlot) - Number(before.holdsSlot)
  return {
    body,
    change: {
      ...more,
      puts: [putExecution({ id, version, body })],
      ...(add === 0 ? {} : { counts: [{ name: runsOf(body.owner), add, ...(add > 0 ? { atMost: body.cap } : {}) }] })
    }
  }
}

/** The execution with another state of one step. */
const withStep = (body: ExecutionDocument, at: number, change: Partial<StepState>): ExecutionDocument => ({
  ...body,
  steps: body.steps.map((step, place) => (place === at ? { ...step, ...change } : step))
})

/** How long an engine may need for what is next, before others take it for lost. Unit: milliseconds. */
const leaseMs = (step: StepDefinition | undefined): number =>
  SPARE_MS + (step?.type === "agent" ? 2 * step.timeout_ms : 0)
const SPARE_MS = 10_000

/** The execution with its next step begun. One that asks a person begins when it asks. */
const begun = (body: ExecutionDocument, steps: ReadonlyArray<StepDefinition>, nowMs: number): ExecutionDocument => {
  const { at } = body
  return at >= steps.length || steps[at]!.type === "approval"
    ? body
    : withStep(body, at, {
        status: "running",
        startedAtMs: body.steps[at]!.startedAtMs ?? nowMs,
        takes: body.steps[at]!.takes + 1
      })
}

/** Takes it for a while: another engine takes it only where this one is lost. */
export const planClaim = (
  stored: Stored<ExecutionDocument>,
  steps: ReadonlyArray<StepDefinition>,
  nowMs: number
): Move =>
  moved(
    stored,
    begun({ ...stored.body, status: "running", holdsSlot: true }, steps, nowMs),
    nowMs + leaseMs(steps[stored.body.at])
  )

/** Puts it behind others: the plan's runs are all in use. */
export const planQueue = (stored: Stored<ExecutionDocument>): Move =>
  moved(stored, { ...stored.body, status: "queued", holdsSlot: false }, null)

/** Lets it wait for a time, without a slot where that is long. */
export const planWait = (stored: Stored<ExecutionDocument>, dueMs: number, holdsSlot: boolean): Move =>
  moved(stored, { ...stored.body, holdsSlot }, dueMs)

/** The members of a workflow that moves read. */
export type Defined = Pick<WorkflowDocument, "name" | "steps">

const completed = (nowMs: number): Ending => ({ status: "completed", failure: null, nowMs, writer: EXECUTION_WRITER })

/** Ends a step. The next one begins in the same commit, and the last one ends the execution. */
export const planStepDone = (
  stored: Stored<ExecutionDocument>,
  workflow: Defined,
  output: JsonObject,
  nowMs: number
): Move => {
  const { steps } = workflow
  const { at } = stored.body
  const step = steps[at]!
  const done = withStep(stored.body, at, { status: "completed", output, endedAtMs: nowMs })
  const cost = step.type === "agent" ? Math.round(step.cost.usd * MICRO) : 0
  const body = { ...done, at: at + 1, costMicroUsd: done.costMicroUsd + cost }
  return at + 1 === steps.length
    ? ended(stored, body, workflow, completed(nowMs), [], {})
    : moved(stored, begun(body, steps, nowMs), nowMs + leaseMs(steps[at + 1]))
}
const MICRO = 1_000_000

/** Sends the request of a step once more, later; without a slot where that is long. */
export const planRetry = (stored: Stored<ExecutionDocument>, dueMs: number, holdsSlot: boolean): Move => {
  const { at, steps } = stored.body
  return moved(stored, { ...withStep(stored.body, at, { tries: steps[at]!.tries + 1 }), holdsSlot }, dueMs)
}

/** Waits for the review that an agent's envelope asks for. */
export const planReview = (stored: Stored<ExecutionDocument>, reviewId: string, dueMs: number): Move => {
  const waits = withStep(stored.body, stored.body.at, { status: "waiting_approval", reviewId })
  return moved(stored, { ...waits, status: "waiting_approval", holdsSlot: false }, dueMs)
}

/** The values that templates read. */
export const templateValues = (body: ExecutionDocument, steps: ReadonlyArray<StepDefinition>) => ({
  inputs: body.inputs,
  steps: Object.fromEntries(steps.map(({ id }, at) => [id, { output: body.steps[at]!.output }]))
})

/** Asks a person. It holds no slot while it waits. Null where what is to be approved is too large. */
export const planAsk = (
  stored: Stored<ExecutionDocument>,
  step: StepDefinition & { readonly type: "approval" },
  steps: ReadonlyArray<StepDefinition>,
  approvalId: string,
  nowMs: number
): Move | null => {
  const { body, id } = stored
  const plain = { inputs: body.inputs, outputs: outputsOf(steps, body) }
  const whole = sealedForm(plain)
  const made =
    step.subject !== null
      ? fillTemplate(step.subject, templateValues(body, steps))
      : whole === null
        ? null
        : { value: plain, sealed: whole }
  if (made === null || made.sealed.bytes.length > PART_LIMIT_BYTES) return null
  const subject = made.value as JsonObject
  const { sealed } = made
  const waiting: Waiting = {
    id: approvalId,
    stepId: step.id,
    role: step.role,
    subject,
    subjectDigest: sealed.digest,
    openedAtMs: nowMs,
    expiresAtMs: nowMs + step.expires_in_s * 1_000,
    isErased: false
  }
  const waits = withStep(body, body.at, { status: "waiting_approval", startedAtMs: nowMs })
  return moved(stored, { ...waits, status: "waiting_approval", holdsSlot: false, waiting }, waiting.expiresAtMs, {
    records: [
      {
        kind: "execution.waiting",
        agentId: null,
        body: {
          approval_id: approvalId,
          execution_id: id,
          expires_at_ms: waiting.expiresAtMs,
          opened_at_ms: nowMs,
          step_id: step.id,
          subject_digest: sealed.digest,
          writer: EXECUTION_WRITER
        },
        parts: [{ name: "subject", bytes: sealed.bytes }]
      }
    ]
  })
}

/**
 * Records the answer of a person: it goes on, with a slot or in the queue, or ends. The commit is refused once the time
 * for the answer is over.
 */
export const planDecide = (
  stored: Stored<ExecutionDocument>,
  workflow: Defined,
  answer: { readonly approved: boolean; readonly notes: string | null; readonly by: string },
  nowMs: number,
  hasSlot: boolean
): Move => {
  const { body, id } = stored
  const waiting = body.waiting!
  const decision: Decision = {
    ...answer,
    id: waiting.id,
    subjectDigest: waiting.subjectDigest,
    atMs: nowMs
  }
  const output: JsonObject = {
    approval_id: waiting.id,
    approved: answer.approved,
    decided_by: answer.by,
    ...(answer.notes === null ? {} : { notes: answer.notes })
  }
  const record: RecordDraft = {
    kind: "execution.decided",
    agentId: null,
    body: {
      approval_id: waiting.id,
      approved: answer.approved,
      decided_at_ms: nowMs,
      execution_id: id,
      subject_digest: waiting.subjectDigest,
      writer: answer.by
    },
    parts: answer.notes === null ? [] : [{ name: "notes", bytes: sealedForm(answer.notes)!.bytes }]
  }
  const sealBeforeMs = waiting.expiresAtMs
  const answered = { ...body, waiting: null, decision }
  if (!answer.approved) {
    const rejected = withStep(answered, body.at, { status: "failed", output, endedAtMs: nowMs })
    const failure = {
      code: "approval_rejected",
      message: `The step ${waiting.stepId} was rejected.`,
      stepId: waiting.stepId
    }
    const ending: Ending = { status: "failed", failure, nowMs, writer: EXECUTION_WRITER }
    return ended(stored, rejected, workflow, ending, [record], { sealBeforeMs })
  }
  const approved = withStep(answered, body.at, { status: "completed", output, endedAtMs: nowMs })
  const at = body.at + 1
  if (at === workflow.steps.length)
    return ended(stored, { ...approved, at }, workflow, completed(nowMs), [record], { sealBeforeMs })
  return moved(
    stored,
    { ...approved, at, status: hasSlot ? "running" : "queued", holdsSlot: hasSlot },
    hasSlot ? nowMs : null,
    { records: [record], sealBeforeMs }
  )
}

/** Bytes of outputs that a record can hold, with room for their names. */
const MAX_OUTPUTS = 900 * 1_024

/** True when the outputs with this one more still fit into a record. */
export const outputsFit = (body: ExecutionDocument, { steps }: Defined, output: JsonObject): boolean => {
  const after = withStep(body, body.at, { status: "completed", output })
  const sealed = sealedForm(outputsOf(steps, after))
  return sealed !== null && sealed.bytes.length <= MAX_OUTPUTS
}

/** How an execution ends. */
export interface Ending {
  readonly status: "completed" | "failed" | "cancelled"
  readonly failure: Failure | null
  readonly nowMs: number
  readonly writer: string
}

/** Ends an execution: its state, its record and its event are one commit. */
export const planEnd = (stored: Stored<ExecutionDocument>, workflow: Defined, ending: Ending): Move =>
  ended(stored, stored.body, workflow, ending, [], {})

const ended = (
  stored: Stored<ExecutionDocument>,
  reached: ExecutionDocument,
  workflow: Defined,
  { failure, nowMs, status, writer }: Ending,
  before: ReadonlyArray<RecordDraft>,
  more: Pick<ChangeSet, "sealBeforeMs">
): Move => {
  const { id } = stored
  const body: ExecutionDocument = {
    ...reached,
    status,
    holdsSlot: false,
    waiting: null,
    completedAtMs: nowMs,
    error: failure,
    steps: reached.steps.map((step, at) =>
      step.status === "pending"
        ? { ...step, status: "skipped" }
        : step.status === "running" || step.status === "waiting_approval"
          ? { ...step, status: at === reached.at && status === "failed" ? "failed" : "skipped", endedAtMs: nowMs }
          : step
    )
  }
  const outputs = outputsOf(workflow.steps, body)
  const sealed = sealedForm(outputs)!
  const record: RecordDraft = {
    kind: "execution.finished",
    agentId: null,
    body: {
      cost_micro_usd: body.costMicroUsd,
      execution_id: id,
      finished_at_ms: nowMs,
      outputs_digest: sealed.digest,
      status,
      writer,
      ...(failure === null ? {} : { code: failure.code }),
      ...(failure === null || failure.stepId === null ? {} : { step_id: failure.stepId })
    },
    parts: [{ name: "outputs", bytes: sealed.bytes }]
  }
  return moved(stored, body, null, {
    ...more,
    records: [...before, record],
    events: eventOf(id, body)
  })
}

const eventOf = (id: string, body: ExecutionDocument): NonNullable<ChangeSet["events"]> => {
  const shared = {
    id,
    workflow_id: body.workflowId,
    status: body.status,
    duration_ms: Math.max(0, body.completedAtMs! - body.createdAtMs),
    completed_at: new Date(body.completedAtMs!).toISOString()
  }
  if (body.status === "completed")
    return [platformEvent("workflow.completed", body.orgUnit, { ...shared, cost: costOf(body) })]
  if (body.error === null) return []
  const { code, stepId } = body.error
  return [
    platformEvent("workflow.failed", body.orgUnit, {
      ...shared,
      error: { code, step_id: stepId }
    })
  ]
}
