/**
 * Moves executions on: takes what is due or queued, and does steps until one has to wait. Every process does; an
 * execution is taken by its version. Spec: document 2 section 3; decision 0076.
 */
import {
  EXECUTIONS,
  newId,
  type EgressApi,
  type ReviewsApi,
  type SecretBoxApi,
  sortable,
  unitScope
} from "@flyball/core"
import { isCountReached, type ReadFault, type StorageApi, StorageConflict } from "@flyball/core/storage"
import { EXECUTION_WRITER } from "@flyball/rules"
import { Effect } from "effect"
import { callAgent, type StepOutcome } from "./call-agent.ts"
import {
  type ExecutionDocument,
  isFinal,
  runsOf,
  type Stored,
  storedExecution,
  type WorkflowDocument
} from "./document.ts"
import type { Move } from "./move.ts"
import { outputsFit, planRetry, planReview, planStepDone } from "./plan-step.ts"
import { planAsk } from "./plan-ask.ts"
import { planClaim, planQueue, planWait } from "./plan-claim.ts"
import { planEnd } from "./plan-end.ts"

/** Executions that one process moves on at a time. */
const MOST_AT_ONCE = 512
/** Of these, those of one org unit, more than its plan allows at once: agents that hang leave room for others. */
const MOST_OF_ONE = 128
/** Executions that a round reads at a time, and how often: those of who has no room left are passed over. */
const PAGE = 64
const MOST_PAGES = 16
/** How often a review of an agent's step is read. Unit: milliseconds. */
const REVIEW_POLL_MS = 5_000
/** A longer wait gives its slot back. Unit: milliseconds. */
const LONG_DELAY_MS = 10_000
const STARTER_ENDED = "The platform key that started the execution was revoked, or has expired."

/** The parts of the engine. */
export interface EngineParts {
  readonly storage: StorageApi
  readonly reviews: ReviewsApi
  readonly workflowOf: (id: string) => Effect.Effect<WorkflowDocument | null, ReadFault>
  readonly egress: EgressApi | null
  readonly box: SecretBoxApi | null
  /** Lets the next round begin at once. */
  readonly wake: Effect.Effect<unknown>
}

const isConflict = (error: unknown): error is StorageConflict => error instanceof StorageConflict
const isLost = (error: unknown): error is StorageConflict => isConflict(error) && !isCountReached(error)

/** Makes a round: it begins what is due and what is queued, in the background of a scope. */
export const executionEngine = ({ box, egress, reviews, storage, wake, workflowOf }: EngineParts) => {
  const running = new Set<string>()
  const runningOf = new Map<string, number>()
  const changeOf = (owner: string, add: number): void => {
    const now = (runningOf.get(owner) ?? 0) + add
    if (now === 0) runningOf.delete(owner)
    else runningOf.set(owner, now)
  }

  /** Commits a move of the engine; null where somebody else moved the execution meanwhile. */
  const step = (stored: Stored<ExecutionDocument>, move: Move) =>
    storage.commit(move.change).pipe(
      Effect.as({ id: stored.id, version: stored.version + 1, body: move.body }),
      Effect.catchIf(isLost, () => Effect.succeed(null))
    )

  /** Takes an execution with a slot; null where somebody else has it, or where none is free. */
  const claim = (stored: Stored<ExecutionDocument>, { steps }: WorkflowDocument, nowMs: number) =>
    Effect.catchIf(step(stored, planClaim(stored, steps, nowMs)), isCountReached, () =>
      stored.body.status === "queued"
        ? Effect.succeed("full" as const)
        : Effect.as(step(stored, planQueue(stored)), "full" as const)
    )

  const fail = (
    stored: Stored<ExecutionDocument>,
    workflow: WorkflowDocument,
    code: string,
    message: string,
    nowMs: number
  ) =>
    step(
      stored,
      planEnd(stored, workflow, {
        status: "failed",
        failure: {
          code,
          message,
          stepId: stored.body.waiting?.stepId ?? workflow.steps[stored.body.at]?.id ?? "erased"
        },
        nowMs,
        writer: EXECUTION_WRITER
      })
    )

  /** True once the platform key of a starter was revoked or has expired: no agent acts for it then. */
  const hasEnded = Effect.fnUntraced(function* (startedBy: string, nowMs: number) {
    const key = startedBy.startsWith("pky_") ? yield* storage.get("platform_keys", startedBy) : null
    if (key === null) return false
    const { expiresAtMs, revoked } = key.body
    return revoked === true || (typeof expiresAtMs === "number" && expiresAtMs <= nowMs)
  })

  /** Does steps until one has to wait. */
  const advance = Effect.fnUntraced(function* (claimed: Stored<ExecutionDocument>, workflow: WorkflowDocument) {
    const { steps } = workflow
    let stored: Stored<ExecutionDocument> | null = claimed
    while (stored !== null && !isFinal(stored.body)) {
      const { ms: nowMs } = yield* storage.asOf
      const { at } = stored.body
      const [next, state] = [steps[at], stored.body.steps[at]!]
      if (next === undefined) {
        stored = yield* fail(stored, workflow, "definition_erased", "The definition was erased.", nowMs)
        continue
      }
      if (next.type === "approval") {
        const move = planAsk(stored, next, steps, yield* newId("apv"), nowMs)
        return void (yield* move === null
          ? fail(stored, workflow, "subject_too_large", "What is to be approved is too large.", nowMs)
          : step(stored, move))
      }
      if (next.type === "delay") {
        const untilMs = (state.startedAtMs ?? nowMs) + next.ms
        if (untilMs > nowMs)
          return void (yield* step(stored, planWait(stored, untilMs, untilMs - nowMs <= LONG_DELAY_MS)))
        stored = yield* step(stored, planStepDone(stored, workflow, {}, nowMs))
        continue
      }
      if (yield* hasEnded(stored.body.startedBy, nowMs)) {
        stored = yield* fail(stored, workflow, "starter_ended", STARTER_ENDED, nowMs)
        continue
      }
      const outcome: StepOutcome = yield* callAgent({
        executionId: stored.id,
        execution: stored.body,
        workflowId: stored.body.workflowId,
        workflow,
        step: next,
        state,
        writer: { id: stored.body.startedBy },
        scope: unitScope(stored.body.orgUnit),
        egress,
        box
      })
      const { ms: doneMs } = yield* storage.asOf
      switch (outcome.is) {
        case "done":
          if (!outputsFit(stored.body, workflow, outcome.output)) {
            stored = yield* fail(stored, workflow, "outputs_too_large", "The outputs are too large.", doneMs)
            break
          }
          stored = yield* step(stored, planStepDone(stored, workflow, outcome.output, doneMs))
          break
        case "again":
          return void (yield* step(
            stored,
            planRetry(stored, doneMs + outcome.afterMs, outcome.afterMs <= LONG_DELAY_MS)
          ))
        case "review":
          return void (yield* step(stored, planReview(stored, outcome.reviewId, doneMs + REVIEW_POLL_MS)))
        case "waiting":
          return void (yield* step(stored, planReview(stored, state.reviewId!, doneMs + REVIEW_POLL_MS)))
        case "failed":
          stored = yield* fail(stored, workflow, outcome.code, outcome.message, doneMs)
      }
    }
  })

  /** Moves one execution on. */
  const work = Effect.fnUntraced(function* (stored: Stored<ExecutionDocument>) {
    const workflow = yield* workflowOf(stored.body.workflowId)
    if (workflow === null || isFinal(stored.body)) return
    const { ms: nowMs } = yield* storage.asOf
    const { status, waiting } = stored.body
    if (waiting !== null) {
      if (nowMs >= waiting.expiresAtMs)
        yield* fail(stored, workflow, "approval_expired", `Nobody answered the step ${waiting.stepId} in time.`, nowMs)
      return
    }
    const reviewId = status === "waiting_approval" ? (stored.body.steps[stored.body.at]?.reviewId ?? null) : null
    if (reviewId !== null) {
      const review = yield* Effect.catchTag(reviews.get(reviewId), "ReviewNotFound", () => Effect.succeed(null))
      if (review?.status === "open" || review?.status === "claimed") {
        yield* step(stored, planWait(stored, nowMs + REVIEW_POLL_MS, false))
        return
      }
    }
    const claimed = yield* claim(stored, workflow, nowMs)
    if (claimed !== null && claimed !== "full") yield* advance(claimed, workflow)
  })

  /** The same in the background, once at a time in this process. */
  const begin = (stored: Stored<ExecutionDocument>) => {
    const { owner } = stored.body
    if (running.has(stored.id) || running.size >= MOST_AT_ONCE || (runningOf.get(owner) ?? 0) >= MOST_OF_ONE)
      return Effect.void
    running.add(stored.id)
    changeOf(owner, 1)
    return work(stored).pipe(
      Effect.andThen(wake),
      // The next round comes by the clock: what fails at once would fail again at once.
      Effect.catchCause((cause) => Effect.logError("An execution was not moved on.", cause)),
      Effect.ensuring(
        Effect.sync(() => {
          running.delete(stored.id)
          changeOf(owner, -1)
        })
      ),
      Effect.forkScoped
    )
  }

  return Effect.gen(function* () {
    const { ms: nowMs } = yield* storage.asOf
    const before = sortable(nowMs + 1)
    for (let page = 0, after = ""; page < MOST_PAGES && running.size < MOST_AT_ONCE; page++) {
      const due = (yield* storage.range(EXECUTIONS, "due", { after, before, limit: PAGE })).map(storedExecution)
      for (const stored of due) yield* begin(stored)
      if (due.length < PAGE) break
      after = sortable(due.at(-1)!.body.dueMs!)
    }
    // Of each org unit those that wait longest, until one finds no slot.
    for (let after = ""; running.size < MOST_AT_ONCE;) {
      const queued = yield* storage.range(EXECUTIONS, "queued", { after, limit: 1 })
      const owner = queued[0] === undefined ? null : storedExecution(queued[0]).body.owner
      if (owner === null) break
      const own = yield* storage.range(EXECUTIONS, "queued", {
        after: `${owner} `,
        before: `${owner} ~`,
        limit: PAGE
      })
      const [used = 0] = yield* storage.counters([runsOf(owner)])
      let count = used
      for (const stored of own.map(storedExecution))
        if (count < stored.body.cap && !running.has(stored.id)) {
          count += 1
          yield* begin(stored)
        }
      after = `${owner} ~`
    }
  })
}
