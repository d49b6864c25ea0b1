/** Makes the moves of an execution: the state after one, and its commit. Pure. Spec: document 2 section 3. */
import type { ChangeSet } from "@flyball/core/storage"
import {
  type ExecutionDocument,
  putExecution,
  runsOf,
  type StepDefinition,
  type StepState,
  type Stored,
  type WorkflowDocument
} from "./document.ts"

/** An execution after a move, and the commit that makes it. */
export interface Move {
  readonly body: ExecutionDocument
  readonly change: ChangeSet
}

/** The members of a workflow that moves read. */
export type Defined = Pick<WorkflowDocument, "name" | "steps">

/**
 * Makes the commit of a move. What it does to the slot follows from the two documents: a slot is taken only while the
 * counter stays within the cap, else the commit is a conflict `Count`.
 */
export const moved = (
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
export const withStep = (body: ExecutionDocument, at: number, change: Partial<StepState>): ExecutionDocument => ({
  ...body,
  steps: body.steps.map((step, place) => (place === at ? { ...step, ...change } : step))
})

/** The execution with its next step begun. One that asks a person begins when it asks. */
export const begun = (
  body: ExecutionDocument,
  steps: ReadonlyArray<StepDefinition>,
  nowMs: number
): ExecutionDocument => {
  const { at } = body
  return at >= steps.length || steps[at]!.type === "approval"
    ? body
    : withStep(body, at, {
        status: "running",
        startedAtMs: body.steps[at]!.startedAtMs ?? nowMs,
        takes: body.steps[at]!.takes + 1
      })
}

/** The values that templates read. */
export const templateValues = (body: ExecutionDocument, steps: ReadonlyArray<StepDefinition>) => ({
  inputs: body.inputs,
  steps: Object.fromEntries(steps.map(({ id }, at) => [id, { output: body.steps[at]!.output }]))
})
