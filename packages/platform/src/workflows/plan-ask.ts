/** Plans that an execution asks a person. Pure. Spec: document 2 section 3. */
import { PART_LIMIT_BYTES } from "@flyball/contract"
import type { JsonObject } from "@flyball/core/storage"
import { EXECUTION_WRITER, fillTemplate, sealedForm } from "@flyball/rules"
import { type ExecutionDocument, outputsOf, type StepDefinition, type Stored, type Waiting } from "./document.ts"
import { type Move, templateValues, withStep, moved } from "./move.ts"

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
