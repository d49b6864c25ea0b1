/** Drills: exercises of the kill switch. Spec: api.md "bounded autonomy"; envelopes.md 3.10; decision 0048. */
import {
  type AgentNotFound,
  DEFAULT_DRILL_MS,
  type DrillCompleted,
  type DrillIn,
  type DrillListQuery,
  type DrillNotAttestable,
  DrillNotFound,
  type DrillOut,
  InvalidTransition,
  isId,
  type ModelNotFound,
  type OrgUnitNotAllowed,
  type SecondApproverRequired
} from "@flyball/contract"
import { DRILL_WRITER, DRILLS, KILL_ACTIVATIONS, KILL_EPOCH, type KillTarget } from "@flyball/rules"
import { Context, Effect, Layer } from "effect"
import { newId } from "../../foundation/ids.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { secondPerson } from "../../registry/principals/second-person.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type AsOf, type Document, type ReadFault, Storage } from "../../storage/port.ts"
import { killReader, storedActivation, type StoredActivation } from "../kill/kill-reader.ts"
import { planActivate } from "../kill/plan-activate.ts"
import { planRelease } from "../kill/plan-release.ts"
import { expectedOf } from "../kill/expected.ts"
import { reachedBy } from "../kill/reached-agents.ts"
import { resolveTarget } from "../kill/resolve-target.ts"
import { drillOut, storedDrill, type StoredDrill, agentOf } from "./document.ts"
import { acknowledgementsUpTo } from "./acknowledgements.ts"
import { planAttest } from "./plan-attest.ts"
import { planComplete } from "./plan-complete.ts"
import { planStart } from "./plan-start.ts"

/**
 * Operations on drills. Objects outside `scope` are answered as not found; a model is used in every org unit. Spec:
 * decision 0048.
 */
export interface DrillsApi {
  /** Activates a halt as an exercise, and records what it is to show. */
  readonly start: (
    input: DrillIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<DrillOut, AgentNotFound | InvalidTransition | ModelNotFound | OrgUnitNotAllowed | ReadFault>
  readonly get: (id: string, scope?: Scope) => Effect.Effect<DrillOut, DrillNotFound | ReadFault>
  /** Oldest first. */
  readonly list: (query?: DrillListQuery, scope?: Scope) => Effect.Effect<ReadonlyArray<DrillOut>, ReadFault>
  /** Ends a drill: releases what it still halts, and records what it measured. */
  readonly complete: (
    id: string,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<DrillOut, DrillCompleted | DrillNotFound | ReadFault>
  /** Vouches for what a drill measured. */
  readonly attest: (
    id: string,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<DrillOut, DrillNotAttestable | DrillNotFound | SecondApproverRequired | ReadFault>
  /** Ends the live drills whose time is over, and answers how many. For the job. */
  readonly completeDue: Effect.Effect<number, ReadFault>
}

/** Drills read at a time while listing. */
const PAGE = 500

/** Service of drills. Spec: decision 0048. */
export class Drills extends Context.Service<Drills, DrillsApi>()("flyball/core/Drills") {
  static readonly layer: Layer.Layer<Drills, never, Storage> = Layer.effect(
    Drills,
    Effect.gen(function* () {
      const storage = yield* Storage
      const reader = killReader(storage)

      const isIn = Effect.fnUntraced(function* ({ body }: StoredDrill, scope: Scope) {
        if (scope.orgUnits === "*") return true
        const agentId = agentOf(body)
        const agent = agentId === null ? null : yield* storage.get(AGENTS, agentId)
        return agent !== null && covers(scope, storedAgent(agent).body.orgUnit)
      })

      const readDrill = Effect.fnUntraced(function* (
        id: string,
        scope: Scope
      ): Effect.fn.Return<StoredDrill, DrillNotFound | ReadFault> {
        const document = isId("drill", id) ? yield* storage.get(DRILLS, id) : null
        if (document === null) return yield* new DrillNotFound({ drillId: id })
        const stored = storedDrill(document)
        return (yield* isIn(stored, scope)) ? stored : yield* new DrillNotFound({ drillId: id })
      })

      const activationOf = Effect.fnUntraced(function* ({
        body: { activationId }
      }: StoredDrill): Effect.fn.Return<StoredActivation, ReadFault> {
        const document = yield* storage.get(KILL_ACTIVATIONS, activationId)
        return document === null
          ? yield* new StorageCorrupt({ reason: `the activation ${activationId} of a drill is not there` })
          : storedActivation(document)
      })

      /** The agent that a drill is aimed at. */
      const agentFor = (stored: StoredDrill): Effect.Effect<StoredAgent | null, ReadFault> => {
        const agentId = agentOf(stored.body)
        return agentId === null
          ? Effect.succeed(null)
          : Effect.map(storage.get(AGENTS, agentId), (agent) => (agent === null ? null : storedAgent(agent)))
      }

      /** The change that releases an activation of a drill; null where it is already released. */
      const releaseOf = Effect.fnUntraced(function* (stored: StoredActivation, writer: Writer, asOf: AsOf) {
        if (stored.body.releasedAtMs !== null) return null
        const target: KillTarget = { type: stored.body.targetType, id: stored.body.targetId }
        const reach = yield* reachedBy(storage, target)
        const command = { reason: null, writer, person: "another" as const, reach: { ...reach, expects: [] } }
        // Anyone who may end a drill releases it: what a drill halts needs no second person.
        return yield* Effect.fromResult(planRelease(stored, command, yield* reader.view, asOf)).pipe(
          Effect.map(({ change }) => change),
          Effect.catchTag(["ActivationReleased", "ReleaseNotAllowed"], () => Effect.succeed(null))
        )
      })

      const complete: DrillsApi["complete"] = Effect.fnUntraced(function* (id, writer, scope = everyUnit) {
        // The result counts the instances that are expected.
        yield* expectedOf(storage, (yield* readDrill(id, scope)).body.activationId)
        return yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const stored = yield* readDrill(id, scope)
            const activation = yield* activationOf(stored)
            const asOf = yield* storage.asOf
            const { activationId } = stored.body
            const { change, drill } = yield* Effect.fromResult(
              planComplete(
                stored,
                {
                  measured: activation.body,
                  acks: yield* acknowledgementsUpTo(storage, activationId, activation.body.epoch, asOf.seq),
                  release: yield* releaseOf(activation, writer, asOf),
                  agent: yield* agentFor(stored),
                  writer
                },
                asOf
              )
            )
            yield* storage.commit(change)
            return drillOut(id, drill)
          }),
          KILL_EPOCH
        )
      })

      return Drills.of({
        start: Effect.fnUntraced(function* (input, writer, scope = everyUnit) {
          const drillId = yield* newId("drl")
          const activationId = yield* newId("kil")
          return yield* commitWithRetry(
            storage,
            Effect.gen(function* () {
              const { agent, target } = yield* resolveTarget(storage, input, scope)
              if (agent?.body.status === "decommissioned")
                return yield* new InvalidTransition({ status: agent.body.status, act: "drill" })
              const reached = yield* reachedBy(storage, target)
              const asOf = yield* storage.asOf
              const activation = planActivate(
                {
                  activationId,
                  target,
                  response: "halt",
                  reason: null,
                  drill: { drillId, mode: input.mode },
                  breakerId: null,
                  actor: writer.id,
                  requestedBy: null,
                  reach: { highestTier: reached.highestTier, agents: reached.agents.length, expects: [] }
                },
                yield* reader.view,
                asOf
              )
              const { change, drill } = planStart(
                {
                  drillId,
                  target,
                  mode: input.mode,
                  scenario: input.scenario,
                  sloMs: input.slo_ms,
                  maxDurationMs: input.max_duration_ms ?? DEFAULT_DRILL_MS,
                  writer
                },
                activation,
                asOf
              )
              // An agent that ends meanwhile gets none.
              const expects = agent === null ? [] : [{ collection: AGENTS, id: agent.id, version: agent.version }]
              yield* storage.commit({ ...change, expects: [...(change.expects ?? []), ...expects] })
              return drillOut(drillId, drill)
            }),
            KILL_EPOCH
          )
        }),
        get: (id, scope = everyUnit) => Effect.map(readDrill(id, scope), ({ body }) => drillOut(id, body)),
        list: Effect.fnUntraced(function* (query = {}, scope = everyUnit) {
          const { limit = Number.POSITIVE_INFINITY } = query
          const found: Array<DrillOut> = []
          for (let after = query.after; found.length < limit;) {
            const page: ReadonlyArray<Document> = yield* storage.list(
              DRILLS,
              after === undefined ? { limit: PAGE } : { after, limit: PAGE }
            )
            for (const stored of page.map(storedDrill))
              if (yield* isIn(stored, scope)) found.push(drillOut(stored.id, stored.body))
            if (page.length < PAGE) break
            after = page.at(-1)!.id
          }
          return found.slice(0, limit)
        }),
        complete,
        attest: (id, writer, scope = everyUnit) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const stored = yield* readDrill(id, scope)
              const person = yield* secondPerson(storage, [stored.body.startedBy], writer)
              const { change, drill } = yield* Effect.fromResult(
                planAttest(stored, yield* agentFor(stored), person, writer, yield* storage.asOf)
              )
              yield* storage.commit(change)
              return drillOut(id, drill)
            })
          ),
        completeDue: Effect.gen(function* () {
          let completed = 0
          const { ms } = yield* storage.asOf
          for (const { body, id } of (yield* storage.find(DRILLS, "state", "started")).map(storedDrill)) {
            if (body.mode !== "live" || body.startedAtMs + body.maxDurationMs > ms) continue
            // Somebody completed it meanwhile.
            const over = Effect.succeed(null)
            const done = yield* complete(id, { id: DRILL_WRITER }).pipe(
              Effect.catchTag(["DrillCompleted", "DrillNotFound"], () => over)
            )
            if (done !== null) completed++
          }
          return completed
        })
      })
    })
  )
}
