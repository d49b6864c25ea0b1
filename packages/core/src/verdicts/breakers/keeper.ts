/**
 * The running windows of breakers in this process.
 *
 * An agent's windows are read from the chain once, from where they begin; from then on every record is folded as it
 * comes, from any process. A reading costs the same however long the chain is. Spec: decision 0044.
 */
import {
  AgentBreakers,
  breakerMetrics,
  carriedStart,
  haltKinds,
  metricOf,
  READ_BACK_MS,
  windowKinds
} from "@flyball/rules"
import { Context, Effect, Layer, Semaphore } from "effect"
import { eachRecord, inTurns } from "../../storage/each-record.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type AsOf, type ReadFault, Storage, type StorageApi, type StoredRecord } from "../../storage/port.ts"
import { firstWithin } from "../evaluations/fold-records.ts"
import { haltSamples, readSample, sampleOf, samplesByAgent } from "./halt-samples.ts"
import { BREAKER_EPOCH, breakersOf, type StoredBreaker } from "./stored-breaker.ts"

/** Records read at a time. */
const PAGE = 1_000
/** Agents whose windows are kept. Above it all are dropped, and read again when they are needed. */
const MAX_AGENTS = 50_000
/** Records behind which windows are read again, each agent by itself, instead of all records one after the other. */
const MAX_BEHIND = 100_000
/** A window that holds no more records than this is read from its begin. */
const SHORT = 2_000

/** Kinds that a window may be made of, and those of breakers. */
export const watchedKinds: ReadonlyArray<string> = [
  ...new Set([...windowKinds, "breaker.tripped", ...breakerMetrics.flatMap(({ kinds }) => kinds)])
].toSorted()
/** The kinds of records that name their agent. */
const ownKinds = watchedKinds.filter((kind) => !haltKinds.includes(kind))
const signKinds = metricOf("heartbeat_missing")!.kinds

/** Hands a record to windows. */
const take = (watched: AgentBreakers, record: StoredRecord): Effect.Effect<never, StorageCorrupt> | undefined => {
  const sample = readSample(record)
  if (sample instanceof StorageCorrupt) return Effect.fail(sample)
  watched.take(sample)
}

/** The windows of one store. One for each service. */
export const breakerKeeper = (storage: StorageApi) => {
  const turn = Semaphore.makeUnsafe(1)
  let agents = new Map<string, AgentBreakers>()
  /** Agents that had no breaker at `epoch`. */
  let without = new Set<string>()
  let epoch = -1
  /** The last record that all windows hold. */
  let folded = -1

  const takeHalt = Effect.fnUntraced(function* (record: StoredRecord) {
    for (const [agentId, sample] of yield* samplesByAgent(storage, yield* sampleOf(record)))
      agents.get(agentId)?.take(sample)
  })

  /** Folds everything that was recorded up to a position. */
  const catchUp = Effect.fnUntraced(function* (to: number): Effect.fn.Return<void, ReadFault> {
    if (to <= folded) return
    if (agents.size === 0 || to - folded > MAX_BEHIND) {
      agents = new Map()
      folded = to
      return
    }
    while (folded < to) {
      const page = yield* storage.records({ from: folded + 1, kinds: watchedKinds, limit: PAGE })
      yield* inTurns(page, (record) => {
        // Counted one by one: a page may end in the middle, at a fault or an interrupt, and is read again from there.
        const taken = (): void => void (folded = record.seq)
        if (haltKinds.includes(record.kind)) return Effect.map(takeHalt(record), taken)
        const watched = record.agentId === null ? undefined : agents.get(record.agentId)
        const failed = watched === undefined ? undefined : take(watched, record)
        if (failed === undefined) taken()
        return failed
      })
      if (page.length < PAGE) folded = Math.max(to, folded)
    }
  })

  /** Where the window of a breaker begins. */
  const startOf = Effect.fnUntraced(function* ({ body, id }: StoredBreaker) {
    for (let from = body.sinceSeq + 1; ;) {
      const page = yield* storage.records({ agentId: body.agentId, from, kinds: windowKinds, limit: 100 })
      for (const record of page)
        if ((yield* sampleOf(record)).body["breaker_id"] === id) return { seq: record.seq, atMs: record.atMs }
      if (page.length < 100) break
      from = page.at(-1)!.seq + 1
    }
    return carriedStart
  })

  /** Reads the windows of an agent, up to what is folded; null where it has no breaker. */
  const load = Effect.fnUntraced(function* (
    agentId: string,
    nowMs: number
  ): Effect.fn.Return<AgentBreakers | null, ReadFault> {
    const watched = new AgentBreakers()
    const breakers = yield* breakersOf(storage, agentId)
    if (breakers.length === 0) return null
    const starts = yield* Effect.forEach(breakers, startOf)
    const last = Math.max(...starts.map(({ seq }) => seq))
    if (last > folded) {
      // The documents are newer than what is folded: what lies between is not about this agent yet.
      yield* catchUp(last)
      return yield* load(agentId, nowMs)
    }
    let from = folded + 1
    for (const [index, { body, id }] of breakers.entries()) {
      const start = starts[index]!
      watched.put(id, body, start)
      const reachMs = (metricOf(body.metric)?.reachMs(body.params) ?? 0) + READ_BACK_MS
      const begin =
        folded - start.seq <= SHORT
          ? start.seq + 1
          : Math.max(start.seq + 1, yield* firstWithin(storage, { ms: nowMs, seq: folded }, reachMs))
      from = Math.min(from, begin)
    }
    // Silence is counted from the last sign of life, however long ago that was.
    const [sign] =
      from === 0 ? [] : yield* storage.records({ agentId, to: from - 1, kinds: signKinds, order: "desc", limit: 1 })
    // Halts are few: all that reach into the window are read before its other records.
    const halts = breakers.some(({ body }) => metricOf(body.metric)?.kinds.includes("kill.expected"))
      ? yield* haltSamples(storage, agentId, from, folded)
      : []
    const earlier = [...(sign === undefined ? [] : [yield* sampleOf(sign)]), ...halts.filter(({ seq }) => seq < from)]
    for (const sample of earlier.toSorted((a, b) => a.seq - b.seq)) watched.take(sample)
    const later = halts.filter(({ seq }) => seq >= from)
    const takeHaltsTo = (seq: number): void => {
      while (later.length > 0 && later[0]!.seq <= seq) watched.take(later.shift()!)
    }
    yield* eachRecord(storage, { agentId, from, to: folded, kinds: ownKinds }, (record) => {
      takeHaltsTo(record.seq)
      // What the documents say of breakers is as new as any record up to here.
      return record.kind.startsWith("breaker.") ? undefined : take(watched, record)
    })
    takeHaltsTo(folded)
    if (agents.size >= MAX_AGENTS) agents = new Map()
    agents.set(agentId, watched)
    return watched
  })

  const versionNow = Effect.map(
    storage.get(BREAKER_EPOCH.collection, BREAKER_EPOCH.id),
    (document) => document?.version ?? 0
  )

  return {
    /** Changes with every breaker that is armed, changed or released; 0 while there was none. */
    version: versionNow,
    /**
     * The breakers of an agent with windows that hold all records up to `asOf` at least; null where it has none. Read
     * `asOf` before: then every breaker that was armed up to there is known. `known`: the version, where the caller has
     * just read it.
     */
    of: Effect.fnUntraced(function* (
      agentId: string,
      asOf: AsOf,
      known: number | null = null
    ): Effect.fn.Return<AgentBreakers | null, ReadFault> {
      const version = known ?? (yield* versionNow)
      if (version === 0) return null
      if (version === epoch && without.has(agentId)) return null
      return yield* turn.withPermits(1)(
        Effect.gen(function* () {
          yield* catchUp(asOf.seq)
          const kept = agents.get(agentId)
          if (kept !== undefined) return kept
          if (version !== epoch) {
            epoch = version
            without = new Set()
          }
          const loaded = yield* load(agentId, asOf.ms)
          if (loaded !== null) return loaded
          if (without.size >= MAX_AGENTS) without = new Set()
          without.add(agentId)
          return null
        })
      )
    }),
    /** Lets go of an agent's windows: what is stored of its breakers is not what they hold. */
    forget: (agentId: string): void => void agents.delete(agentId)
  }
}

/** The running windows of breakers. */
export type BreakerKeeper = ReturnType<typeof breakerKeeper>

/** The windows that everything in one governor shares. Spec: format 1 section 10; decision 0044. */
export class BreakerWindows extends Context.Service<BreakerWindows, BreakerKeeper>()("flyball/core/BreakerWindows") {
  static readonly layer: Layer.Layer<BreakerWindows, never, Storage> = Layer.effect(
    BreakerWindows,
    Effect.map(Storage, breakerKeeper)
  )
}
