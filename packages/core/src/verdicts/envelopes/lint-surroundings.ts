/** The surroundings that lint gets, read from the store. */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import type { StoredAgent } from "../../registry/agents/document.ts"
import { storedMapping } from "../../registry/access-mapping/document.ts"
import { ACCESS_MAPPING, MAPPING_ID, strongestFirst } from "@flyball/rules"
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
): Effect.fn.Return<Pick<Surroundings, "blastRadii" | "grantable" | "toolsSeen">, ReadFault> {
  const radii = new Map<string, JsonMap>()
  for (const {
    body: { blastRadius }
  } of agents)
    if (Object.keys(blastRadius).length > 0) radii.set(JSON.stringify(blastRadius), blastRadius)
  return {
    blastRadii: [...radii.values()],
    grantable: trustsCanonical ? "any" : yield* grantable(storage, new Set(agents.map(({ body }) => body.orgUnit))),
    toolsSeen: yield* toolsSeen(storage, agents)
  }
})

/**
 * Our own roles that the mapping gives somebody in one of these org units. Before the first mapping, the first person
 * mapped may get any role.
 */
const grantable = Effect.fnUntraced(function* (
  storage: StorageApi,
  units: ReadonlySet<string | null>
): Effect.fn.Return<ReadonlyArray<string> | "any", ReadFault> {
  const {
    body: { rules, trustCanonical }
  } = storedMapping(yield* storage.get(ACCESS_MAPPING, MAPPING_ID))
  if (rules.length === 0 || trustCanonical) return "any"
  return strongestFirst.filter((role) =>
    rules.some((rule) => rule.role === role && (rule.orgUnit === "*" || units.has(rule.orgUnit)))
  )
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
