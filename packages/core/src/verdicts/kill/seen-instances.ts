/** Which instances of agents were seen lately: those that an activation expects to hear from. */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import type { KillInstance } from "@flyball/rules"
import type { ReadFault, RecordQuery, StorageApi } from "../../storage/port.ts"

/** How long before an activation an instance counts as running. Unit: milliseconds. */
export const SEEN_MS = 3_600_000

/**
 * Newest records that are read for it. An activation must not wait for a busy hour to be read: who was not seen among
 * these is not expected.
 */
export const MAX_SEEN_RECORDS = 20_000

/** Agents up to which each is read by itself. Of more, the records of all agents are read together. */
const FEW_AGENTS = 16

const PAGE = 1_000

/**
 * The instances that records of these agents name, of the hour before `nowMs`, in the order of their names.
 *
 * - Spec: issue "stop an agent": decisions and evaluations may carry `instance_id`.
 */
export const seenInstances = Effect.fnUntraced(function* (
  storage: StorageApi,
  agents: ReadonlySet<string>,
  nowMs: number
): Effect.fn.Return<ReadonlyArray<KillInstance>, ReadFault> {
  const found = new Map<string, KillInstance>()
  const sinceMs = nowMs - SEEN_MS
  const each = agents.size <= FEW_AGENTS ? [...agents].map((agentId) => ({ agentId })) : [{}]
  const perQuery = Math.floor(MAX_SEEN_RECORDS / Math.max(1, each.length))
  for (const about of each) yield* readNewest(storage, about, agents, sinceMs, perQuery, found)
  return [...found.keys()].toSorted().map((key) => found.get(key)!)
})

const readNewest = Effect.fnUntraced(function* (
  storage: StorageApi,
  about: Pick<RecordQuery, "agentId">,
  agents: ReadonlySet<string>,
  sinceMs: number,
  most: number,
  found: Map<string, KillInstance>
) {
  let to: number | undefined
  for (let left = most; left > 0;) {
    const page = yield* storage.records({
      ...about,
      kinds: ["decision.witnessed", "evaluation.made"],
      order: "desc",
      limit: Math.min(PAGE, left),
      ...(to === undefined ? {} : { to })
    })
    for (const { agentId, atMs, bytes } of page) {
      if (atMs < sinceMs) return
      if (agentId === null || !agents.has(agentId)) continue
      const read = readRecord(bytes)
      const instanceId = read.ok ? read.record.body["instance_id"] : undefined
      if (typeof instanceId === "string") found.set(`${agentId} ${instanceId}`, { agentId, instanceId })
    }
    const last = page.at(-1)
    if (page.length < Math.min(PAGE, left) || last === undefined || last.seq === 0) return
    left -= page.length
    to = last.seq - 1
  }
})
