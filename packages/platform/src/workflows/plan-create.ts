/** Plans the creation of a workflow. Pure. Spec: api.md "Document 2". */
import { detailItem, InvalidInput, PART_LIMIT_BYTES, type WorkflowCreate, workflowBounds } from "@flyball/contract"
import { unitOwner } from "@flyball/core"
import type { ChangeSet, JsonObject } from "@flyball/core/storage"
import { sealedForm, unknownPlaceholder } from "@flyball/rules"
import { Result } from "effect"
import { putWorkflow, type StepDefinition, type WorkflowDocument } from "./document.ts"

type StepInput = WorkflowCreate["steps"][number]

/** The members of a step that belong to its type. */
const ofType: { readonly [T in StepInput["type"]]: ReadonlyArray<keyof StepInput> } = {
  agent: ["agent", "action", "signals", "request", "timeout_ms", "retries", "cost"],
  approval: ["title", "approvers", "expires_in_s", "subject"],
  delay: ["ms"]
}
const needed: { readonly [T in StepInput["type"]]: ReadonlyArray<keyof StepInput> } = {
  agent: ["agent", "request"],
  approval: ["title"],
  delay: ["ms"]
}

/**
 * Reads the steps of a new workflow.
 *
 * - Refuses (`InvalidInput`): an id twice, a member of another type of step, one that is missing, a placeholder that
 *   nothing before the step fills.
 */
export const readSteps = (
  steps: WorkflowCreate["steps"]
): Result.Result<ReadonlyArray<StepDefinition>, InvalidInput> => {
  const earlier: Array<string> = []
  const read: Array<StepDefinition> = []
  for (const [at, step] of steps.entries()) {
    const problem = stepProblem(step, at, earlier)
    if (problem !== null) return Result.fail(new InvalidInput({ detail: [problem] }))
    read.push(definitionOf(step))
    earlier.push(step.id)
  }
  return Result.succeed(read)
}

const stepProblem = (step: StepInput, at: number, earlier: ReadonlyArray<string>) => {
  const item = (member: string, msg: string, input?: unknown) =>
    detailItem(["body", "steps", String(at), member], "value_error", msg, input)
  if (earlier.includes(step.id)) return item("id", "Each step may have its own id only", step.id)
  const missing = needed[step.type].find((member) => (step[member] ?? null) === null)
  if (missing !== undefined) return item(missing, `A step of the type ${step.type} needs it`)
  const allowed = ofType[step.type]
  const foreign = Object.entries(step).find(
    ([member, value]) => value !== null && member !== "id" && member !== "type" && !allowed.includes(member as never)
  )
  if (foreign !== undefined) return item(foreign[0], `A step of the type ${step.type} has no such member`)
  for (const [member, template] of Object.entries({
    request: step.request?.body,
    signals: step.signals,
    subject: step.subject
  })) {
    const unknown = unknownPlaceholder((template ?? null) as never, earlier)
    if (unknown !== null) return item(member, `Neither the inputs nor an earlier step's output are {{${unknown}}}`)
  }
  return null
}

const definitionOf = (step: StepInput): StepDefinition => {
  const { id } = step
  switch (step.type) {
    case "delay":
      return { id, type: "delay", ms: step.ms! }
    case "approval":
      return {
        id,
        type: "approval",
        title: step.title!,
        role: step.approvers?.role ?? null,
        expires_in_s: step.expires_in_s ?? workflowBounds.defaultExpiresInS,
        subject: (step.subject ?? null) as JsonObject | null
      }
    case "agent": {
      const { body = null, headers, method, url } = step.request!
      return {
        id,
        type: "agent",
        agent: step.agent!,
        action: step.action ?? id,
        signals: (step.signals ?? {}) as JsonObject,
        request: { url, method, header_names: Object.keys(headers ?? {}), body: body as JsonObject | null },
        timeout_ms: step.timeout_ms ?? workflowBounds.defaultTimeoutMs,
        retries: step.retries ?? workflowBounds.defaultRetries,
        cost: { usd: step.cost?.usd ?? 0 }
      }
    }
  }
}

/**
 * Plans a workflow: its document and its record.
 *
 * - Refuses (`InvalidInput`): a definition that no record can hold.
 */
export const planCreateWorkflow = (
  id: string,
  of: Pick<WorkflowDocument, "name" | "orgUnit" | "fourEyes" | "steps" | "sealedHeaders" | "createdAtMs">,
  writer: string
): Result.Result<{ readonly change: ChangeSet; readonly body: WorkflowDocument }, InvalidInput> => {
  const { fourEyes, name, orgUnit, steps } = of
  const definition = sealedForm({ four_eyes: fourEyes, name, org_unit: orgUnit, steps })!
  if (definition.bytes.length > PART_LIMIT_BYTES) {
    const msg = `The steps should have at most ${PART_LIMIT_BYTES} bytes of JSON`
    return Result.fail(new InvalidInput({ detail: [detailItem(["body", "steps"], "too_long", msg)] }))
  }
  const body: WorkflowDocument = { ...of, owner: unitOwner(orgUnit), digest: definition.digest }
  return Result.succeed({
    body,
    change: {
      puts: [putWorkflow(id, body)],
      records: [
        {
          kind: "workflow.changed",
          agentId: null,
          body: {
            definition_digest: definition.digest,
            four_eyes: fourEyes,
            steps: steps.length,
            workflow_id: id,
            writer
          },
          parts: [{ name: "definition", bytes: definition.bytes }]
        }
      ]
    }
  })
}
