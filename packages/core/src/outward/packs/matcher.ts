/** Which records belong to a pack. */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import type { ReadFault, StorageApi, StoredRecord } from "../../storage/port.ts"
import type { PackSpec } from "./document.ts"

/**
 * Reports whether a record belongs to the pack.
 *
 * A run's records are its decisions, their outcomes and the erasures of their parts: the last two name a decision by
 * its seq, not the run.
 */
export type Matcher = (record: StoredRecord) => Effect.Effect<boolean, ReadFault>

/** The matcher of a pack. */
export const packMatcher = (storage: StorageApi, spec: PackSpec): Matcher => {
  const kinds = spec.kinds === null ? null : new Set(spec.kinds)
  const agents = spec.agentIds === null ? null : new Set(spec.agentIds)
  const inRun = runMatcher(storage, spec.runId)
  return (record) => {
    if (record.seq < spec.from || record.seq > spec.to) return no
    if (kinds !== null && !kinds.has(record.kind)) return no
    if (spec.agentId !== null && record.agentId !== spec.agentId) return no
    if (agents !== null && (record.agentId === null || !agents.has(record.agentId))) return no
    if (spec.sinceMs !== null && record.atMs < spec.sinceMs) return no
    if (spec.untilMs !== null && record.atMs >= spec.untilMs) return no
    return inRun(record)
  }
}

/** Longest way from a record to the decision it is about: an erasure names an outcome, which names a decision. */
const MAX_HOPS = 3

const runMatcher = (storage: StorageApi, runId: string | null): Matcher => {
  if (runId === null) return () => yes
  const follow = (record: StoredRecord, hops: number): Effect.Effect<boolean, ReadFault> => {
    const read = readRecord(record.bytes)
    if (!read.ok) return no
    const { body, kind } = read.record
    if (typeof body["run_id"] === "string") return Effect.succeed(body["run_id"] === runId)
    const about = kind === "decision.settled" ? body["decision_seq"] : kind === "part.erased" ? body["seq"] : null
    if (typeof about !== "number" || about < 0 || about >= record.seq || hops === 0) return no
    return Effect.flatMap(storage.record(about), (target) => (target === null ? no : follow(target, hops - 1)))
  }
  return (record) => follow(record, MAX_HOPS)
}

const yes = Effect.succeed(true)
const no = Effect.succeed(false)
