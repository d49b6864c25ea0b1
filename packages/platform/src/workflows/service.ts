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
  unitScope,
  WORKFLOWS,
  type Writer
} from "@flyball/core"
import { type Document, isCountReached, type JsonObject, type ReadFault, Storage } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import { Context, Effect, Layer, Option, Queue, type Scope } from "effect"
import { requestProblem, sealHeaders } from "./call-agent.ts"
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
import { executionEngine } from "./engine.ts"
import type { Move } from "./move.ts"
import { planDecide } from "./plan-decide.ts"
import { planEnd } from "./plan-end.ts"
import { planStart } from "./plan-start.ts"
import { planCreateWorkflow, readSteps } from "./plan-create.ts"

/** The caller who answers a step that asks a person. */
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

/** How often the store is queried for what is due: another process may have made it so. Unit: milliseconds. */
const POLL_MS = 500

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
              const { body, change } = yield* Effect.fromResult(
                planCreateWorkflow(id, { ...of, createdAtMs }, writer.id)
              )
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

        /** True when the approver started the execution, or one is the other's own key. */
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
              return yield* Effect.catchIf(committed(plan(true)), isCountReached, () => committed(plan(false)))
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

        const engine = executionEngine({ storage, reviews, workflowOf, egress, box, wake })

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
          round: beside(engine.pipe(Effect.provideContext(context))),
          pause: Effect.raceFirst(Queue.take(woken), Effect.sleep(POLL_MS))
        })
      })
    )
}

/**
 * Succeeds with true when this answer was given before, and with false when it can be given now; else says why not.
 * Spec: document 2 section 3.
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
/** True when a role is another one, or stronger. */
const outranks = (role: Role, needed: string): boolean =>
  strongestFirst.includes(role) && strongestFirst.indexOf(role) <= strongestFirst.indexOf(needed)
