/** Decisions that later records count again: fairness screens, calibrated breakers. Bounded; the oldest are dropped. */
import { CALIBRATION_MARGIN, type GoodRuns } from "../breakers/calibration.ts"
import type { MetricRecord } from "../breakers/metric.ts"
import type { ScreenedDecision } from "../fairness/screen-decisions.ts"
import type { JsonMap, PartContent, ReplayRecord } from "../records/record.ts"

/** Most decisions and settlements, and evaluations, that are kept. */
const MAX_KEPT = 100_000
/** Most bytes of labels that are kept. */
const MAX_KEPT_BYTES = 67_108_864

/** A settlement where it has no labels, no erasure and no settlement of its own. */
interface Kept extends MetricRecord {
  readonly labels: PartContent | undefined
  settled: MetricRecord | null
  erasedBy: number | null
}

/** Members of bodies that are kept. */
const members = ["action", "agent_id", "decision_seq", "evaluation_id", "kind", "run_id", "status", "usage"] as const

/** A window of decisions: of these agents, in these records, as of a later one. */
export interface DecisionWindow {
  readonly agentIds: ReadonlySet<string>
  /** Null: of any action. */
  readonly action: string | null
  readonly fromSeq: number
  readonly toSeq: number
  readonly asOfSeq: number
}

/** The decisions of one chain, in order, with their settlements and erasures. */
export class KeptDecisions {
  #kept: Array<Kept> = []
  #first = 0
  #bytes = 0
  /** Seq of the last decision that was dropped; -1 before. */
  #droppedTo = -1
  readonly #evaluations = new Map<string, { readonly seq: number; readonly outcome: string }>()
  #areEvaluationsDropped = false

  /** Takes a decision, a settlement, an evaluation or an erasure. Unit: `atMs`, milliseconds since 1970 UTC. */
  take({ body, kind, parts, seq }: ReplayRecord, atMs: number): void {
    if (kind === "evaluation.made") {
      this.#evaluations.set(String(body["evaluation_id"]), { seq, outcome: String(body["outcome"]) })
      if (this.#evaluations.size <= MAX_KEPT) return
      this.#areEvaluationsDropped = true
      this.#evaluations.delete(this.#evaluations.keys().next().value!)
    } else if (kind === "part.erased") {
      const decision = body["name"] === "labels" ? this.#at(Number(body["seq"])) : null
      if (decision !== null) decision.erasedBy ??= seq
    } else {
      const own: JsonMap = Object.fromEntries(
        members.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]))
      )
      const one: Kept = { seq, atMs, kind, body: own, labels: parts.get("labels"), settled: null, erasedBy: null }
      const decision = kind === "decision.settled" ? this.#at(Number(body["decision_seq"])) : null
      if (decision !== null) decision.settled ??= one
      this.#keep(one)
    }
  }

  /**
   * The decisions of a window as a screen read them; or why they are not known: some are `dropped`, or the labels of
   * one are `hidden`.
   */
  within(window: DecisionWindow): ReadonlyArray<ScreenedDecision> | "dropped" | "hidden" {
    const { action, agentIds, asOfSeq, fromSeq, toSeq } = window
    if (fromSeq <= this.#droppedTo) return "dropped"
    const found: Array<ScreenedDecision> = []
    for (let at = this.#place(fromSeq); at < this.#kept.length; at++) {
      const { body, erasedBy, kind, labels, seq, settled } = this.#kept[at]!
      if (seq > toSeq) break
      if (kind !== "decision.witnessed" || !agentIds.has(String(body["agent_id"]))) continue
      if (action !== null && body["action"] !== action) continue
      const wasErased = labels?.state === "erased" && erasedBy !== null && erasedBy <= asOfSeq
      if (labels !== undefined && labels.state !== "present" && !wasErased) return "hidden"
      const evaluationId = body["evaluation_id"]
      const evaluation = typeof evaluationId === "string" ? this.#evaluations.get(evaluationId) : undefined
      if (typeof evaluationId === "string" && evaluation === undefined && this.#areEvaluationsDropped) return "dropped"
      found.push({
        labels,
        status: String((settled !== null && settled.seq <= asOfSeq ? settled : { body }).body["status"]),
        evaluated: evaluation !== undefined && evaluation.seq <= asOfSeq ? evaluation.outcome : null
      })
    }
    return found
  }

  /** The records of a range of good runs, with its margins, as of a record; null where not all of them are kept. */
  around(
    agentId: string,
    { fromSeq, toSeq }: Pick<GoodRuns, "fromSeq" | "toSeq">,
    asOfSeq: number,
    isFromGenesis: boolean
  ): ReadonlyArray<MetricRecord> | null {
    const isOwn = ({ body }: Kept): boolean => body["agent_id"] === agentId
    const before: Array<MetricRecord> = []
    for (let at = this.#place(fromSeq) - 1; at >= this.#first && before.length < CALIBRATION_MARGIN; at--)
      if (isOwn(this.#kept[at]!)) before.unshift(this.#kept[at]!)
    const isCut = !isFromGenesis || this.#droppedTo >= 0
    if (fromSeq <= this.#droppedTo || (isCut && before.length < CALIBRATION_MARGIN)) return null
    const found: Array<MetricRecord> = []
    let after = 0
    for (let at = this.#place(fromSeq); at < this.#kept.length && after < CALIBRATION_MARGIN; at++) {
      const one = this.#kept[at]!
      if (one.seq > asOfSeq) break
      if (!isOwn(one)) continue
      found.push(one)
      if (one.seq > toSeq) after++
    }
    return [...before, ...found]
  }

  #keep(one: Kept): void {
    this.#kept.push(one)
    this.#bytes += sizeOf(one)
    while (this.#kept.length - this.#first > MAX_KEPT || this.#bytes > MAX_KEPT_BYTES) {
      const oldest = this.#kept[this.#first++]!
      this.#bytes -= sizeOf(oldest)
      this.#droppedTo = oldest.seq
    }
    if (this.#first <= MAX_KEPT) return
    this.#kept = this.#kept.slice(this.#first)
    this.#first = 0
  }

  #at(seq: number): Kept | null {
    const one = this.#kept[this.#place(seq)]
    return one?.seq === seq ? one : null
  }

  /** Place of the first decision at or behind a seq. */
  #place(seq: number): number {
    let [low, high] = [this.#first, this.#kept.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#kept[middle]!.seq < seq) low = middle + 1
      else high = middle
    }
    return low
  }
}

const sizeOf = ({ labels }: Kept): number => (labels?.state === "present" ? labels.bytes.length : 0)
