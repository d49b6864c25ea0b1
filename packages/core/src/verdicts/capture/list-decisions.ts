/** Reads an agent's decisions, each with its outcome where it was settled: one, or a list, newest first. */
import { type DecisionListQuery, type DecisionOut, DEFAULT_PAGE, type InvalidInput } from "@flyball/contract"
import { decisionId, readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi, StoredRecord } from "../../storage/port.ts"
import { continueBefore } from "../continue-before.ts"
import { decisionOut, type ReadDecision } from "./decision-out.ts"
import { SETTLE_SCOPE } from "./plan-settle.ts"

/** Records read at a time: a page that is filtered away costs one read, and memory holds one page. */
const PAGE = 500

/** Settlements read at once: they lie anywhere in the chain, one read each. */
const AT_ONCE = 16

/** Decisions that one page reads at most, for an agent of any number: no index has their runs and actions. */
const MOST_READ = 20_000

/** Reads of one store. `mostRead`: decisions that one page reads. */
export const decisionReads = (storage: StorageApi, originTag: Uint8Array, mostRead = MOST_READ) => {
  const read = (record: StoredRecord) => {
    const view = readRecord(record.bytes)
    return view.ok
      ? Effect.succeed({ record, view: view.record } satisfies ReadDecision)
      : Effect.fail(new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${view.code})` }))
  }

  const idOf = ({ record }: ReadDecision): string => decisionId(record.atMs, record.seq, originTag)

  /** The decisions of one page; refuses an empty page that its bound ended. */
  const matching = Effect.fnUntraced(function* (
    agentId: string,
    query: DecisionListQuery
  ): Effect.fn.Return<ReadonlyArray<ReadDecision>, InvalidInput | ReadFault> {
    const { before, limit = DEFAULT_PAGE } = query
    const isFiltered = query.run_id !== undefined || query.action !== undefined
    const size = isFiltered ? PAGE : Math.min(limit, PAGE)
    const found: Array<ReadDecision> = []
    let to = (before ?? Number.MAX_SAFE_INTEGER) - 1
    let seen = 0
    while (to >= 0 && seen < mostRead) {
      const page = yield* storage.records({ agentId, kinds: ["decision.witnessed"], order: "desc", to, limit: size })
      for (const record of page) {
        const decision = yield* read(record)
        if (matches(query, decision)) found.push(decision)
        if (found.length === limit) return found
      }
      if (page.length < size) return found
      seen += size
      to = page.at(-1)!.seq - 1
      yield* Effect.yieldNow
    }
    return found.length === 0 && to >= 0 ? yield* continueBefore("a decision", seen, { before, next: to + 1 }) : found
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

  const shown = Effect.fnUntraced(function* (decisions: ReadonlyArray<ReadDecision>) {
    if (decisions.length === 0) return [] as ReadonlyArray<DecisionOut>
    const settled = yield* settlements(decisions)
    return decisions.map((decision) => decisionOut(idOf(decision), decision, settled.get(idOf(decision)) ?? null))
  })

  return {
    list: (agentId: string, query: DecisionListQuery) => Effect.flatMap(matching(agentId, query), shown),
    /** The decision at a seq, which is there. */
    at: Effect.fnUntraced(function* (seq: number): Effect.fn.Return<DecisionOut, ReadFault> {
      const record = yield* storage.record(seq)
      if (record === null) return yield* new StorageCorrupt({ reason: `the decision at seq ${seq} is missing` })
      return (yield* shown([yield* read(record)]))[0]!
    })
  }
}

const matches = (query: DecisionListQuery, { view }: ReadDecision): boolean =>
  (query.run_id === undefined || view.body["run_id"] === query.run_id) &&
  (query.action === undefined || view.body["action"] === query.action)
