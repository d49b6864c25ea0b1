/** The safety view: every agent's halt state and what guards it. Spec: document 1 section 4, GET /bound/safety. */
import type { SafetyOut, SafetyQuery, SafetyRow } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"
import { isDrillOverdue, orphanedSinceMs } from "@flyball/rules"
import { idAtMs } from "../../foundation/id-time.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { killReader } from "../kill/kill-reader.ts"
import { type KillFacts, killFacts } from "./kill-facts.ts"

/** The safety view. */
export interface SafetyApi {
  /** The agents in scope, oldest first: all of them, or a page. What it shows of the kill switch is of one epoch. */
  readonly view: (query?: SafetyQuery, scope?: Scope) => Effect.Effect<SafetyOut, ReadFault>
}

/** Agents read at a time. */
const PAGE = 1_000

/** The safety view. */
export class Safety extends Context.Service<Safety, SafetyApi>()("flyball/core/Safety") {
  static readonly layer: Layer.Layer<Safety, never, Storage> = Layer.effect(
    Safety,
    Effect.gen(function* () {
      const storage = yield* Storage
      const reader = killReader(storage)
      return Safety.of({
        view: Effect.fnUntraced(function* (query = {}, scope = everyUnit) {
          const agents = yield* agentsIn(storage, query, scope)
          const view = yield* reader.view
          const { ms } = yield* storage.asOf
          const facts = yield* killFacts(storage, view, agents)
          return {
            as_of: formatInstant(ms),
            epoch: view.epoch,
            as_of_seq: view.seq,
            agents: agents.map((agent) => rowOf(agent, facts, view.epoch, ms))
          }
        })
      })
    })
  )
}

const agentsIn = Effect.fnUntraced(function* (
  storage: StorageApi,
  { after: first, limit = Number.POSITIVE_INFINITY }: SafetyQuery,
  scope: Scope
): Effect.fn.Return<ReadonlyArray<StoredAgent>, ReadFault> {
  const found: Array<StoredAgent> = []
  for (let after = first; found.length < limit;) {
    const size = Math.min(limit, PAGE)
    const page = yield* storage.list(AGENTS, after === undefined ? { limit: size } : { after, limit: size })
    found.push(...page.map(storedAgent).filter(({ body }) => covers(scope, body.orgUnit)))
    if (page.length < size) break
    after = page.at(-1)!.id
  }
  return found.slice(0, limit)
})

const rowOf = (agent: StoredAgent, facts: KillFacts, epoch: number, nowMs: number): SafetyRow => {
  const { body, id } = agent
  const { activation, drill, effectiveResponse, halted, response } = facts.stateOf(agent)
  return {
    agent_id: id,
    name: body.name,
    status: body.status,
    autonomy_tier: body.autonomyTier,
    halted,
    drill,
    response,
    effective_response: effectiveResponse,
    epoch,
    since: activation === null ? null : formatInstant(activation.stored.body.activatedAtMs),
    activation_event: activation?.id ?? null,
    acks: activation === null ? null : facts.acksOf(id, activation.stored),
    last_drill_at: body.drilledAtMs === undefined ? null : formatInstant(body.drilledAtMs),
    drill_attested_at: body.drillAttestedAtMs === undefined ? null : formatInstant(body.drillAttestedAtMs),
    drill_overdue: isDrillOverdue(body, nowMs),
    orphan: orphanedSinceMs(body, idAtMs(id)) !== null,
    recert_overdue: body.status !== "decommissioned" && body.recertDueAtMs !== null && body.recertDueAtMs <= nowMs
  }
}
