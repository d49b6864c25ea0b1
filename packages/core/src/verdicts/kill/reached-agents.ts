/** Whom a target reaches now: read before an activation, a dry run and a release. */
import { Effect, Stream } from "effect"
import {
  agentReach,
  ancestorsOf,
  type AutonomyTier,
  higherTier,
  type KillInstance,
  type KillTarget,
  PROVENANCE,
  reaches
} from "@flyball/rules"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { documentPages } from "../../storage/document-pages.ts"
import type { ChangeSet, ReadFault, StorageApi } from "../../storage/port.ts"
import { formerUnits, noFormerUnits } from "./former-units.ts"
import { seenInstances } from "./seen-instances.ts"
import { modelNames } from "./kill-reader.ts"

/** Agents that a target reaches, and the instances of them that were seen in the hour before. */
export interface Reached {
  readonly agents: ReadonlyArray<StoredAgent>
  readonly highestTier: AutonomyTier | null
  readonly instances: ReadonlyArray<KillInstance>
  /** Of the agent that is the target, where it is one: what the highest tier was read from. */
  readonly expects: NonNullable<ChangeSet["expects"]>
}

/**
 * Reads every agent: which of them a target reaches, and at which tier.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC; instances are those of the hour before.
 */
export const reachedBy = Effect.fnUntraced(function* (
  storage: StorageApi,
  target: KillTarget,
  nowMs: number
): Effect.fn.Return<Reached, ReadFault> {
  const reached = yield* agentsReachedBy(storage, target)
  return {
    ...reached,
    instances: yield* seenInstances(storage, new Set(reached.agents.map(({ id }) => id)), nowMs)
  }
})

/** Agents that an activation reaches, without their instances, which need records. */
export const agentsReachedBy = Effect.fnUntraced(function* (
  storage: StorageApi,
  target: KillTarget
): Effect.fn.Return<Omit<Reached, "instances">, ReadFault> {
  const agents = yield* agentsReached(storage, target)
  return {
    agents,
    highestTier: agents.reduce<AutonomyTier | null>((most, { body }) => higherTier(most, body.autonomyTier), null),
    expects:
      target.type === "agent"
        ? agents.filter(({ id }) => id === target.id).map(({ id, version }) => ({ collection: AGENTS, id, version }))
        : []
  }
})

const agentsReached = Effect.fnUntraced(function* (
  storage: StorageApi,
  target: KillTarget
): Effect.fn.Return<ReadonlyArray<StoredAgent>, ReadFault> {
  const all: Array<StoredAgent> = []
  yield* Stream.runForEach(documentPages(storage, AGENTS), (page) =>
    Effect.sync(() => void all.push(...page.map(storedAgent)))
  )
  const byId = new Map(all.map((agent) => [agent.id, agent]))
  const models = target.type === "model" ? yield* agentsOfModel(storage, target.id) : new Set<string>()
  const unitsBefore = target.type === "org_unit" ? yield* formerUnits(storage) : noFormerUnits
  return all.filter(({ body, id }) => {
    const ancestors =
      body.parentAgentId === undefined ? [] : ancestorsOf(id, (one) => byId.get(one)?.body.parentAgentId)
    return (
      reaches(target, agentReach(id, body, ancestors, models.has(id) ? [target.id] : [], unitsBefore(body.orgUnit))) !==
      null
    )
  })
})

/** Agents whose provenance names a model. */
const agentsOfModel = Effect.fnUntraced(function* (storage: StorageApi, model: string) {
  const found = new Set<string>()
  yield* Stream.runForEach(documentPages(storage, PROVENANCE), (page) =>
    Effect.sync(() => {
      for (const { body } of page) if (modelNames(body).includes(model)) found.add(String(body["agentId"]))
    })
  )
  return found
})
