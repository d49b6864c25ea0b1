/**
 * The breakers of one agent with their running windows: what the service keeps in memory, and what the verifier keeps
 * while it reads a chain. Both fold records in order and read values as of a position.
 */
import { type BreakerDocument, isWatching, windowKinds } from "./document.ts"
import { breakerAfter } from "./fold.ts"
import type { AgentFacts, MetricFold, MetricRecord, ReadAt, Reading, WindowStart } from "./metric.ts"
import { metricOf } from "./metrics.ts"

/** One breaker and its window. */
interface Watched {
  document: BreakerDocument
  start: WindowStart
  /** The kinds that the metric reads: its fold is given no other. */
  readonly kinds: ReadonlyArray<string>
  /** Null where this version does not know the metric. */
  fold: MetricFold | null
}

/** A breaker that trips, with its reading. Spec: format 1 section 10; decision 0044. */
export interface DueBreaker {
  readonly breakerId: string
  readonly breaker: BreakerDocument
  readonly reading: Reading
}

/**
 * Readings lie at most this long before the last record: the verifier reads as of records' own times. Spec: decision
 * 0044.
 */
export const READ_BACK_MS = 360_000

/**
 * Where the window of a breaker begins that was armed in a chain before this one: with this chain. Silence and the age
 * of an orphan count from no time before: what was in the earlier chain is not read. Spec: format 1 section 10;
 * decision 0010.
 */
export const carriedStart: WindowStart = { seq: -1, atMs: Number.MAX_SAFE_INTEGER }

/** Number of records between two cleanups of past samples. */
const FORGET_EVERY = 256

/** Reads the breakers of one agent. Spec: format 1 section 10; decision 0044. */
export class AgentBreakers {
  readonly #watched = new Map<string, Watched>()
  #sinceForgotten = 0

  /** A breaker as the records say it; null where there is none of this id. */
  documentOf(id: string): BreakerDocument | null {
    return this.#watched.get(id)?.document ?? null
  }

  /** Begins with a breaker whose records before `start` are not given. */
  put(id: string, document: BreakerDocument, start: WindowStart): void {
    const kinds = metricOf(document.metric)?.kinds ?? []
    this.#watched.set(id, { document, start, kinds, fold: foldOf(document, start) })
  }

  /** Where the window of a breaker begins; null where there is no such breaker. */
  startOf(id: string): WindowStart | null {
    return this.#watched.get(id)?.start ?? null
  }

  /** Begins every window again, with a chain that follows another: seqs restart with each. */
  restart(): void {
    for (const [id, { document }] of this.#watched) this.put(id, document, carriedStart)
  }

  /** Takes the agent's next record: one of a breaker, or a sample. */
  take(record: MetricRecord): void {
    if (record.kind.startsWith("breaker.")) return this.#fold(record)
    // Records of other kinds may have members of the same names.
    for (const { fold, kinds, start } of this.#watched.values())
      if (record.seq > start.seq && kinds.includes(record.kind)) fold?.add(record)
    if (++this.#sinceForgotten < FORGET_EVERY) return
    this.#sinceForgotten = 0
    for (const { fold } of this.#watched.values()) fold?.forget(record.atMs - READ_BACK_MS)
  }

  /** The reading of a breaker; null where its window begins later, or this version does not know its metric. */
  read(id: string, at: ReadAt, facts: AgentFacts): Reading | null {
    const one = this.#watched.get(id)
    return one === undefined || one.fold === null || one.start.seq > at.seq ? null : one.fold.read(at, facts)
  }

  /** Breakers that trip, in the order of their ids. */
  due(at: ReadAt, facts: AgentFacts): ReadonlyArray<DueBreaker> {
    const due: Array<DueBreaker> = []
    for (const [breakerId, { document: breaker }] of this.#watched) {
      const reading = isWatching(breaker) ? this.read(breakerId, at, facts) : null
      if (reading?.tripped === true) due.push({ breakerId, breaker, reading })
    }
    return due.toSorted((a, b) => (a.breakerId < b.breakerId ? -1 : 1))
  }

  #fold({ atMs, body, kind, seq }: MetricRecord): void {
    const id = String(body["breaker_id"])
    const known = this.#watched.get(id)
    // A breaker whose arming is not given cannot be watched before a record says all of it again.
    if (known === undefined && kind !== "breaker.armed" && kind !== "breaker.changed") return
    const document = breakerAfter(known?.document ?? null, { body, kind })
    if (windowKinds.includes(kind)) return this.put(id, document, { seq, atMs })
    known!.document = document
  }
}

const foldOf = ({ confidenceBp, metric, params }: BreakerDocument, start: WindowStart): MetricFold | null =>
  metricOf(metric)?.start(params, start, confidenceBp) ?? null
