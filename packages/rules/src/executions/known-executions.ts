/** The executions of a chain up to a record, as records tell of them. */
import type { ExecutionStartedBody, ExecutionWaitingBody } from "@flyball/evidence"
import type { Json, JsonMap } from "../records/record.ts"

/** The rule that moves executions on. */
export const EXECUTION_WRITER = "policy:workflow"

/** A step that asks a person, as the judge reads it of a definition. */
export interface ApprovalGate {
  readonly id: string
  /** Unit: milliseconds. */
  readonly expiresInMs: number
}

/** A workflow. `gates` is null where the definition is not shown. */
export interface KnownWorkflow {
  readonly fourEyes: boolean
  readonly gates: ReadonlyArray<ApprovalGate> | null
}

/** An execution. */
export interface KnownExecution {
  readonly started: ExecutionStartedBody
  waiting: ExecutionWaitingBody | null
  /** Steps that were approved. */
  readonly approved: Set<string>
  /** The step that was rejected. */
  rejected: string | null
  finishedSeq: number | null
}

/** Reads the approval steps of a definition; null where it is none. */
export const gatesOf = (definition: JsonMap): ReadonlyArray<ApprovalGate> | null => {
  const { steps } = definition
  if (!Array.isArray(steps)) return null
  const gates: Array<ApprovalGate> = []
  for (const step of steps as ReadonlyArray<Json>) {
    if (typeof step !== "object" || step === null || Array.isArray(step)) return null
    const { expires_in_s: seconds, id, type } = step as JsonMap
    if (typeof id !== "string") return null
    if (type !== "approval") continue
    if (typeof seconds !== "number") return null
    gates.push({ id, expiresInMs: seconds * 1_000 })
  }
  return gates
}
