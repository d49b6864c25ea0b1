/** Lists evaluations of one agent or of all, newest first. Spec: api.md, GET /bound/evaluations. */
import { DEFAULT_PAGE, type Evaluation, type EvaluationListQuery, type InvalidInput } from "@flyball/contract"
import { readRecord } from "@flyball/evidence"
import type { JsonMap } from "@flyball/rules"
import { Effect } from "effect"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import { agentInScope } from "../../registry/agents/read-agent.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi, StoredPart, StoredRecord } from "../../storage/port.ts"
import { continueBefore } from "../continue-before.ts"
import type { EvaluationRecord } from "./evaluation-out.ts"

/** Bounds on the cost of one page, for a chain of any length. */
export interface PageBounds {
  /** Records of the agent that one page reads. */
  readonly records: number
  /** Bytes of parts after which a page ends. A signals part alone may have 64 KiB. */
  readonly partBytes: number
}

const bounds: PageBounds = { records: 20_000, partBytes: 8 * 1024 * 1024 }

/** Records read at a time, and evaluations whose parts are read at a time. */
const RECORDS = 500
const PARTS = 50

/**
 * A lister over one store. It reads along the index of an agent's records that every store has, without a filter by
 * kind: a store would apply that filter row by row, and one read would then cost as much as the agent has records.
 */
export const evaluationLister = (
  storage: StorageApi,
  show: (record: EvaluationRecord) => Effect.Effect<Evaluation, ReadFault>,
  { partBytes, records }: PageBounds = bounds
) => {
  /** The records of one page, and the position that is left where the bound ended it. */
  const matching = Effect.fnUntraced(function* (query: EvaluationListQuery, scope: Scope) {
    const { agent_id: agentId, before, limit = DEFAULT_PAGE } = query
    const along = agentId === undefined ? { kinds: ["evaluation.made"] } : { agentId }
    const isReadable = agentInScope(storage, scope)
    const since = query.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(query.since)
    const found: Array<Found> = []
    let to = (before ?? Number.MAX_SAFE_INTEGER) - 1
    for (let left = records; to >= 0 && left > 0;) {
      const size = Math.min(RECORDS, left)
      const page = yield* storage.records({ ...along, order: "desc", to, limit: size })
      for (const record of page) {
        // Times never decrease along the chain: what follows is older still.
        if (record.atMs < since) return { found, next: null }
        if (record.kind !== "evaluation.made") continue
        const read = readRecord(record.bytes)
        if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${read.code})` })
        const body = read.record.body as JsonMap
        if (matches(query, body) && (agentId !== undefined || (yield* isReadable(record.agentId))))
          found.push({ record, body })
        if (found.length === limit) return { found, next: null }
      }
      if (page.length < size) return { found, next: null }
      left -= size
      to = page.at(-1)!.seq - 1
      yield* Effect.yieldNow
    }
    return { found, next: to < 0 ? null : to + 1 }
  })

  return Effect.fnUntraced(function* (
    query: EvaluationListQuery,
    scope: Scope = everyUnit
  ): Effect.fn.Return<ReadonlyArray<Evaluation>, InvalidInput | ReadFault> {
    const { found, next } = yield* matching(query, scope)
    if (found.length === 0 && next !== null)
      return yield* continueBefore("an evaluation", records, { before: query.before, next })
    const shown: Array<Evaluation> = []
    let bytes = 0
    for (let from = 0; from < found.length && bytes < partBytes; from += PARTS) {
      const slice = found.slice(from, from + PARTS)
      const parts = yield* storage.parts(slice.map(({ record }) => record.seq))
      for (const { body, record } of slice) {
        const own = parts.filter(({ seq }) => seq === record.seq)
        for (const { bytes: part } of own) bytes += part?.length ?? 0
        shown.push(yield* show({ seq: record.seq, hash: record.hash, atMs: record.atMs, body, parts: leftOf(own) }))
      }
      yield* Effect.yieldNow
    }
    return shown
  })
}

interface Found {
  readonly record: StoredRecord
  readonly body: JsonMap
}

const leftOf = (parts: ReadonlyArray<StoredPart>): ReadonlyMap<string, Uint8Array> =>
  new Map(parts.flatMap(({ bytes, name }) => (bytes === null ? [] : [[name, bytes]])))

const matches = ({ outcome, rule }: EvaluationListQuery, body: JsonMap): boolean =>
  (outcome === undefined || body["outcome"] === outcome) && (rule === undefined || body["matched_rule"] === rule)
