/** The surroundings that lint gets, read from the store. */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import type { StoredAgent } from "../../registry/agents/document.ts"
import { storedMapping } from "../../registry/access-mapping/document.ts"
import { ACCESS_MAPPING, answeringRoles, MAPPING_ID } from "@flyball/rules"
import type { JsonMap } from "@flyball/rules"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { Surroundings } from "./examination/questions.ts"

/** Decisions that are searched for tools, newest first. */
const DECISIONS_SEEN = 1_000

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
): Effect.fn.Return<Pick<Surroundings, "blastRadii" | "grantable" | "ownerOnly" | "toolsSeen">, ReadFault> {
  const radii = new Map<string, JsonMap>()
  for (const {
    body: { blastRadius }
  } of agents)
    if (Object.keys(blastRadius).length > 0) radii.set(JSON.stringify(blastRadius), blastRadius)
  return {
    blastRadii: [...radii.values()],
    ...(yield* reviewersOf(storage, agents, trustsCanonical)),
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
