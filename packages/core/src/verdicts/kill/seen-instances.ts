/** Reads which instances of agents were seen before an activation: those that it expects to hear from. */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { type KillInstance, SEEN_MS } from "@flyball/rules"
import type { ReadFault, RecordQuery, StorageApi } from "../../storage/port.ts"

/** Newest records that are read for it: an activation must not wait for a busy hour to be read. */
export const MAX_SEEN_RECORDS = 20_000

/** Agents up to which each is read by itself. Of more, the records of all agents are read together. */
const FEW_AGENTS = 16

/** Records read at a time: between two pages others use the event loop. */
const PAGE = 250

/** The instances that were seen. */
export interface Seen {
  readonly instances: ReadonlyArray<KillInstance>
  /** Records of the hour were left out: instances that only those name are missing. */
  readonly isCut: boolean
}

/**
 * The instances that records of these agents up to `toSeq` name, of the hour before `beforeMs`, in the order of agents
 * and instances. An instance that ended is none, unless it acted again.
 *
 * - Spec: format 1 section 8, `kill.expected`.
 */
export const seenInstances = Effect.fnUntraced(function* (
  storage: StorageApi,
  agents: ReadonlySet<string>,
  { beforeMs, toSeq }: { readonly beforeMs: number; readonly toSeq: number }
): Effect.fn.Return<Seen, ReadFault> {
  const found = new Map<string, KillInstance>()
  const each = agents.size === 0 ? [] : agents.size <= FEW_AGENTS ? [...agents].map((agentId) => ({ agentId })) : [{}]
  const most = Math.floor(MAX_SEEN_RECORDS / Math.max(1, each.length))
  let isCut = false
  for (const about of each) {
    const isWhole = yield* readNewest(storage, { ...about, to: toSeq }, agents, beforeMs - SEEN_MS, most, found)
    isCut ||= !isWhole
  }
  return { instances: [...found.keys()].toSorted().map((key) => found.get(key)!), isCut }
})

/** Answers whether every record of the time was read. */
const readNewest = Effect.fnUntraced(function* (
  storage: StorageApi,
  about: Pick<RecordQuery, "agentId"> & { readonly to: number },
  agents: ReadonlySet<string>,
  sinceMs: number,
  most: number,
  found: Map<string, KillInstance>
): Effect.fn.Return<boolean, ReadFault> {
  let { to } = about
  const ended = new Set<string>()
  for (let left = most; left > 0 && to >= 0;) {
    const limit = Math.min(PAGE, left)
    const page = yield* storage.records({
      ...about,
      kinds: ["decision.witnessed", "evaluation.made", "instance.ended"],
      order: "desc",
      limit,
      to
    })
    for (const { agentId, atMs, bytes, kind } of page) {
      if (atMs < sinceMs) return true
      if (agentId === null || !agents.has(agentId)) continue
      const read = readRecord(bytes)
      const instanceId = read.ok ? read.record.body["instance_id"] : undefined
      if (typeof instanceId !== "string") continue
      const key = `${agentId} ${instanceId}`
      // The newest comes first.
      if (kind !== "instance.ended") {
        if (!ended.has(key)) found.set(key, { agentId, instanceId })
      } else if (!found.has(key)) ended.add(key)
    }
    if (page.length < limit) return true
    left -= page.length
    to = page.at(-1)!.seq - 1
  }
  return to < 0
})
