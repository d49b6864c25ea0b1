/** Rows of the catalogue: workflows, and their executions with human approval. */
import type { BodyOf } from "./body-type.ts"
import { choice, count, hash, id, type KindRow, may, MIB, must, name, part, writer } from "./row.ts"

const executionId = must("execution_id", id("exe_"))
const approvalId = must("approval_id", id("apv_"))
const stepId = name(64)

const changed = [
  must("definition_digest", hash),
  must("four_eyes", { type: "boolean" }),
  must("steps", { type: "integer", min: 1, max: 50 }),
  must("workflow_id", id("wfl_")),
  writer
] as const
const started = [executionId, must("inputs_digest", hash), must("workflow_id", id("wfl_")), writer] as const
const waiting = [
  approvalId,
  executionId,
  must("expires_at_ms", count),
  must("opened_at_ms", count),
  must("step_id", stepId),
  must("subject_digest", hash),
  writer
] as const
const decided = [
  approvalId,
  must("approved", { type: "boolean" }),
  must("decided_at_ms", count),
  executionId,
  must("subject_digest", hash),
  writer
] as const
const finished = [
  may("code", name(64)),
  must("cost_micro_usd", count),
  executionId,
  must("finished_at_ms", count),
  must("outputs_digest", hash),
  must("status", choice("completed", "failed", "cancelled")),
  may("step_id", stepId),
  writer
] as const

/** The body of `workflow.changed`. */
export type WorkflowChangedBody = BodyOf<typeof changed>
/** The body of `execution.started`. */
export type ExecutionStartedBody = BodyOf<typeof started>
/** The body of `execution.waiting`. */
export type ExecutionWaitingBody = BodyOf<typeof waiting>
/** The body of `execution.decided`. */
export type ExecutionDecidedBody = BodyOf<typeof decided>
/** The body of `execution.finished`. */
export type ExecutionFinishedBody = BodyOf<typeof finished>

/** The rows, in the order of the specification's table. */
export const executionKinds: ReadonlyArray<KindRow> = [
  {
    kind: "workflow.changed",
    about:
      "A workflow was created. `definition_digest` is SHA-256 over the part, and `steps` their number. Values of " +
      "request headers are left out of the part: they may be secrets.",
    body: changed,
    parts: [part("definition", MIB, "`{four_eyes, name, org_unit, steps: [{id, type, …}]}`")]
  },
  {
    kind: "execution.started",
    about: "A workflow was started. `inputs_digest` is SHA-256 over the part.",
    body: started,
    parts: [part("inputs", MIB, "a JSON object: the inputs")]
  },
  {
    kind: "execution.waiting",
    about:
      "A step asks a person, until `expires_at_ms`. `subject_digest` is SHA-256 over the part, which is what the " +
      "person answers.",
    body: waiting,
    parts: [part("subject", MIB, "any JSON: what is to be approved")]
  },
  {
    kind: "execution.decided",
    about: "A person, or a platform key that may, answered what waits. `subject_digest` says what was answered.",
    body: decided,
    parts: [part("notes", 32_768, "a JSON string: the notes of the answer")]
  },
  {
    kind: "execution.finished",
    about: "An execution is over. `code` says why it failed, at `step_id`. `outputs_digest` is SHA-256 over the part.",
    body: finished,
    parts: [part("outputs", MIB, "a JSON object: the outputs of steps, by their ids")]
  }
]
