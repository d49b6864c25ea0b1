/** Plans the start of an execution. Pure. Spec: api.md "Document 2". */
import type { ChangeSet } from "@flyball/core/storage"
import { sealedForm } from "@flyball/rules"
import { type ExecutionDocument, putExecution, type WorkflowDocument } from "./document.ts"

/** Plans an execution, queued. */
export const planStart = (
  id: string,
  workflow: { readonly id: string; readonly body: WorkflowDocument },
  of: Pick<ExecutionDocument, "inputs" | "startedBy" | "cap" | "usdInr" | "createdAtMs">
): { readonly change: ChangeSet; readonly body: ExecutionDocument } => {
  const inputs = sealedForm(of.inputs)!
  const { orgUnit, owner, steps } = workflow.body
  const body: ExecutionDocument = {
    ...of,
    workflowId: workflow.id,
    orgUnit,
    owner,
    status: "queued",
    at: 0,
    holdsSlot: false,
    steps: steps.map(({ type }) => ({
      type,
      takes: 0,
      status: "pending",
      output: {},
      startedAtMs: null,
      endedAtMs: null,
      tries: 0,
      reviewId: null
    })),
    waiting: null,
    decision: null,
    costMicroUsd: 0,
    dueMs: null,
    completedAtMs: null,
    error: null
  }
  return {
    body,
    change: {
      puts: [putExecution({ id, version: 0, body })],
      records: [
        {
          kind: "execution.started",
          agentId: null,
          body: {
            execution_id: id,
            inputs_digest: inputs.digest,
            workflow_id: workflow.id,
            writer: of.startedBy
          },
          parts: [{ name: "inputs", bytes: inputs.bytes }]
        }
      ]
    }
  }
}
