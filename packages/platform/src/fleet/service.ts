/**
 * Plans of routes. A request is answered once its problem is read; a thread searches behind the answer, one problem
 * at a time. Spec: document 2 sections 2, 4 and 8.
 */
import {
  type AgentNotFound,
  detailItem,
  type DispatchDenied,
  type DispatchInReview,
  InvalidInput,
  RateLimitExceeded,
  routeBounds,
  type RouteDispatch,
  RoutePlanNotFound,
  type RoutePlanOut,
  RoutePlanState,
  type RoutesOptimize
} from "@flyball/contract"
import {
  type Capture,
  commitAnswered,
  commitWithRetry,
  type Evaluations,
  EvidenceCrypto,
  Examiner,
  inSlices,
  newId,
  type Reviews,
  ROUTE_PLANS,
  sortable,
  unitOwner,
  type Writer
} from "@flyball/core"
import { type ReadFault, Storage } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { planBytes, problemBytes, ROUTES_WRITER } from "@flyball/rules"
import { Context, Deferred, Effect, Layer, Queue } from "effect"
import { dispatchPlan } from "./dispatch.ts"
import { isOver, namesOf, planOut, putPlan, type RoutePlanDocument, storedPlan, type StoredPlan } from "./document.ts"
import { planEnd, planFailed } from "./plan-end.ts"
import { poseProblem, Unfit } from "./problem.ts"

/** Operations on plans of routes of one org unit. Spec: document 2 section 4. */
export interface RoutePlansApi {
  /** Answers the plan as it is queued, or as it is after `waitMs`. */
  readonly optimize: (
    unit: string,
    input: RoutesOptimize,
    writer: Writer,
    waitMs: number
  ) => Effect.Effect<RoutePlanOut, InvalidInput | RateLimitExceeded | ReadFault>
  readonly get: (unit: string, id: string) => Effect.Effect<RoutePlanOut, RoutePlanNotFound | ReadFault>
  /** Ends the search; the best routes so far are the plan's. */
  readonly cancel: (
    unit: string,
    id: string,
    writer: Writer
  ) => Effect.Effect<RoutePlanOut, RoutePlanNotFound | RoutePlanState | ReadFault>
  /** `agent`: who dispatches. */
  readonly dispatch: (
    unit: string,
    id: string,
    agent: Effect.Effect<string, InvalidInput>,
    writer: Writer
  ) => Effect.Effect<
    RouteDispatch,
    AgentNotFound | DispatchDenied | DispatchInReview | InvalidInput | RoutePlanNotFound | RoutePlanState | ReadFault
  >
  /** Waits for the next problem, and plans its routes. For the job. */
  readonly work: Effect.Effect<void, ReadFault>
  /** Ends plans whose process ended. For the job. */
  readonly endOverdue: Effect.Effect<void, ReadFault>
}

/** Problems that wait in memory, some MiB each. */
const MAX_WAITING = 8
/** How long a plan may wait and be searched before it counts as interrupted. Unit: milliseconds. */
const PATIENCE_MS = 900_000
/** How long a cancelled search may take to answer. Unit: milliseconds. */
const STOPPING_MS = 10_000
/** Plans that one round ends. */
const PAGE = 100

interface Task {
  readonly id: string
  readonly bytes: Uint8Array
  readonly seed: string
  readonly maxMs: number
  readonly stop: Int32Array
  readonly done: Deferred.Deferred<void>
}

/** Service of plans of routes. Spec: document 2 section 4. */
export class RoutePlans extends Context.Service<RoutePlans, RoutePlansApi>()("flyball/platform/RoutePlans") {
  static readonly layer: Layer.Layer<RoutePlans, never, Storage | Capture | Evaluations | Reviews> = Layer.effect(
    RoutePlans,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { sha256 } = yield* EvidenceCrypto
      const examiner = yield* Examiner
      const acting = yield* Effect.context<Capture | Evaluations | Reviews | Storage>()
      const tasks = yield* Queue.unbounded<Task>()
      /** Tasks that wait or are searched in this process. */
      const held = new Map<string, Task>()

      const read = Effect.fnUntraced(function* (
        unit: string,
        id: string
      ): Effect.fn.Return<StoredPlan, RoutePlanNotFound | ReadFault> {
        const document = yield* storage.get(ROUTE_PLANS, id)
        const stored = document === null ? null : storedPlan(document)
        return stored === null || stored.body.orgUnit !== unit ? yield* new RoutePlanNotFound({ planId: id }) : stored
      })

      const posed = (input: RoutesOptimize, nowMs: number) =>
        inSlices(poseProblem(input, nowMs)).pipe(
          Effect.catchDefect((defect) =>
            defect instanceof Unfit
              ? Effect.fail(
                  new InvalidInput({
                    detail: [detailItem(["body", ...defect.path], "value_error", defect.message, defect.input)]
                  })
                )
              : Effect.die(defect)
          )
        )

      /** Moves a plan on that is not over, unless somebody ended it before. */
      const moved = (id: string, plan: (stored: StoredPlan, nowMs: number) => { readonly change: object }) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const document = yield* storage.get(ROUTE_PLANS, id)
            const stored = document === null ? null : storedPlan(document)
            if (stored === null || isOver(stored.body)) return false
            const { ms: nowMs } = yield* storage.asOf
            yield* storage.commit(plan(stored, nowMs).change)
            return true
          }),
          { collection: ROUTE_PLANS, id }
        )

      const optimize: RoutePlansApi["optimize"] = Effect.fnUntraced(function* (unit, input, writer, waitMs) {
        const { ms: createdAtMs } = yield* storage.asOf
        const { baseMs, problem } = yield* posed(input, createdAtMs)
        const bytes = yield* inSlices(problemBytes(problem))
        const id = yield* newId("pln")
        const digest = toHex(sha256(bytes))
        const task: Task = {
          id,
          bytes,
          seed: input.seed ?? digest.slice(0, 16),
          maxMs: 1_000 * (input.max_seconds ?? routeBounds.maxSeconds.default),
          stop: new Int32Array(new SharedArrayBuffer(4)),
          done: yield* Deferred.make<void>()
        }
        const body: RoutePlanDocument = {
          orgUnit: unit,
          owner: unitOwner(unit),
          writer: writer.id,
          status: "queued",
          digest,
          source: problem.distances.source,
          baseMs,
          vehicles: problem.vehicles.length,
          jobs: problem.jobs.length,
          names: namesOf(problem),
          plan: null,
          planDigest: null,
          trace: null,
          failure: null,
          createdAtMs,
          completedAtMs: null,
          dueMs: createdAtMs + PATIENCE_MS,
          refused: 0,
          review: null,
          dispatch: null
        }
        if (held.size >= MAX_WAITING) return yield* new RateLimitExceeded({ reason: "plans-waiting", retryAfterS: 5 })
        held.set(id, task)
        const queued = { id, version: 0, body }
        const change = { puts: [putPlan(queued)] }
        const answer = yield* commitWithRetry(storage, commitAnswered(storage.commit(change), planOut(queued))).pipe(
          Effect.onError(() => Effect.sync(() => held.delete(id)))
        )
        yield* Queue.offer(tasks, task)
        if (waitMs === 0) return answer
        yield* Effect.timeoutOption(Deferred.await(task.done), waitMs)
        return planOut(yield* Effect.catchTag(read(unit, id), "RoutePlanNotFound", Effect.die))
      })

      const search = Effect.fnUntraced(function* ({ bytes, id, maxMs, seed, stop }: Task) {
        const isHeld = yield* moved(id, (stored) => ({
          change: { puts: [putPlan({ ...stored, body: { ...stored.body, status: "processing" } })] }
        }))
        if (!isHeld) return
        const found = yield* examiner.ask("routes", { bytes, seed, maxMs, stop })
        const planDigest = toHex(sha256(planBytes(found.plan)))
        yield* moved(id, (stored, nowMs) =>
          planEnd(stored, found, { bytes, planDigest, isStopped: Atomics.load(stop, 0) === 1, nowMs })
        )
      })

      const interrupted = (id: string) =>
        moved(id, (stored, nowMs) => planFailed(stored, "interrupted", ROUTES_WRITER, nowMs))

      return RoutePlans.of({
        optimize,
        get: (unit, id) => Effect.map(read(unit, id), (stored) => planOut(stored)),
        cancel: Effect.fnUntraced(function* (unit, id, writer) {
          const answer = yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const stored = yield* read(unit, id)
              if (isOver(stored.body)) return yield* new RoutePlanState({ currentStatus: stored.body.status })
              const task = held.get(id)
              if (task !== undefined) Atomics.store(task.stop, 0, 1)
              if (task !== undefined && stored.body.status === "processing") return task
              const { ms: nowMs } = yield* storage.asOf
              const { change, stored: ended } = planFailed(stored, "cancelled", writer.id, nowMs)
              return yield* commitAnswered(storage.commit(change), planOut(ended))
            })
          )
          if ("status" in answer) return answer
          yield* Effect.timeoutOption(Deferred.await(answer.done), STOPPING_MS)
          return planOut(yield* read(unit, id))
        }),
        dispatch: Effect.fnUntraced(function* (unit, id, agent, writer) {
          return yield* dispatchPlan(yield* read(unit, id), yield* agent, writer).pipe(Effect.provideContext(acting))
        }),
        work: Effect.gen(function* () {
          const task = yield* Queue.take(tasks)
          yield* search(task).pipe(
            Effect.catchDefect((defect) =>
              Effect.andThen(Effect.logError("A search of routes failed.", defect), interrupted(task.id))
            ),
            Effect.ensuring(
              Effect.suspend(() => {
                held.delete(task.id)
                return Deferred.succeed(task.done, undefined)
              })
            )
          )
        }),
        endOverdue: Effect.gen(function* () {
          const { ms: nowMs } = yield* storage.asOf
          const due = yield* storage.range(ROUTE_PLANS, "due", { before: sortable(nowMs), limit: PAGE })
          for (const { id } of due) yield* interrupted(id)
        })
      })
    })
  )
}
