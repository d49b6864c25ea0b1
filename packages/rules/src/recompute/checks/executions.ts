/**
 * Judges executions of workflows: approvals come in their order, and are answered once, in time, by a caller that may,
 * for what was shown. An execution ends as its answers say. Spec: document 2 section 3; decision 0076.
 */
import type {
  Crypto,
  ExecutionDecidedBody,
  ExecutionFinishedBody,
  ExecutionStartedBody,
  ExecutionWaitingBody,
  WorkflowChangedBody
} from "@flyball/evidence"
import { toHex } from "@flyball/evidence"
import {
  EXECUTION_WRITER,
  gatesOf,
  type KnownExecution,
  type KnownWorkflow
} from "../../executions/known-executions.ts"
import { partMembers } from "../../records/part-json.ts"
import type { ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { CLOCK_STEP_MS } from "../tolerances.ts"

const wrong = (reason: string): Problem => problem("execution_mismatch", reason)

/** The executions of a chain. It keeps a line for each. */
export class ExecutionJudge {
  readonly #workflows = new Map<string, KnownWorkflow>()
  readonly #executions = new Map<string, KnownExecution>()
  /** The person who minted a platform key, by its id. */
  readonly #minters = new Map<string, string>()
  readonly #sha256: Crypto["sha256"]
  readonly #fromGenesis: boolean

  constructor(sha256: Crypto["sha256"], fromGenesis: boolean) {
    this.#sha256 = sha256
    this.#fromGenesis = fromGenesis
  }

  /** Judges a record that matches the catalogue, and keeps what it says. */
  take(record: ReplayRecord, atMs: number | null): Problem | null {
    switch (record.kind) {
      case "platform_key.minted":
        this.#minters.set(String(record.body["key_id"]), String(record.body["writer"]))
        return null
      case "workflow.changed":
        return this.#workflow(record)
      case "execution.started":
        return this.#started(record)
    }
    const body = record.body as unknown as { readonly execution_id: string }
    const known = this.#executions.get(body.execution_id)
    if (known === undefined) return this.#fromGenesis ? wrong(`No record before it starts ${body.execution_id}.`) : null
    if (known.finishedSeq !== null) return wrong(`${body.execution_id} was finished by record ${known.finishedSeq}.`)
    switch (record.kind) {
      case "execution.waiting":
        return this.#waiting(known, record)
      case "execution.decided":
        return this.#decided(known, record.body as unknown as ExecutionDecidedBody, atMs)
      default:
        return this.#finished(known, record, atMs)
    }
  }

  #workflow({ body, parts }: ReplayRecord): Problem | null {
    const { definition_digest: digest, four_eyes: fourEyes, workflow_id: id } = body as unknown as WorkflowChangedBody
    const part = partMembers(parts.get("definition"))
    const gates = part.state === "known" ? gatesOf(part.members) : null
    this.#workflows.set(id, { fourEyes, gates })
    if (part.state !== "known") return problem("withheld", "The definition of the workflow is not shown.")
    const { four_eyes: shown, steps } = part.members
    if (gates === null || !Array.isArray(steps) || steps.length !== body["steps"] || shown !== fourEyes)
      return wrong("The part holds another definition than the body says.")
    return this.#differs(parts.get("definition"), digest)
  }

  #started({ body, parts }: ReplayRecord): Problem | null {
    const started = body as unknown as ExecutionStartedBody
    this.#executions.set(started.execution_id, {
      started,
      waiting: null,
      approved: new Set(),
      rejected: null,
      finishedSeq: null
    })
    if (this.#fromGenesis && !this.#workflows.has(started.workflow_id))
      return problem("reference_mismatch", `No record before it is the workflow ${started.workflow_id}.`)
    return this.#differs(parts.get("inputs"), started.inputs_digest)
  }

  #waiting(known: KnownExecution, { body, parts }: ReplayRecord): Problem | null {
    const opened = body as unknown as ExecutionWaitingBody
    const before = known.waiting
    known.waiting = opened
    if (before !== null) return wrong(`${before.approval_id} was not answered yet.`)
    if (known.rejected !== null) return wrong(`The step ${known.rejected} was rejected.`)
    const gates = this.#workflows.get(known.started.workflow_id)?.gates ?? null
    if (gates !== null) {
      const next = gates.find(({ id }) => !known.approved.has(id))
      if (next?.id !== opened.step_id) return wrong(`The next step that asks a person is ${next?.id ?? "none"}.`)
      if (opened.expires_at_ms !== opened.opened_at_ms + next.expiresInMs)
        return wrong(`The definition gives ${next.expiresInMs} ms for an answer.`)
    }
    return this.#differs(parts.get("subject"), opened.subject_digest)
  }

  #decided(known: KnownExecution, body: ExecutionDecidedBody, atMs: number | null): Problem | null {
    const { started, waiting } = known
    if (waiting === null) return wrong("Nothing waits for an answer.")
    known.waiting = null
    if (body.approved) known.approved.add(waiting.step_id)
    else known.rejected = waiting.step_id
    if (waiting.approval_id !== body.approval_id) return wrong(`${waiting.approval_id} waits for an answer.`)
    if (waiting.subject_digest !== body.subject_digest) return wrong("It answers another subject than what waits.")
    if (body.decided_at_ms >= waiting.expires_at_ms || (atMs !== null && atMs >= waiting.expires_at_ms + CLOCK_STEP_MS))
      return wrong("The time for an answer was over.")
    const isStarter =
      body.writer === started.writer ||
      this.#minters.get(started.writer) === body.writer ||
      this.#minters.get(body.writer) === started.writer
    return this.#workflows.get(started.workflow_id)?.fourEyes === true && isStarter
      ? problem("self_approved", "Who started the execution answered for it.")
      : null
  }

  #finished(known: KnownExecution, { body, parts, seq }: ReplayRecord, atMs: number | null): Problem | null {
    const finished = body as unknown as ExecutionFinishedBody
    const found = this.#end(known, finished, atMs)
    known.finishedSeq = seq
    known.waiting = null
    return found ?? this.#differs(parts.get("outputs"), finished.outputs_digest)
  }

  /** Finds what an end says beyond the answers before it. */
  #end(
    { approved, rejected, started, waiting }: KnownExecution,
    { code, status, step_id: stepId, writer }: ExecutionFinishedBody,
    atMs: number | null
  ): Problem | null {
    if ((status === "cancelled") === (writer === EXECUTION_WRITER))
      return problem("writer_mismatch", `${writer} does not end an execution as ${status}.`)
    if ((status === "failed") !== (code !== undefined) || (status === "failed") !== (stepId !== undefined))
      return wrong(`The status ${status} contradicts the code ${code ?? "none"} and the step ${stepId ?? "none"}.`)
    if (status === "cancelled") return null
    const decisive = rejected ?? waiting?.step_id ?? null
    const expected = rejected !== null ? "approval_rejected" : waiting !== null ? "approval_expired" : null
    if (expected !== null)
      return code === expected &&
        stepId === decisive &&
        (waiting === null || atMs === null || atMs + CLOCK_STEP_MS >= waiting.expires_at_ms)
        ? null
        : wrong(`The step ${decisive} ${rejected === null ? "waits for an answer" : "was rejected"}.`)
    if (code === "approval_rejected" || code === "approval_expired") return wrong("No step waited or was rejected.")
    const left = this.#workflows.get(started.workflow_id)?.gates?.find(({ id }) => !approved.has(id))
    return status === "completed" && left !== undefined ? wrong(`The step ${left.id} was not approved.`) : null
  }

  #differs(part: ReplayRecord["parts"] extends ReadonlyMap<string, infer P> ? P | undefined : never, digest: string) {
    if (part === undefined || part.state !== "present") return problem("withheld", "The content is not shown.")
    return toHex(this.#sha256(part.bytes)) === digest ? null : wrong("The digest is another than that of the part.")
  }
}
