/** Whom a target reaches now: read before an activation, a dry run and a release. */
import { Effect, Stream } from "effect"
import {
  agentReach,
  ancestorsOf,
  type AutonomyTier,
  higherTier,
  type KillTarget,
  noModels,
  PROVENANCE,
  reaches
} from "@flyball/rules"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { documentPages } from "../../storage/document-pages.ts"
import type { ChangeSet, ReadFault, StorageApi } from "../../storage/port.ts"
import { formerUnits, noFormerUnits } from "./former-units.ts"
import { modelNames } from "./kill-reader.ts"
import { modelIdsOf, modelsReader } from "./registered-models.ts"

/** Agents that a target reaches. */
export interface Reached {
  readonly agents: ReadonlyArray<StoredAgent>
  readonly highestTier: AutonomyTier | null
  /** Of the agent that is the target, where it is one: what the highest tier was read from. */
  readonly expects: NonNullable<ChangeSet["expects"]>
}

/** Reads every agent: which of them a target reaches, and at which tier. */
export const reachedBy = Effect.fnUntraced(function* (
  storage: StorageApi,
  target: KillTarget
): Effect.fn.Return<Reached, ReadFault> {
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
  const models = target.type === "model" ? yield* provenanceModels(storage) : null
  const registered =
    models === null
      ? noModels
      : yield* modelsReader(storage)([
          target.id,
          ...all.flatMap(({ body }) => modelIdsOf(body)),
          ...[...models.values()].flat()
        ])
  const unitsBefore = target.type === "org_unit" ? yield* formerUnits(storage) : noFormerUnits
  return all.filter(({ body, id }) => {
    const ancestors =
      body.parentAgentId === undefined ? [] : ancestorsOf(id, (one) => byId.get(one)?.body.parentAgentId)
    return (
      reaches(target, agentReach(id, body, ancestors, models?.get(id) ?? [], registered, unitsBefore(body.orgUnit))) !==
      null
    )
  })
})

/** The models that each agent's provenance names. */
export const provenanceModels = Effect.fnUntraced(function* (storage: StorageApi) {
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
