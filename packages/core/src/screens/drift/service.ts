/** Behaviour change of agents. Spec: document 1 section 4, GET /behavior/agents/{agent_id}/change; decision 0073. */
import { type AgentNotFound, type BehaviorChange, type ChangeQuery, detailItem, InvalidInput } from "@flyball/contract"
import { decisionId, readRecord, toHex } from "@flyball/evidence"
import {
  type Annotation,
  annotationKinds,
  type DriftDecision,
  driftDecision,
  type JsonMap,
  MAX_ANNOTATIONS
} from "@flyball/rules"
import { Context, Effect, Layer } from "effect"
import { Chain } from "../../chain/chain.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { inTurns, type Take } from "../../storage/each-record.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type ReadFault, Storage, type StorageApi, type StoredRecord } from "../../storage/port.ts"
import { SETTLE_SCOPE } from "../../verdicts/capture/plan-settle.ts"
import { Examiner } from "../../verdicts/envelopes/examination/examiner.ts"

/** Operations on behaviour. Agents outside `scope` are answered as not found. Spec: decision 0073. */
export interface BehaviorApi {
  /**
   * Compares the last window of decisions with the window before it. It reads these decisions, their settlements and
   * the records that may explain a change, however long the chain is.
   *
   * - Fails: `InvalidInput` where two windows are more than `lookback`.
   */
  readonly change: (
    agentId: string,
    query: ChangeQuery,
    scope?: Scope
  ) => Effect.Effect<BehaviorChange, AgentNotFound | InvalidInput | ReadFault>
}

/** Decisions read where a query names no number. */
const LOOKBACK = 200
/** Records read at a time. */
const PAGE = 1_000
/** Settlements read at once where they lie far apart: one read each. */
const AT_ONCE = 16

/** Service of behaviour. Spec: document 1 section 4, GET /behavior/agents/{agent_id}/change; decision 0073. */
export class Behavior extends Context.Service<Behavior, BehaviorApi>()("flyball/core/Behavior") {
  static readonly layer: Layer.Layer<Behavior, never, Chain | Storage> = Layer.effect(
    Behavior,
    Effect.gen(function* () {
      const storage = yield* Storage
      const examiner = yield* Examiner
      const { originTag } = yield* Chain
      return Behavior.of({
        change: Effect.fnUntraced(function* (agentId, query, scope = everyUnit) {
          const { lookback = LOOKBACK } = query
          const window = query.window ?? Math.floor(lookback / 2)
          if (2 * window > lookback) return yield* tooLong(window, lookback)
          yield* readAgent(storage, agentId, scope)
          const { seq: asOfSeq } = yield* storage.asOf
          const decisions = yield* readDecisions(storage, originTag, { agentId, lookback, asOfSeq })
          const annotations = yield* readAnnotations(storage, agentId, decisions.at(-2 * window) ?? null, asOfSeq)
          return yield* examiner.ask("change", { agentId, lookback, window, decisions, asOfSeq, annotations })
        })
      })
    })
  )
}

const tooLong = (window: number, lookback: number) =>
  new InvalidInput({
    detail: [
      detailItem(
        ["query", "window"],
        "value_error",
        `Two windows are ${2 * window} decisions: expected a window of at most half of lookback, which is ${lookback}`,
        window
      )
    ]
  })

/** The newest decisions of an agent with their settlements up to a record, oldest first. */
const readDecisions = Effect.fnUntraced(function* (
  storage: StorageApi,
  originTag: Uint8Array,
  { agentId, asOfSeq, lookback }: { readonly agentId: string; readonly asOfSeq: number; readonly lookback: number }
): Effect.fn.Return<ReadonlyArray<DriftDecision>, ReadFault> {
  const records: Array<StoredRecord> = []
  for (let to = asOfSeq; records.length < lookback && to >= 0;) {
    const limit = Math.min(PAGE, lookback - records.length)
    const page = yield* storage.records({ agentId, kinds: ["decision.witnessed"], order: "desc", to, limit })
    records.push(...page)
    if (page.length < limit) break
    to = page.at(-1)!.seq - 1
  }
  records.reverse()
  const idOf = ({ atMs, seq }: StoredRecord): string => decisionId(atMs, seq, originTag)
  const settled = new Map<string, JsonMap>()
  const places = new Map<number, string>()
  for (let from = 0; from < records.length; from += PAGE)
    for (const { key, seq } of yield* storage.once(SETTLE_SCOPE, records.slice(from, from + PAGE).map(idOf)))
      if (seq <= asOfSeq) places.set(seq, key)
  yield* eachSettlement(
    storage,
    agentId,
    [...places.keys()].toSorted((a, b) => a - b),
    (record) => {
      const body = bodyOf(record)
      if (body instanceof StorageCorrupt) return Effect.fail(body)
      settled.set(places.get(record.seq)!, body)
    }
  )
  const decisions: Array<DriftDecision> = []
  yield* inTurns(records, (record) => {
    const body = bodyOf(record)
    if (body instanceof StorageCorrupt) return Effect.fail(body)
    const { hash, seq } = record
    decisions.push(driftDecision({ seq, hash: toHex(hash), body }, settled.get(idOf(record)) ?? null))
  })
  return decisions
})

/**
 * Hands on the settlements of an agent at these places, ascending: page by page where they lie close together, else one
 * by one. Between them may be any number of settlements of other decisions.
 */
const eachSettlement = Effect.fnUntraced(function* (
  storage: StorageApi,
  agentId: string,
  seqs: ReadonlyArray<number>,
  take: Take<StoredRecord, StorageCorrupt>
): Effect.fn.Return<void, ReadFault> {
  const wanted = new Set(seqs)
  for (let isClose = true; isClose && wanted.size > 0;) {
    const [from] = wanted
    const range = { from: from!, to: seqs.at(-1)!, limit: Math.min(PAGE, wanted.size) }
    const page = yield* storage.records({ agentId, kinds: ["decision.settled"], ...range })
    const found = page.filter(({ seq }) => wanted.delete(seq))
    yield* inTurns(found, take)
    isClose = 2 * found.length >= range.limit
  }
  yield* Effect.forEach(
    wanted,
    Effect.fnUntraced(function* (seq) {
      const record = yield* storage.record(seq)
      if (record === null) return yield* new StorageCorrupt({ reason: `the settlement at seq ${seq} is missing` })
      yield* take(record) ?? Effect.void
    }),
    { concurrency: AT_ONCE, discard: true }
  )
})

/** Records of an agent, from the first decision of both windows on, that may explain a change. */
const readAnnotations = (
  storage: StorageApi,
  agentId: string,
  first: DriftDecision | null,
  asOfSeq: number
): Effect.Effect<ReadonlyArray<Annotation>, ReadFault> =>
  first === null
    ? Effect.succeed([])
    : Effect.map(
        storage.records({ agentId, kinds: annotationKinds, from: first.seq, to: asOfSeq, limit: MAX_ANNOTATIONS }),
        (records) => records.map(({ kind, seq }) => ({ seq, kind }))
      )

const bodyOf = (record: StoredRecord): JsonMap | StorageCorrupt => {
  const read = readRecord(record.bytes)
  return read.ok
    ? (read.record.body as JsonMap)
    : new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${read.code})` })
}
