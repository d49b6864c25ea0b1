/** Decisions that later records count again: fairness screens. Bounded; the oldest are dropped. */
import type { ScreenedDecision } from "../fairness/screen-decisions.ts"
import type { PartContent, ReplayRecord } from "../records/record.ts"

/** Most decisions, and evaluations, that are kept. */
const MAX_KEPT = 100_000
/** Most bytes of labels that are kept. */
const MAX_KEPT_BYTES = 67_108_864

interface Kept {
  readonly seq: number
  readonly agentId: string
  readonly action: string
  readonly status: string
  settled: { readonly seq: number; readonly status: string } | null
  readonly evaluationId: string | null
  readonly labels: PartContent | undefined
  erasedBy: number | null
}

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

  /** Takes a decision, a settlement, an evaluation or an erasure. */
  take({ body, kind, parts, seq }: ReplayRecord): void {
    if (kind === "decision.witnessed") {
      const evaluationId = body["evaluation_id"]
      this.#keep({
        seq,
        agentId: String(body["agent_id"]),
        action: String(body["action"]),
        status: String(body["status"]),
        settled: null,
        evaluationId: typeof evaluationId === "string" ? evaluationId : null,
        labels: parts.get("labels"),
        erasedBy: null
      })
    } else if (kind === "decision.settled") {
      const decision = this.#at(Number(body["decision_seq"]))
      if (decision !== null) decision.settled ??= { seq, status: String(body["status"]) }
    } else if (kind === "evaluation.made") {
      this.#evaluations.set(String(body["evaluation_id"]), { seq, outcome: String(body["outcome"]) })
      if (this.#evaluations.size <= MAX_KEPT) return
      this.#areEvaluationsDropped = true
      this.#evaluations.delete(this.#evaluations.keys().next().value!)
    } else if (kind === "part.erased" && body["name"] === "labels") {
      const decision = this.#at(Number(body["seq"]))
      if (decision !== null) decision.erasedBy ??= seq
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
      const { agentId, erasedBy, evaluationId, labels, settled, status, ...one } = this.#kept[at]!
      if (one.seq > toSeq) break
      if (!agentIds.has(agentId) || (action !== null && one.action !== action)) continue
      const wasErased = labels?.state === "erased" && erasedBy !== null && erasedBy <= asOfSeq
      if (labels !== undefined && labels.state !== "present" && !wasErased) return "hidden"
      const evaluation = evaluationId === null ? undefined : this.#evaluations.get(evaluationId)
      if (evaluationId !== null && evaluation === undefined && this.#areEvaluationsDropped) return "dropped"
      found.push({
        labels,
        status: settled !== null && settled.seq <= asOfSeq ? settled.status : status,
        evaluated: evaluation !== undefined && evaluation.seq <= asOfSeq ? evaluation.outcome : null
      })
    }
    return found
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
