/** Plans that an engine takes an execution, or lets it wait. Pure. Spec: document 2 section 3. */
import type { ExecutionDocument, StepDefinition, Stored } from "./document.ts"
import { type Move, moved, begun } from "./move.ts"

/** Takes it for a while: another engine takes it only where this one is lost. */
export const planClaim = (
  stored: Stored<ExecutionDocument>,
  steps: ReadonlyArray<StepDefinition>,
  nowMs: number
): Move =>
  moved(
    stored,
    begun({ ...stored.body, status: "running", holdsSlot: true }, steps, nowMs),
    nowMs + leaseMs(steps[stored.body.at])
  )

/** Puts it behind others: the plan's runs are all in use. */
export const planQueue = (stored: Stored<ExecutionDocument>): Move =>
  moved(stored, { ...stored.body, status: "queued", holdsSlot: false }, null)

/** Lets it wait for a time, without a slot where that is long. */
export const planWait = (stored: Stored<ExecutionDocument>, dueMs: number, holdsSlot: boolean): Move =>
  moved(stored, { ...stored.body, holdsSlot }, dueMs)

/** How long an engine may need for what is next, before others take it for lost. Unit: milliseconds. */
export const leaseMs = (step: StepDefinition | undefined): number =>
  SPARE_MS + (step?.type === "agent" ? 2 * step.timeout_ms : 0)
const SPARE_MS = 10_000
