/** Look-up keys of workflows and executions, and what is scrubbed of them. */
import type { JsonObject, JsonValue } from "../../storage/port.ts"
import { listKeys, sortable } from "../../storage/lists/keys.ts"
import type { Scrub } from "./scrub.ts"

/** Collection of workflows, under their ids. */
export const WORKFLOWS = "workflows"
/** Collection of executions, under their ids. */
export const EXECUTIONS = "executions"

/** The look-up keys of a workflow. */
export const workflowKeys = (id: string, body: JsonObject): { readonly [key: string]: string } =>
  listKeys({ id, owner: String(body["owner"]), createdAtMs: Number(body["createdAtMs"]) })

/** The look-up keys of an execution: lists, the queue of its unit while it is queued, and when it is due. */
export const executionKeys = (id: string, body: JsonObject): { readonly [key: string]: string } => {
  const { createdAtMs, dueMs, owner, status } = body
  return {
    ...listKeys({
      id,
      owner: String(owner),
      createdAtMs: Number(createdAtMs),
      filters: { status: String(status) }
    }),
    ...(status === "queued" ? { queued: `${String(owner)} ${sortable(Number(createdAtMs))}` } : {}),
    ...(typeof dueMs === "number" ? { due: sortable(dueMs) } : {})
  }
}

/** A workflow without its definition: nothing starts it any more in any sense, and its steps send nothing. */
const definition: Scrub = {
  collection: WORKFLOWS,
  idMember: "workflow_id",
  restatedBy: ["workflow.changed"],
  without: ({ body, collection, id, version }) => ({
    put: {
      collection,
      id,
      expectedVersion: version,
      body: { ...body, name: id, steps: [], sealedHeaders: {} },
      keys: workflowKeys(id, body)
    },
    record: null
  })
}

const execution = (
  kind: string,
  without: (body: JsonObject, record: { readonly [member: string]: unknown }) => JsonObject,
  isSetBy: NonNullable<Scrub["isSetBy"]> = () => true
): Scrub => ({
  collection: EXECUTIONS,
  idMember: "execution_id",
  restatedBy: [kind],
  isSetBy,
  without: ({ body, collection, id, version }, _, record) => ({
    put: { collection, id, expectedVersion: version, body: without(body, record), keys: executionKeys(id, body) },
    record: null
  })
})

const steps = (
  body: JsonObject,
  change: (output: JsonObject, type: JsonValue | undefined) => JsonObject
): ReadonlyArray<JsonValue> =>
  (body["steps"] as ReadonlyArray<JsonObject>).map((step) => ({
    ...step,
    output: change(step["output"] as JsonObject, step["type"])
  }))

/** An execution without the notes of one answer, in the step's output and in the last decision. */
const withoutNotes = (body: JsonObject, { approval_id: id }: { readonly [member: string]: unknown }): JsonObject => {
  const decision = body["decision"] as JsonObject | null
  return {
    ...body,
    decision: decision?.["id"] === id ? { ...decision, notes: null } : decision,
    steps: steps(body, (output, type) => {
      if (type !== "approval" || output["approval_id"] !== id) return output
      const { notes: _, ...others } = output
      return others
    })
  }
}

/** The scrubs by kind and part. */
export const executionScrubs: { readonly [part: string]: Scrub } = {
  "workflow.changed/definition": definition,
  "execution.started/inputs": execution("execution.started", (body) => ({ ...body, inputs: {} })),
  "execution.waiting/subject": execution(
    "execution.waiting",
    // Nobody can approve what is not shown any more.
    (body) => ({ ...body, waiting: { ...(body["waiting"] as JsonObject), subject: {}, isErased: true } }),
    ({ body }, { approval_id: id }) => (body["waiting"] as JsonObject | null)?.["id"] === id
  ),
  "execution.decided/notes": execution("execution.decided", withoutNotes),
  "execution.finished/outputs": execution("execution.finished", (body) => ({
    ...body,
    steps: steps(body, (output, type) => (type === "agent" ? {} : output))
  }))
}
