/**
 * Circuit breakers: a metric of an agent that stops it by itself. Spec: document 1 sections 2 and 4; envelopes.md 3.9;
 * decision 0044.
 */
import {
  type AgentNotFound,
  type Breaker,
  type BreakerCheckOut,
  type BreakerCreate,
  BreakerNameTaken,
  type BreakerNotFound,
  type BreakerNotTripped,
  type BreakerPreviewIn,
  type BreakerPreviewOut,
  type BreakerReleaseIn,
  type BreakerUpdate,
  detailItem,
  InvalidInput,
  InvalidTransition,
  type MetricNotAvailable
} from "@flyball/contract"
import { BREAKERS, breakerUnique } from "@flyball/rules"
import { Context, Effect, Layer, Stream } from "effect"
import { newId } from "../../foundation/ids.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { beside } from "../../storage/commit-claim.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { documentPages } from "../../storage/document-pages.ts"
import { type DocumentPut, type ReadFault, Storage } from "../../storage/port.ts"
import { breakerOut } from "./breaker-out.ts"
import { breakerActivation } from "./activation.ts"
import { checksPut, type LastCheck, readChecks } from "./checks.ts"
import { firstBadRecord } from "./first-bad-record.ts"
import { BreakerWindows } from "./keeper.ts"
import { planArm } from "./plan-arm.ts"
import { planChange } from "./plan-change.ts"
import { planRelease } from "./plan-release.ts"
import { previewOver } from "./preview.ts"
import { goodRunsOf, measureOf } from "./calibrate.ts"
import { readMeasure } from "./read-input.ts"
import { breakersOf, readBreaker, type StoredBreaker, storedBreaker } from "./stored-breaker.ts"
import { factsOf, tripDue, type Tripping } from "./trip.ts"

/** Most breakers of one agent. */
export const MAX_BREAKERS = 64

/** Agents whose readings one commit writes. */
const CHECKS_A_COMMIT = 500

/**
 * Operations on circuit breakers. Objects outside `scope` are answered as not found. Spec: document 1 section 4,
 * `/bound/breakers`; decision 0044.
 */
export interface BreakersApi {
  /** Arms a breaker: its window begins with the record. */
  readonly arm: (
    agentId: string,
    input: BreakerCreate,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<
    Breaker,
    AgentNotFound | BreakerNameTaken | InvalidInput | InvalidTransition | MetricNotAvailable | ReadFault
  >
  /** Changes a breaker: its window restarts. A tripped one stays tripped until it is released. */
  readonly update: (
    id: string,
    input: BreakerUpdate,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<Breaker, BreakerNotFound | InvalidInput | ReadFault>
  /** Arms a tripped breaker again. What it activated stays active. */
  readonly release: (
    id: string,
    input: BreakerReleaseIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<Breaker, BreakerNotFound | BreakerNotTripped | ReadFault>
  readonly get: (id: string, scope?: Scope) => Effect.Effect<Breaker, BreakerNotFound | ReadFault>
  /** Oldest first. */
  readonly list: (agentId: string, scope?: Scope) => Effect.Effect<ReadonlyArray<Breaker>, AgentNotFound | ReadFault>
  /** Reads every enabled breaker now, and trips what is due. By agent, then by age. */
  readonly check: (scope?: Scope) => Effect.Effect<ReadonlyArray<BreakerCheckOut>, ReadFault>
  /** When a breaker would have tripped over the agent's sealed records. Records nothing. */
  readonly preview: (
    agentId: string,
    input: BreakerPreviewIn,
    scope?: Scope
  ) => Effect.Effect<BreakerPreviewOut, AgentNotFound | InvalidInput | MetricNotAvailable | ReadFault>
  /** Trips what is due of one agent now; answers how many breakers that were. */
  readonly tripDue: (agentId: string) => Effect.Effect<number, ReadFault>
}

/** Service of circuit breakers. Spec: document 1 section 4, `/bound/breakers`; decision 0044. */
export class Breakers extends Context.Service<Breakers, BreakersApi>()("flyball/core/Breakers") {
  static readonly layer: Layer.Layer<Breakers, never, Storage | BreakerWindows> = Layer.effect(
    Breakers,
    Effect.gen(function* () {
      const storage = yield* Storage
      const windows = yield* BreakerWindows
      const tripping: Tripping = { storage, windows, activated: breakerActivation(storage) }

      const shown = Effect.fnUntraced(function* ({ body, id }: Pick<StoredBreaker, "body" | "id">) {
        return breakerOut(id, body, (yield* readChecks(storage, body.agentId))[id])
      })

      /** Reads all breakers of one agent, after what is due has tripped. */
      const checkAgent = Effect.fnUntraced(function* (agentId: string, scope: Scope) {
        const document = yield* storage.get(AGENTS, agentId)
        if (document === null || !covers(scope, storedAgent(document).body.orgUnit)) return null
        const agent = storedAgent(document)
        const stored = yield* breakersOf(storage, agentId)
        const enabled = stored.filter(({ body }) => body.enabled)
        if (enabled.length === 0) return null
        const firstBadSeq = yield* firstBadRecord(storage, enabled)
        yield* tripDue(tripping, agentId, null, firstBadSeq)
        const asOf = yield* storage.asOf
        const watched = yield* windows.of(agentId, asOf)
        const checks: { [breakerId: string]: LastCheck } = {}
        const rows: Array<BreakerCheckOut> = []
        for (const { body, id } of enabled) {
          const reading = watched?.read(id, asOf, factsOf(agent, firstBadSeq)) ?? null
          if (reading === null) continue
          const trip = (watched?.documentOf(id) ?? body).trip
          checks[id] = { atMs: asOf.ms, value: reading.value }
          rows.push({
            breaker_id: id,
            agent_id: agentId,
            name: body.name,
            metric: body.metric,
            value: trip?.value ?? reading.value,
            samples: trip?.samples ?? reading.samples,
            tripped: trip !== null,
            fired_event_id: trip?.activationId ?? null
          })
        }
        return { rows, put: checksPut(agentId, checks) }
      })

      return Breakers.of({
        arm: (agentId, input, writer, scope = everyUnit) =>
          Effect.gen(function* () {
            const id = yield* newId("brk")
            return yield* commitWithRetry(
              storage,
              Effect.gen(function* () {
                const asOf = yield* storage.asOf
                const agent = yield* readAgent(storage, agentId, scope)
                if (agent.body.status === "decommissioned")
                  return yield* new InvalidTransition({ status: agent.body.status, act: "breakers" })
                const [taken] = yield* storage.find(BREAKERS, "name", breakerUnique({ agentId, name: input.name }).name)
                if (taken !== undefined) return yield* new BreakerNameTaken({ breakerId: taken.id })
                if ((yield* breakersOf(storage, agentId)).length >= MAX_BREAKERS)
                  return yield* new InvalidInput({
                    detail: [
                      detailItem(["path", "agent_id"], "value_error", `An agent has up to ${MAX_BREAKERS} breakers`)
                    ]
                  })
                const { calibration, confidenceBp, metric, params } = yield* measureOf(
                  storage,
                  agentId,
                  input,
                  asOf.seq
                )
                const { good_runs: good, max_false_stop_bp: bound } = input
                const { breaker, change } = planArm(
                  id,
                  {
                    agentId,
                    name: input.name,
                    metric: metric.name,
                    params,
                    enabled: input.enabled,
                    mode: input.mode,
                    confidenceBp,
                    response: input.response ?? null,
                    ...(calibration === null || good == null || bound == null
                      ? {}
                      : { maxFalseStopBp: bound, goodRuns: goodRunsOf(good, calibration.runs, asOf.seq) })
                  },
                  { writer, except: good?.except ?? [] },
                  asOf
                )
                // An agent that ends meanwhile gets none.
                const expects = [{ collection: AGENTS, id: agentId, version: agent.version }]
                yield* storage.commit({ ...change, expects })
                return breakerOut(id, breaker, undefined)
              })
            )
          }),
        update: (id, input, writer, scope = everyUnit) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const asOf = yield* storage.asOf
              const stored = yield* readBreaker(storage, id, scope)
              const confidenceBp = input.confidence_bp ?? stored.body.confidenceBp
              if (input.params !== undefined && stored.body.maxFalseStopBp !== undefined)
                return yield* new InvalidInput({
                  detail: [
                    detailItem(["body", "params"], "value_error", "Good runs set its threshold: arm another breaker")
                  ]
                })
              // The metric was available when the breaker was armed, and stays so.
              const { params } = yield* Effect.fromResult(
                readMeasure(stored.body.metric, input.params ?? stored.body.params, confidenceBp)
              ).pipe(Effect.catchTag("MetricNotAvailable", Effect.die))
              const plan = planChange(
                stored,
                {
                  params,
                  confidenceBp,
                  ...(input.enabled === undefined ? {} : { enabled: input.enabled }),
                  ...(input.mode === undefined ? {} : { mode: input.mode }),
                  ...(input.response === undefined ? {} : { response: input.response })
                },
                writer,
                asOf
              )
              if (plan !== null) yield* storage.commit(plan.change)
              return yield* shown({ id, body: plan?.breaker ?? stored.body })
            }),
            { collection: BREAKERS, id }
          ),
        release: (id, { reason = null }, writer, scope = everyUnit) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const asOf = yield* storage.asOf
              const stored = yield* readBreaker(storage, id, scope)
              const { breaker, change } = yield* Effect.fromResult(planRelease(stored, reason, writer, asOf))
              // What tripped it is its last reading still.
              const checks = yield* readChecks(storage, breaker.agentId)
              const { atMs, value } = stored.body.trip!
              const last = { atMs: Math.max(atMs, checks[id]?.atMs ?? 0), value }
              const put = checksPut(breaker.agentId, { ...checks, [id]: last })
              yield* storage.commit({ ...change, puts: [...(change.puts ?? []), put] })
              return yield* shown({ id, body: breaker })
            }),
            { collection: BREAKERS, id }
          ),
        get: Effect.fnUntraced(function* (id, scope = everyUnit) {
          return yield* shown(yield* readBreaker(storage, id, scope))
        }),
        list: Effect.fnUntraced(function* (agentId, scope = everyUnit) {
          yield* readAgent(storage, agentId, scope)
          const checks = yield* readChecks(storage, agentId)
          return (yield* breakersOf(storage, agentId)).map(({ body, id }) => breakerOut(id, body, checks[id]))
        }),
        check: Effect.fnUntraced(function* (scope = everyUnit) {
          const agents = new Set<string>()
          yield* Stream.runForEach(documentPages(storage, BREAKERS), (page) =>
            Effect.sync(() => page.map(storedBreaker).forEach(({ body }) => agents.add(body.agentId)))
          )
          const rows: Array<BreakerCheckOut> = []
          let puts: Array<DocumentPut> = []
          const write = Effect.suspend(() => {
            const written = puts
            puts = []
            return written.length === 0
              ? Effect.void
              : beside(commitWithRetry(storage, storage.commit({ puts: written })))
          })
          for (const agentId of [...agents].toSorted()) {
            const checked = yield* checkAgent(agentId, scope)
            if (checked === null) continue
            rows.push(...checked.rows)
            if (puts.push(checked.put) === CHECKS_A_COMMIT) yield* write
          }
          yield* write
          return rows
        }),
        preview: Effect.fnUntraced(function* (agentId, input, scope = everyUnit) {
          yield* readAgent(storage, agentId, scope)
          const measure = yield* measureOf(storage, agentId, input, (yield* storage.asOf).seq)
          const { calibration, metric } = measure
          return {
            ...(yield* previewOver(storage, agentId, measure, input.from_seq ?? null)),
            calibration:
              calibration === null
                ? null
                : {
                    parameter: metric.perRun!.threshold,
                    threshold: calibration.threshold,
                    runs: calibration.runs,
                    kept_bp: calibration.keptBp
                  }
          }
        }),
        tripDue: Effect.fnUntraced(function* (agentId) {
          // Most agents have none, in a store of which most have none at all.
          if ((yield* windows.version) === 0) return 0
          const enabled = (yield* breakersOf(storage, agentId)).filter(({ body }) => body.enabled)
          if (enabled.length === 0) return 0
          return yield* tripDue(tripping, agentId, null, yield* firstBadRecord(storage, enabled))
        })
      })
    })
  )
}
