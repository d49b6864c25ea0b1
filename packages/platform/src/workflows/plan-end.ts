/** Plans the end of an execution: its state, its record and its event. Pure. Spec: document 2 section 3. */
import { platformEvent } from "@flyball/core"
import type { ChangeSet, RecordDraft } from "@flyball/core/storage"
import { EXECUTION_WRITER, sealedForm } from "@flyball/rules"
import { costOf, type ExecutionDocument, type Failure, outputsOf, type Stored } from "./document.ts"
import { type Defined, type Move, moved } from "./move.ts"

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

/** The ending of an execution whose steps are all done. */
export const completed = (nowMs: number): Ending => ({
  status: "completed",
  failure: null,
  nowMs,
  writer: EXECUTION_WRITER
})

/** Ends an execution whose steps have reached a state, with the records that come before its own. */
export const ended = (
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
