/** Reads the kill state of many agents at once. */
import { Effect, Stream } from "effect"
import {
  type AckDocument,
  ackId,
  agentReach,
  ancestorsOf,
  KILL_ACKS,
  killStateOf,
  type KillStateOf,
  type KillVia,
  MAX_ANCESTORS,
  PROVENANCE,
  reaches
} from "@flyball/rules"
import type { SafetyRow } from "@flyball/contract"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { documentPages } from "../../storage/document-pages.ts"
import type { Document, ReadFault, StorageApi } from "../../storage/port.ts"
import { formerUnits, noFormerUnits } from "../kill/former-units.ts"
import { type KillView, modelNames, type StoredActivation } from "../kill/kill-reader.ts"

/** An activation as the state of an agent names it. */
type Reaching = {
  readonly id: string
  readonly epoch: number
  readonly response: StoredActivation["body"]["response"]
  readonly drill: "shadow" | "live" | null
  readonly via: KillVia
  readonly stored: StoredActivation
}

/** Kill facts that the safety view needs of an agent. */
export interface KillFacts {
  readonly stateOf: (agent: StoredAgent) => KillStateOf<Reaching>
  /** How far the agent's instances are under an activation. */
  readonly acksOf: (agentId: string, activation: StoredActivation) => NonNullable<SafetyRow["acks"]>
}

/**
 * Reads what is needed to say which activations reach which of these agents.
 *
 * - Cost: nothing while nothing is active. Else one read per activation, one of the provenance while a model is aimed
 *   at, and the parents that are not among the agents.
 */
export const killFacts = Effect.fnUntraced(function* (
  storage: StorageApi,
  { live }: Pick<KillView, "live">,
  agents: ReadonlyArray<StoredAgent>
): Effect.fn.Return<KillFacts, ReadFault> {
  const parents = live.length === 0 ? new Map<string, string | null>() : yield* parentsOf(storage, agents)
  const models = live.some(({ body }) => body.targetType === "model") ? yield* modelsOf(storage) : new Map()
  const unitsBefore = live.some(({ body }) => body.targetType === "org_unit")
    ? yield* formerUnits(storage)
    : noFormerUnits
  /** By activation and agent: an activation may reach every agent, each with instances of its own. */
  const counts = new Map<string, ReadonlyMap<string, Counts>>()
  for (const activation of live)
    counts.set(activation.id, countsOf(activation, yield* storage.find(KILL_ACKS, "activation", activation.id)))
  return {
    stateOf: ({ body, id }) => {
      if (live.length === 0) return killStateOf<Reaching>([])
      const facts = agentReach(
        id,
        body,
        body.parentAgentId === undefined ? [] : ancestorsOf(id, (one) => parents.get(one)),
        models.get(id) ?? [],
        unitsBefore(body.orgUnit)
      )
      return killStateOf(
        live.flatMap((stored): ReadonlyArray<Reaching> => {
          const via = reaches({ type: stored.body.targetType, id: stored.body.targetId }, facts)
          const { drill, epoch, response } = stored.body
          return via === null ? [] : [{ id: stored.id, epoch, response, drill: drill?.mode ?? null, via, stored }]
        })
      )
    },
    acksOf: (agentId, { body, id }) => {
      const { acknowledged, silent, stopped } = counts.get(id)?.get(agentId) ?? {
        acknowledged: 0,
        silent: 0,
        stopped: 0
      }
      return {
        expected: acknowledged + silent,
        acknowledged,
        stopped,
        unconfirmed: body.unconfirmedAtMs === null ? 0 : silent
      }
    }
  }
})

/** Instances of one agent under an activation. `silent`: expected, and not acknowledged. */
interface Counts {
  acknowledged: number
  silent: number
  stopped: number
}

const countsOf = ({ body, id }: StoredActivation, acks: ReadonlyArray<Document>): ReadonlyMap<string, Counts> => {
  const counts = new Map<string, Counts>()
  const of = (agentId: string): Counts => {
    const known = counts.get(agentId)
    if (known !== undefined) return known
    const none = { acknowledged: 0, silent: 0, stopped: 0 }
    counts.set(agentId, none)
    return none
  }
  const answered = new Set<string>()
  for (const ack of acks.map((one) => one.body as AckDocument)) {
    answered.add(ackId(id, ack))
    const own = of(ack.agentId)
    own.acknowledged++
    if (ack.stoppedAtMs !== null) own.stopped++
  }
  for (const one of body.expectedInstances) if (!answered.has(ackId(id, one))) of(one.agentId).silent++
  return counts
}

/** The parent of each of these agents and of their ancestors. */
const parentsOf = Effect.fnUntraced(function* (storage: StorageApi, agents: ReadonlyArray<StoredAgent>) {
  const parents = new Map(agents.map(({ body, id }) => [id, body.parentAgentId ?? null]))
  for (let level = 0; level < MAX_ANCESTORS; level++) {
    const missing = [...new Set(parents.values())].filter((id) => id !== null && !parents.has(id)) as Array<string>
    if (missing.length === 0) break
    for (const id of missing) {
      const document = yield* storage.get(AGENTS, id)
      parents.set(id, document === null ? null : (storedAgent(document).body.parentAgentId ?? null))
    }
  }
  return parents
})

/** The models that each agent's provenance names. */
const modelsOf = Effect.fnUntraced(function* (storage: StorageApi) {
  const models = new Map<string, Array<string>>()
  yield* Stream.runForEach(documentPages(storage, PROVENANCE), (page) =>
    Effect.sync(() => {
      for (const { body } of page)
        for (const name of modelNames(body)) {
          const agentId = String(body["agentId"])
          const known = models.get(agentId)
          if (known === undefined) models.set(agentId, [name])
          else known.push(name)
        }
    })
  )
  return models
})
