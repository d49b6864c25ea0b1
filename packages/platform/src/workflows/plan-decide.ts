/** Plans the answer of a person to an execution. Pure. Spec: document 2 section 3. */
import type { JsonObject, RecordDraft } from "@flyball/core/storage"
import { EXECUTION_WRITER, sealedForm } from "@flyball/rules"
import type { Decision, ExecutionDocument, Stored } from "./document.ts"
import { type Defined, type Move, withStep, moved } from "./move.ts"
import { type Ending, ended, completed } from "./plan-end.ts"

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
