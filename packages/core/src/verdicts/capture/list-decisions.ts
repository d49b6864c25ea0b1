/** Lists an agent's decisions, newest first, each with its outcome where it was settled. */
import { type DecisionListQuery, type DecisionOut, DEFAULT_PAGE } from "@flyball/contract"
import { decisionId, readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { StorageApi, StoredRecord } from "../../storage/port.ts"
import { decisionOut, type ReadDecision } from "./decision-out.ts"
import { SETTLE_SCOPE } from "./plan-settle.ts"

/** Records read at a time: a page that is filtered away costs one read, and memory holds one page. */
const PAGE = 500

/** Settlements read at once: they lie anywhere in the chain, one read each. */
const AT_ONCE = 16

/** A lister over one store. */
export const decisionLister = (storage: StorageApi, originTag: Uint8Array) => {
  const read = (record: StoredRecord) => {
    const view = readRecord(record.bytes)
    return view.ok
      ? Effect.succeed({ record, view: view.record } satisfies ReadDecision)
      : Effect.fail(new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${view.code})` }))
  }

  const idOf = ({ record }: ReadDecision): string => decisionId(record.atMs, record.seq, originTag)

  const matching = Effect.fnUntraced(function* (agentId: string, query: DecisionListQuery) {
    const limit = query.limit ?? DEFAULT_PAGE
    const found: Array<ReadDecision> = []
    for (let to = (query.before ?? Number.MAX_SAFE_INTEGER) - 1; to >= 0 && found.length < limit;) {
      const page = yield* storage.records({ agentId, kinds: ["decision.witnessed"], order: "desc", to, limit: PAGE })
      for (const record of page) {
        const decision = yield* read(record)
        if (found.length < limit && matches(query, decision)) found.push(decision)
      }
      if (page.length < PAGE) break
      to = page.at(-1)!.seq - 1
    }
    return found
  })

  const settlements = Effect.fnUntraced(function* (decisions: ReadonlyArray<ReadDecision>) {
    const settled = yield* storage.once(SETTLE_SCOPE, decisions.map(idOf))
    const pairs = yield* Effect.forEach(
      settled,
      Effect.fnUntraced(function* ({ key, seq }) {
        const record = yield* storage.record(seq)
        if (record === null) return yield* new StorageCorrupt({ reason: `the settlement at seq ${seq} is missing` })
        return [key, yield* read(record)] as const
      }),
      { concurrency: AT_ONCE }
    )
    return new Map(pairs)
  })

  return Effect.fnUntraced(function* (agentId: string, query: DecisionListQuery) {
    const decisions = yield* matching(agentId, query)
    if (decisions.length === 0) return [] as ReadonlyArray<DecisionOut>
    const settled = yield* settlements(decisions)
    return decisions.map((decision) => decisionOut(idOf(decision), decision, settled.get(idOf(decision)) ?? null))
  })
}

const matches = (query: DecisionListQuery, { view }: ReadDecision): boolean =>
  (query.run_id === undefined || view.body["run_id"] === query.run_id) &&
  (query.action === undefined || view.body["action"] === query.action)
