/** Plans what a step becomes: done, tried again, or in review. Pure. Spec: document 2 section 3. */
import type { JsonObject } from "@flyball/core/storage"
import { sealedForm } from "@flyball/rules"
import { type ExecutionDocument, outputsOf, type Stored } from "./document.ts"
import { type Defined, type Move, withStep, moved, begun } from "./move.ts"
import { leaseMs } from "./plan-claim.ts"
import { ended, completed } from "./plan-end.ts"

/** Ends a step. The next one begins in the same commit, and the last one ends the execution. */
export const planStepDone = (
  stored: Stored<ExecutionDocument>,
  workflow: Defined,
  output: JsonObject,
  nowMs: number
): Move => {
  const { steps } = workflow
  const { at } = stored.body
  const step = steps[at]!
  const done = withStep(stored.body, at, { status: "completed", output, endedAtMs: nowMs })
  const cost = step.type === "agent" ? Math.round(step.cost.usd * MICRO) : 0
  const body = { ...done, at: at + 1, costMicroUsd: done.costMicroUsd + cost }
  return at + 1 === steps.length
    ? ended(stored, body, workflow, completed(nowMs), [], {})
    : moved(stored, begun(body, steps, nowMs), nowMs + leaseMs(steps[at + 1]))
}
const MICRO = 1_000_000

/** Sends the request of a step once more, later; without a slot where that is long. */
export const planRetry = (stored: Stored<ExecutionDocument>, dueMs: number, holdsSlot: boolean): Move => {
  const { at, steps } = stored.body
  return moved(stored, { ...withStep(stored.body, at, { tries: steps[at]!.tries + 1 }), holdsSlot }, dueMs)
}

/** Waits for the review that an agent's envelope asks for. */
export const planReview = (stored: Stored<ExecutionDocument>, reviewId: string, dueMs: number): Move => {
  const waits = withStep(stored.body, stored.body.at, { status: "waiting_approval", reviewId })
  return moved(stored, { ...waits, status: "waiting_approval", holdsSlot: false }, dueMs)
}

/** Bytes of outputs that a record can hold, with room for their names. */
const MAX_OUTPUTS = 900 * 1_024

/** True when the outputs with this one more still fit into a record. */
export const outputsFit = (body: ExecutionDocument, { steps }: Defined, output: JsonObject): boolean => {
  const after = withStep(body, body.at, { status: "completed", output })
  const sealed = sealedForm(outputsOf(steps, after))
  return sealed !== null && sealed.bytes.length <= MAX_OUTPUTS
}
