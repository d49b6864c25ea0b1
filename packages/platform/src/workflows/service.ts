/**
 * Workflows: agents are called step by step, and people approve in between. Spec: document 2 sections 2 to 4; api.md
 * "Document 2"; decision 0076.
 */
import {
  type AgentNotFound,
  ApprovalAlreadyDecided,
  ApprovalNotEligible,
  ApprovalStale,
  EgressUnavailable,
  type Execution,
  type ExecutionApprove,
  ExecutionFinal,
  ExecutionNotFound,
  ExecutionNotWaiting,
  type InvalidInput,
  type Role,
  type Workflow,
  type WorkflowCreate,
  WorkflowNotFound
} from "@flyball/contract"
import {
  Agents,
  beside,
  type Capture,
  commitAnswered,
  commitWithRetry,
  Egress,
  type Evaluations,
  EXECUTIONS,
  type Kill,
  newId,
  Reviews,
  SecretBox,
  sortable,
  unitScope,
  WORKFLOWS,
  type Writer
} from "@flyball/core"
import { type Document, type JsonObject, type ReadFault, Storage, StorageConflict } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import { EXECUTION_WRITER } from "@flyball/rules"
import { Context, Effect, Layer, Option, Queue, type Scope } from "effect"
import { callAgent, requestProblem, sealHeaders, type StepOutcome } from "./call-agent.ts"
import {
  type ExecutionDocument,
  executionOut,
  isFinal,
  type Stored,
  storedExecution,
  storedWorkflow,
  type WorkflowDocument,
  workflowOut
} from "./document.ts"
import {
  type Move,
  outputsFit,
  planAsk,
  planClaim,
  planDecide,
  planEnd,
  planQueue,
  planRetry,
  planReview,
  planStepDone,
  planWait
} from "./plan-move.ts"
import { planStart, planWorkflow, readSteps } from "./plan-start.ts"

/** Who answers a step that asks a person. */
export interface Approver {
  readonly writer: Writer
  /** Roles of a person in the org unit; `any`: the host answers for its caller; null for a platform key. */
  readonly roles: ReadonlyArray<Role> | "any" | null
}

/** Answer of {@link WorkflowsApi.decide}. */
export type DecidedExecution = Execution & {
  readonly approval: {
    readonly id: string
    readonly approved: boolean
    readonly decided_by: string
    readonly decided_at: string
    readonly notes: string | null
  }
}

/** Operations on workflows and executions of one org unit. Spec: document 2 section 4. */
export interface WorkflowsApi {
  readonly create: (
    unit: string,
    input: WorkflowCreate,
    writer: Writer
  ) => Effect.Effect<Workflow, AgentNotFound | EgressUnavailable | InvalidInput | ReadFault>
  /** Queues an execution. `cap`: runs at once that the plan of the caller allows. */
  readonly start: (
    unit: string,
    workflowId: string,
    inputs: JsonObject,
    by: { readonly writer: Writer; readonly cap: number }
  ) => Effect.Effect<Execution, WorkflowNotFound | ReadFault>
  readonly get: (unit: string, id: string) => Effect.Effect<Execution, ExecutionNotFound | ReadFault>
  /** Executions as they are listed. */
  readonly shown: (documents: ReadonlyArray<Document>) => Effect.Effect<ReadonlyArray<Execution>, ReadFault>
  /** Answers what waits. The same answer of the same caller again is the first one. */
  readonly decide: (
    unit: string,
    id: string,
    input: ExecutionApprove,
    approver: Approver
  ) => Effect.Effect<
    DecidedExecution,
    ApprovalAlreadyDecided | ApprovalNotEligible | ApprovalStale | ExecutionNotFound | ExecutionNotWaiting | ReadFault
  >
  readonly cancel: (
    unit: string,
    id: string,
    writer: Writer
  ) => Effect.Effect<Execution, ExecutionFinal | ExecutionNotFound | ReadFault>
  /** Moves on what is due and what is queued, in the background of a scope. For the engine. */
  readonly round: Effect.Effect<void, ReadFault, Scope.Scope>
  /** Waits until there may be something for a round. */
  readonly pause: Effect.Effect<void>
}

/** Options of executions. */
export interface WorkflowOptions {
  /** Rupees for a dollar, stored with each execution; left out: costs in rupees are null. */
  readonly usdInr?: number
}

/** Executions that one process moves on at a time. */
const MOST_AT_ONCE = 64
/** How often the store is queried for what is due: another process may have made it so. Unit: milliseconds. */
const POLL_MS = 500
const STARTER_ENDED = "The platform key that started the execution was revoked, or has expired."
/** How often a review of an agent's step is read. Unit: milliseconds. */
const REVIEW_POLL_MS = 5_000
/** A longer delay gives its slot back. Unit: milliseconds. */
const LONG_DELAY_MS = 10_000

/** Service of workflows. Spec: document 2 sections 2 to 4; decision 0076. */
export class Workflows extends Context.Service<Workflows, WorkflowsApi>()("flyball/platform/Workflows") {
  static readonly layer = ({ usdInr }: WorkflowOptions = {}): Layer.Layer<
    Workflows,
    never,
    Storage | Agents | Capture | Evaluations | Kill | Reviews
  > =>
    Layer.effect(
      Workflows,
      Effect.gen(function* () {
        const storage = yield* Storage
        const agents = yield* Agents
        const context = yield* Effect.context<Capture | Evaluations | Kill | Reviews>()
        const reviews = yield* Reviews
        const egress = Option.getOrNull(yield* Effect.serviceOption(Egress))
        const box = Option.getOrNull(yield* Effect.serviceOption(SecretBox))
        const woken = yield* Queue.sliding<void>(1)
        const wake = Queue.offer(woken, undefined)
        const running = new Set<string>()

        // Not kept in memory: a definition can be erased.
        const workflowOf = (id: string) =>
          Effect.map(storage.get(WORKFLOWS, id), (document) =>
            document === null ? null : storedWorkflow(document).body
          )

        const read = Effect.fnUntraced(function* (unit: string, id: string) {
          const document = yield* storage.get(EXECUTIONS, id)
          const stored = document === null ? null : storedExecution(document)
          if (stored === null || stored.body.orgUnit !== unit) return yield* new ExecutionNotFound({ executionId: id })
          return { stored, workflow: (yield* workflowOf(stored.body.workflowId))! }
        })

        const outOf = (stored: Stored<ExecutionDocument>, move: Move, workflow: WorkflowDocument): Execution =>
          executionOut({ ...stored, body: move.body }, workflow)

        const create: WorkflowsApi["create"] = Effect.fnUntraced(function* (unit, input, writer) {
          const steps = yield* Effect.fromResult(readSteps(input.steps))
          const id = yield* newId("wfl")
          const sealedHeaders: { [stepId: string]: string } = {}
          for (const [at, step] of steps.entries()) {
            if (step.type !== "agent") continue
            const headers = input.steps[at]!.request?.headers ?? {}
            if (egress === null) return yield* new EgressUnavailable()
            const problem = requestProblem(step, headers, egress, at)
            if (problem !== null) return yield* problem
            yield* agents.get(step.agent, unitScope(unit))
            if (Object.keys(headers).length === 0) continue
            if (box === null) return yield* new EgressUnavailable()
            sealedHeaders[step.id] = yield* sealHeaders(box, id, step.id, headers)
          }
          return yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const { ms: createdAtMs } = yield* storage.asOf
              const of = { name: input.name, orgUnit: unit, fourEyes: input.four_eyes ?? true, steps, sealedHeaders }
              const { body, change } = yield* Effect.fromResult(planWorkflow(id, { ...of, createdAtMs }, writer.id))
              const shown = workflowOut({ id, version: 1, body })
              return yield* commitAnswered(storage.commit(change), shown)
            })
          )
        })

        const start: WorkflowsApi["start"] = Effect.fnUntraced(function* (unit, workflowId, inputs, { cap, writer }) {
          const workflow = yield* workflowOf(workflowId)
          // One whose definition was erased has no steps.
          if (workflow === null || workflow.orgUnit !== unit || workflow.steps.length === 0)
            return yield* new WorkflowNotFound({ workflowId })
          const id = yield* newId("exe")
          const execution = yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const { ms: createdAtMs } = yield* storage.asOf
              const of = { inputs, startedBy: writer.id, cap, usdInr: usdInr ?? null, createdAtMs }
              const { body, change } = planStart(id, { id: workflowId, body: workflow }, of)
              const shown = executionOut({ id, version: 1, body }, workflow)
              return yield* commitAnswered(storage.commit(change), shown)
            })
          )
          yield* wake
          return execution
        })

        /** The person who minted a platform key; the caller itself where it is none. */
        const behind = (id: string) =>
          id.startsWith("pky_")
            ? Effect.map(storage.get("platform_keys", id), (key) => String(key?.body["createdBy"] ?? id))
            : Effect.succeed(id)

        /** Whether the approver is who started the execution, or one is the other's own key. */
        const isStarter = Effect.fnUntraced(function* (
          { startedBy }: ExecutionDocument,
          { writer }: Approver
        ): Effect.fn.Return<boolean, ReadFault> {
          return (
            writer.id === startedBy ||
            (yield* behind(startedBy)) === writer.id ||
            (yield* behind(writer.id)) === startedBy
          )
        })

        const decide: WorkflowsApi["decide"] = Effect.fnUntraced(function* (unit, id, input, approver) {
          const decided = yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const { stored, workflow } = yield* read(unit, id)
              const { ms: nowMs } = yield* storage.asOf
              const repeated = yield* answered(
                stored.body,
                input,
                approver,
                nowMs,
                workflow.fourEyes ? yield* isStarter(stored.body, approver) : false
              )
              const answerOf = (move: Move): DecidedExecution => {
                const { approved, atMs, by, id: approvalId, notes } = move.body.decision!
                return {
                  ...outOf(stored, move, workflow),
                  approval: { id: approvalId, approved, decided_by: by, decided_at: formatInstant(atMs), notes }
                }
              }
              if (repeated) return answerOf({ body: stored.body, change: {} })
              const plan = (hasSlot: boolean): Move =>
                planDecide(
                  stored,
                  workflow,
                  { approved: input.approved, notes: input.notes ?? null, by: approver.writer.id },
                  nowMs,
                  hasSlot
                )
              const committed = (move: Move) => commitAnswered(storage.commit(move.change), answerOf(move))
              return yield* Effect.catchIf(committed(plan(true)), isFull, () => committed(plan(false)))
            }),
            { collection: EXECUTIONS, id }
          )
          yield* wake
          return decided
        })

        const cancel: WorkflowsApi["cancel"] = Effect.fnUntraced(function* (unit, id, writer) {
          const cancelled = yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const { stored, workflow } = yield* read(unit, id)
              if (isFinal(stored.body)) return yield* new ExecutionFinal({ currentStatus: stored.body.status })
              const { ms: nowMs } = yield* storage.asOf
              const move = planEnd(stored, workflow, {
                status: "cancelled",
                failure: null,
                nowMs,
                writer: writer.id
              })
              return yield* commitAnswered(storage.commit(move.change), outOf(stored, move, workflow))
            }),
            { collection: EXECUTIONS, id }
          )
          yield* wake
          return cancelled
        })

        /** Commits a move of the engine; null where somebody else moved the execution meanwhile. */
        const step = (stored: Stored<ExecutionDocument>, move: Move) =>
          storage.commit(move.change).pipe(
            Effect.as({ id: stored.id, version: stored.version + 1, body: move.body }),
            Effect.catchIf(isLost, () => Effect.succeed(null))
          )

        /** Takes an execution with a slot; null where somebody else has it, or where none is free. */
        const claim = (stored: Stored<ExecutionDocument>, { steps }: WorkflowDocument, nowMs: number) =>
          Effect.catchIf(step(stored, planClaim(stored, steps, nowMs)), isFull, () =>
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

        /** Whether the platform key of a starter was revoked, or has expired: no agent acts for it then. */
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
            }).pipe(Effect.provideContext(context))
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

        /** Moves one execution on. True where it could not, because its plan's runs are all in use. */
        const work = Effect.fnUntraced(function* (stored: Stored<ExecutionDocument>) {
          const workflow = yield* workflowOf(stored.body.workflowId)
          if (workflow === null || isFinal(stored.body)) return false
          const { ms: nowMs } = yield* storage.asOf
          const { status, waiting } = stored.body
          if (waiting !== null) {
            if (nowMs >= waiting.expiresAtMs)
              yield* fail(
                stored,
                workflow,
                "approval_expired",
                `Nobody answered the step ${waiting.stepId} in time.`,
                nowMs
              )
            return false
          }
          const reviewId = status === "waiting_approval" ? (stored.body.steps[stored.body.at]?.reviewId ?? null) : null
          if (reviewId !== null) {
            const review = yield* Effect.catchTag(reviews.get(reviewId), "ReviewNotFound", () => Effect.succeed(null))
            if (review?.status === "open" || review?.status === "claimed") {
              yield* step(stored, planWait(stored, nowMs + REVIEW_POLL_MS, false))
              return false
            }
          }
          const claimed = yield* claim(stored, workflow, nowMs)
          if (claimed === "full") return true
          if (claimed !== null) yield* advance(claimed, workflow)
          return false
        })

        /** The same in the background, once at a time in this process. */
        const begin = (stored: Stored<ExecutionDocument>) => {
          if (running.has(stored.id)) return Effect.void
          running.add(stored.id)
          return work(stored).pipe(
            Effect.andThen(wake),
            // The next round comes by the clock: what fails at once would fail again at once.
            Effect.catchCause((cause) => Effect.logError("An execution was not moved on.", cause)),
            Effect.ensuring(Effect.sync(() => running.delete(stored.id))),
            Effect.forkScoped
          )
        }

        const round = Effect.gen(function* () {
          const { ms: nowMs } = yield* storage.asOf
          const due = yield* storage.range(EXECUTIONS, "due", { before: sortable(nowMs + 1), limit: MOST_AT_ONCE })
          for (const document of due) if (running.size < MOST_AT_ONCE) yield* begin(storedExecution(document))
          // Of each org unit those that wait longest, until one finds no slot.
          for (let after = ""; running.size < MOST_AT_ONCE;) {
            const queued = yield* storage.range(EXECUTIONS, "queued", { after, limit: 1 })
            const owner = queued[0] === undefined ? null : storedExecution(queued[0]).body.owner
            if (owner === null) break
            const own = yield* storage.range(EXECUTIONS, "queued", {
              after: `${owner} `,
              before: `${owner} ~`,
              limit: MOST_AT_ONCE
            })
            const [used = 0] = yield* storage.counters([`${owner}:runs`])
            let count = used
            for (const stored of own.map(storedExecution))
              if (count < stored.body.cap && running.size < MOST_AT_ONCE && !running.has(stored.id)) {
                count += 1
                yield* begin(stored)
              }
            after = `${owner} ~`
          }
        })

        return Workflows.of({
          create,
          start,
          get: (unit, id) => Effect.map(read(unit, id), ({ stored, workflow }) => executionOut(stored, workflow)),
          shown: (documents) =>
            Effect.forEach(documents, (document) => {
              const stored = storedExecution(document)
              return Effect.map(workflowOf(stored.body.workflowId), (workflow) => executionOut(stored, workflow!))
            }),
          decide,
          cancel,
          round: beside(round),
          pause: Effect.raceFirst(Queue.take(woken), Effect.sleep(POLL_MS))
        })
      })
    )
}

const isConflict = (error: unknown): error is StorageConflict => error instanceof StorageConflict
/** The plan's runs are all in use. */
const isFull = (error: unknown): error is StorageConflict =>
  isConflict(error) && error.conflicts.some((one) => one._tag === "Count")
const isLost = (error: unknown): error is StorageConflict => isConflict(error) && !isFull(error)

/**
 * Whether this answer was given before. Else it can be given now, or why not. Spec: document 2 section 3.
 */
const answered = (
  { decision, status, waiting }: ExecutionDocument,
  { approval_id: approvalId, approved, subject_digest: digest }: ExecutionApprove,
  { roles, writer }: Approver,
  nowMs: number,
  isStarter: boolean
): Effect.Effect<boolean, ApprovalAlreadyDecided | ApprovalNotEligible | ApprovalStale | ExecutionNotWaiting> => {
  const isOfLast = decision !== null && (approvalId ?? decision.id) === decision.id
  if (waiting === null || (isOfLast && approvalId === decision.id)) {
    if (!isOfLast) return Effect.fail(new ExecutionNotWaiting({ currentStatus: status }))
    return decision.by === writer.id && decision.approved === approved
      ? Effect.succeed(true)
      : Effect.fail(new ApprovalAlreadyDecided({ approved: decision.approved }))
  }
  if ((approvalId ?? waiting.id) !== waiting.id) return Effect.fail(new ApprovalStale())
  // It may be the answer to the step before, again: what waits now was not shown to this caller yet.
  if (decision?.by === writer.id && approvalId === undefined && digest === undefined)
    return Effect.fail(new ApprovalStale())
  if (waiting.isErased && approved) return Effect.fail(new ApprovalStale())
  if (digest !== undefined && digest !== null && digest.replace("sha256:", "") !== waiting.subjectDigest)
    return Effect.fail(new ApprovalStale())
  if (nowMs >= waiting.expiresAtMs) return Effect.fail(new ExecutionNotWaiting({ currentStatus: status }))
  if (isStarter) return Effect.fail(new ApprovalNotEligible({ why: "starter" }))
  if (waiting.role === null || roles === "any") return Effect.succeed(false)
  if (roles === null) return Effect.fail(new ApprovalNotEligible({ why: "key" }))
  return roles.some((role) => outranks(role, waiting.role!))
    ? Effect.succeed(false)
    : Effect.fail(new ApprovalNotEligible({ why: "role" }))
}

const strongestFirst: ReadonlyArray<string> = ["admin", "governor", "operator", "reviewer"]
/** Whether a role is another one, or stronger. */
const outranks = (role: Role, needed: string): boolean =>
  strongestFirst.includes(role) && strongestFirst.indexOf(role) <= strongestFirst.indexOf(needed)
