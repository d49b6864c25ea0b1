/** The safety view: every agent's halt state and what guards it. Spec: document 1 section 4, GET /bound/safety. */
import { agentStatuses, type SafetyOut, type SafetyQuery, type SafetyRow } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Context, Effect, Layer, Stream } from "effect"
import {
  type AgentStatus,
  type BreakerDocument,
  BREAKERS,
  type ChannelDocument,
  isChannelOverdue,
  isDrillOverdue,
  orphanedSinceMs
} from "@flyball/rules"
import { idAtMs } from "../../foundation/id-time.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { inTurns } from "../../storage/each-record.ts"
import { documentPages } from "../../storage/document-pages.ts"
import { type Document, type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { ChannelPeriod } from "../drills/channel-check.ts"
import { lastChannelCheck } from "../drills/channel-clock.ts"
import { killReader } from "../kill/kill-reader.ts"
import { type KillFacts, killFacts } from "./kill-facts.ts"

/** Reads of each agent's kill state, breakers and drills. Spec: document 1 section 4, GET /bound/safety. */
export interface SafetyApi {
  /** The agents in scope, oldest first: all of them, or a page. What it shows of the kill switch is of one epoch. */
  readonly view: (query?: SafetyQuery, scope?: Scope) => Effect.Effect<SafetyOut, ReadFault>
  readonly health: Effect.Effect<SafetyHealth, ReadFault>
}

/** Values for the metrics. Spec: decision 0048. */
export interface SafetyHealth {
  /** Agents whose own tier needs an attested drill that they do not have. Counted once a minute. */
  readonly overdueDrills: number
  /** Agents by org unit and status, counted once a minute: each status of each unit. */
  readonly agents: ReadonlyArray<AgentCount>
  /** Of the last check of the channel; null before the first. */
  readonly channelArmed: boolean | null
  readonly channelAgeMs: number | null
}

/** Agents of an org unit in a status. `orgUnit` is empty for units that are not counted one by one, or are erased. */
export interface AgentCount {
  readonly orgUnit: string
  readonly status: AgentStatus
  readonly count: number
}

/** Org units that are counted one by one: the first ones that had agents. Labels of a metric need a bound. */
const MAX_COUNTED_UNITS = 100
/** Agents read at a time. */
const PAGE = 1_000
/** Agents up to which breakers are looked up one agent at a time, where all agents are shown. */
const FEW_AGENTS = 32
/** How long a count of all agents stays. */
const COUNTED_FOR = "1 minute"

/** Service of the safety view. Spec: document 1 section 4, GET /bound/safety. */
export class Safety extends Context.Service<Safety, SafetyApi>()("flyball/core/Safety") {
  static readonly layer: Layer.Layer<Safety, never, Storage> = Layer.effect(
    Safety,
    Effect.gen(function* () {
      const storage = yield* Storage
      const reader = killReader(storage)
      const periodMs = yield* ChannelPeriod
      const counts = yield* Effect.cachedWithTTL(countAgents(storage), COUNTED_FOR)
      return Safety.of({
        view: Effect.fnUntraced(function* (query = {}, scope = everyUnit) {
          const agents = yield* agentsIn(storage, query, scope)
          const view = yield* reader.view
          const { ms } = yield* storage.asOf
          const facts = yield* killFacts(storage, view, agents)
          const breakers = yield* breakersOf(storage, agents, query.limit !== undefined)
          const last = yield* lastChannelCheck(storage)
          const rows: Array<SafetyRow> = []
          yield* inTurns(agents, (agent) => {
            rows.push(rowOf(agent, facts, breakers.get(agent.id) ?? [], view.epoch, ms))
          })
          return {
            as_of: formatInstant(ms),
            epoch: view.epoch,
            as_of_seq: view.seq,
            channel: last === null ? null : channelOut(last, periodMs, ms),
            agents: rows
          }
        }),
        health: Effect.gen(function* () {
          const last = yield* lastChannelCheck(storage)
          const { ms } = yield* storage.asOf
          return {
            ...(yield* counts),
            channelArmed: last?.armed ?? null,
            channelAgeMs: last === null ? null : Math.max(0, ms - last.checkedAtMs)
          }
        })
      })
    })
  )
}

const countAgents = Effect.fnUntraced(function* (
  storage: StorageApi
): Effect.fn.Return<Pick<SafetyHealth, "agents" | "overdueDrills">, ReadFault> {
  const { ms } = yield* storage.asOf
  let overdueDrills = 0
  const units = new Map<string, Map<AgentStatus, number>>()
  yield* Stream.runForEach(documentPages(storage, AGENTS), (page) =>
    Effect.sync(() => {
      for (const { body } of page.map(storedAgent)) {
        if (isDrillOverdue(body, ms)) overdueDrills += 1
        const { orgUnit, status } = body
        const name = orgUnit !== null && (units.has(orgUnit) || units.size < MAX_COUNTED_UNITS) ? orgUnit : ""
        const own = units.get(name) ?? new Map<AgentStatus, number>()
        units.set(name, own.set(status, (own.get(status) ?? 0) + 1))
      }
    })
  )
  const agents = [...units].flatMap(([orgUnit, counts]) =>
    agentStatuses.map((status) => ({ orgUnit, status, count: counts.get(status) ?? 0 }))
  )
  return { overdueDrills, agents }
})

const channelOut = (
  { activationId, armed, checkedAtMs, latencyMs }: ChannelDocument,
  periodMs: number,
  nowMs: number
) => ({
  armed,
  latency_ms: latencyMs,
  checked_at: formatInstant(checkedAtMs),
  activation_event: activationId,
  overdue: isChannelOverdue(checkedAtMs, periodMs, nowMs)
})

type BreakersOut = SafetyRow["breakers"]

/**
 * The breakers that are switched on, by agent. Those of a page or of few agents are looked up one agent at a time: a
 * page costs the same however many agents there are. Else all are read.
 */
const breakersOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  agents: ReadonlyArray<StoredAgent>,
  isPage: boolean
): Effect.fn.Return<ReadonlyMap<string, BreakersOut>, ReadFault> {
  const found = new Map<string, Array<BreakersOut[number]>>()
  const take = (documents: ReadonlyArray<Document>): void => {
    for (const { body, id } of documents) {
      const { agentId, enabled, metric, mode, name, trip } = body as unknown as BreakerDocument
      if (!enabled) continue
      const own = found.get(agentId) ?? []
      own.push({ id, name, metric, mode, tripped: trip !== null })
      found.set(agentId, own)
    }
  }
  if (isPage || agents.length <= FEW_AGENTS)
    for (const { id } of agents) take(yield* storage.find(BREAKERS, "agent_id", id))
  else yield* Stream.runForEach(documentPages(storage, BREAKERS, PAGE), (page) => Effect.sync(() => take(page)))
  for (const own of found.values()) own.sort((a, b) => (a.name < b.name ? -1 : 1))
  return found
})

const agentsIn = Effect.fnUntraced(function* (
  storage: StorageApi,
  { after: first, limit = Number.POSITIVE_INFINITY }: SafetyQuery,
  scope: Scope
): Effect.fn.Return<ReadonlyArray<StoredAgent>, ReadFault> {
  const found: Array<StoredAgent> = []
  for (let after = first; found.length < limit;) {
    // With a scope of some units most of them may be others' agents.
    const size = scope.orgUnits === "*" ? Math.min(limit, PAGE) : PAGE
    const page = yield* storage.list(AGENTS, after === undefined ? { limit: size } : { after, limit: size })
    found.push(...page.map(storedAgent).filter(({ body }) => covers(scope, body.orgUnit)))
    if (page.length < size) break
    after = page.at(-1)!.id
  }
  return found.slice(0, limit)
})

const rowOf = (
  agent: StoredAgent,
  facts: KillFacts,
  breakers: BreakersOut,
  epoch: number,
  nowMs: number
): SafetyRow => {
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
    breakers,
    last_drill_at: body.drilledAtMs === undefined ? null : formatInstant(body.drilledAtMs),
    drill_attested_at: body.drillAttestedAtMs === undefined ? null : formatInstant(body.drillAttestedAtMs),
    drill_overdue: isDrillOverdue(body, nowMs),
    orphan: orphanedSinceMs(body, idAtMs(id)) !== null,
    recert_overdue: body.status !== "decommissioned" && body.recertDueAtMs !== null && body.recertDueAtMs <= nowMs
  }
}
