/** The surroundings that lint gets, read from the store. */
import { readRecord } from "@flyball/evidence"
import { GUARDED_TIER } from "@flyball/envelope"
import { Effect, Stream } from "effect"
import type { StoredAgent } from "../../registry/agents/document.ts"
import { storedMapping } from "../../registry/access-mapping/document.ts"
import {
  ACCESS_MAPPING,
  answeringRoles,
  type BreakerDocument,
  BREAKERS,
  hasAttestedDrill,
  isWatching,
  MAPPING_ID
} from "@flyball/rules"
import type { JsonMap } from "@flyball/rules"
import { StorageCorrupt } from "../../storage/faults.ts"
import { documentPages } from "../../storage/document-pages.ts"
import type { Document, ReadFault, StorageApi } from "../../storage/port.ts"
import type { Surroundings } from "./examination/questions.ts"

/** Decisions that are searched for tools, newest first. */
const DECISIONS_SEEN = 1_000

/** Agents up to which breakers are looked up one agent at a time. */
const FEW_AGENTS = 32

/** Tools that are named. */
const MAX_TOOLS = 32

/**
 * The part of the surroundings that only lint reads. `trustsCanonical`: whether a token may have any of our own roles
 * whatever the mapping says.
 */
export const lintSurroundings = Effect.fnUntraced(function* (
  storage: StorageApi,
  agents: ReadonlyArray<StoredAgent>,
  trustsCanonical: boolean
): Effect.fn.Return<Pick<Surroundings, "blastRadii" | "grantable" | "ownerOnly" | "safety" | "toolsSeen">, ReadFault> {
  const radii = new Map<string, JsonMap>()
  for (const {
    body: { blastRadius }
  } of agents)
    if (Object.keys(blastRadius).length > 0) radii.set(JSON.stringify(blastRadius), blastRadius)
  return {
    blastRadii: [...radii.values()],
    ...(yield* reviewersOf(storage, agents, trustsCanonical)),
    safety: yield* safetyOf(storage, agents),
    toolsSeen: yield* toolsSeen(storage, agents)
  }
})

/**
 * The roles that people who answer reviews of these agents can have, each of which counts for every weaker one. A
 * mapping with rules has somebody who is admin everywhere, so these are all that answer reviews at all; without rules
 * a host may give its people roles of its own. `ownerOnly`: those that the mapping gives to the owner's address alone,
 * for each of the agents.
 */
const reviewersOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  agents: ReadonlyArray<StoredAgent>,
  trustsCanonical: boolean
): Effect.fn.Return<Pick<Surroundings, "grantable" | "ownerOnly">, ReadFault> {
  const {
    body: { rules, trustCanonical }
  } = storedMapping(yield* storage.get(ACCESS_MAPPING, MAPPING_ID))
  if (trustsCanonical || trustCanonical) return { grantable: answeringRoles }
  if (rules.length === 0) return { grantable: "any" }
  const ownedBy = ({ body: { orgUnit, ownerEmail } }: StoredAgent): ReadonlyArray<string> =>
    answeringRoles.filter((role) => {
      const grants = rules.filter(
        (rule) =>
          answeringRoles.indexOf(rule.role) <= answeringRoles.indexOf(role) &&
          answeringRoles.includes(rule.role) &&
          (rule.orgUnit === "*" || rule.orgUnit === orgUnit)
      )
      return grants.every(
        ({ claim, value }) => claim === "user_ids" && value.toLowerCase() === ownerEmail?.toLowerCase()
      )
    })
  const [first = [], ...others] = agents.map(ownedBy)
  return { grantable: answeringRoles, ownerOnly: first.filter((role) => others.every((one) => one.includes(role))) }
})

/** Reads what guards the agents at a high tier, without those at their end. */
const safetyOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  agents: ReadonlyArray<StoredAgent>
): Effect.fn.Return<Surroundings["safety"], ReadFault> {
  const { ms } = yield* storage.asOf
  const high = agents.filter(
    ({ body: { autonomyTier, status } }) => status !== "decommissioned" && Number(autonomyTier.slice(1)) >= GUARDED_TIER
  )
  const watched = yield* watchedOf(storage, high)
  return {
    withoutBreaker: high.filter(({ id }) => !watched.has(id)).length,
    withoutDrill: high.filter(({ body }) => !hasAttestedDrill(body, ms)).length
  }
})

/** The agents that a breaker watches. Of few agents each is looked up, of many all breakers are read. */
const watchedOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  agents: ReadonlyArray<StoredAgent>
): Effect.fn.Return<ReadonlySet<string>, ReadFault> {
  const watched = new Set<string>()
  const take = (documents: ReadonlyArray<Document>): void => {
    for (const { body } of documents)
      if (isWatching(body as unknown as BreakerDocument)) watched.add(String(body["agentId"]))
  }
  if (agents.length <= FEW_AGENTS) for (const { id } of agents) take(yield* storage.find(BREAKERS, "agent_id", id))
  else yield* Stream.runForEach(documentPages(storage, BREAKERS), (page) => Effect.sync(() => take(page)))
  return watched
})

const toolsSeen = Effect.fnUntraced(function* (
  storage: StorageApi,
  agents: ReadonlyArray<StoredAgent>
): Effect.fn.Return<ReadonlyArray<string>, ReadFault> {
  if (agents.length === 0) return []
  const ids = new Set(agents.map(({ id }) => id))
  const only = agents.length === 1 ? { agentId: agents[0]!.id } : {}
  const seen = new Set<string>()
  for (const record of yield* storage.records({
    ...only,
    kinds: ["decision.witnessed"],
    order: "desc",
    limit: DECISIONS_SEEN
  })) {
    if (!ids.has(record.agentId ?? "")) continue
    const read = readRecord(record.bytes)
    if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${read.code})` })
    const { action, kind } = read.record.body
    if (kind === "tool_call") seen.add(String(action))
    if (seen.size >= MAX_TOOLS) break
  }
  return [...seen]
})
