/** Reads the kill state of many agents at once. */
import { Effect } from "effect"
import {
  type AckDocument,
  ackId,
  agentReach,
  ancestorsOf,
  KILL_ACKS,
  KILL_ACTIVATIONS,
  killStateOf,
  type KillStateOf,
  type KillVia,
  MAX_ANCESTORS,
  noModels,
  reaches
} from "@flyball/rules"
import type { SafetyRow } from "@flyball/contract"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import type { Document, ReadFault, StorageApi } from "../../storage/port.ts"
import { formerUnits, noFormerUnits } from "../kill/former-units.ts"
import { type KillView, storedActivation, type StoredActivation, targetsOf } from "../kill/kill-reader.ts"
import { provenanceModels } from "../kill/reached-agents.ts"
import { modelIdsOf, modelsReader } from "../kill/registered-models.ts"

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
 * - Cost: nothing while nothing is active. Else two reads per activation, one of the provenance while a model is aimed
 *   at, and the parents that are not among the agents.
 */
export const killFacts = Effect.fnUntraced(function* (
  storage: StorageApi,
  { live }: Pick<KillView, "live">,
  agents: ReadonlyArray<StoredAgent>
): Effect.fn.Return<KillFacts, ReadFault> {
  const parents = live.length === 0 ? new Map<string, string | null>() : yield* parentsOf(storage, agents)
  const models = live.some(({ body }) => body.targetType === "model") ? yield* provenanceModels(storage) : null
  const registered =
    models === null
      ? noModels
      : yield* modelsReader(storage)([
          ...targetsOf(live),
          ...agents.flatMap(({ body }) => modelIdsOf(body)),
          ...[...models.values()].flat()
        ])
  const unitsBefore = live.some(({ body }) => body.targetType === "org_unit")
    ? yield* formerUnits(storage)
    : noFormerUnits
  /** By activation and agent: an activation may reach every agent, each with instances of its own. */
  const counts = new Map<string, ReadonlyMap<string, Counts>>()
  /** As they are now: whom one expects is read without a change of the epoch. */
  const current = new Map<string, StoredActivation>()
  for (const activation of live) {
    const document = yield* storage.get(KILL_ACTIVATIONS, activation.id)
    const now = document === null ? activation : storedActivation(document)
    current.set(activation.id, now)
    counts.set(activation.id, countsOf(now, yield* storage.find(KILL_ACKS, "activation", activation.id)))
  }
  return {
    stateOf: ({ body, id }) => {
      if (live.length === 0) return killStateOf<Reaching>([])
      const facts = agentReach(
        id,
        body,
        body.parentAgentId === undefined ? [] : ancestorsOf(id, (one) => parents.get(one)),
        models?.get(id) ?? [],
        registered,
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
    acksOf: (agentId, stored) => {
      const { body, id } = current.get(stored.id) ?? stored
      const { acknowledged, silent, stopped } = counts.get(id)?.get(agentId) ?? {
        acknowledged: 0,
        silent: 0,
        stopped: 0
      }
      return {
        expected: body.expectedInstances === null ? null : acknowledged + silent,
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
  for (const one of body.expectedInstances ?? []) if (!answered.has(ackId(id, one))) of(one.agentId).silent++
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
