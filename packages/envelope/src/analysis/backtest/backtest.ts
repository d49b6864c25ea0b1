import { type Outcome, outcomes } from "../../language/compiled.ts"
import { prepare, type Ready } from "../../decide/decide.ts"
import type { Combination } from "../../compile/compile.ts"
import type { Decision } from "../../decide/decision.ts"
import { WindowBook } from "../../meters/window-book.ts"
import { severityOf } from "../cells/ranking.ts"
import type { NotReplayable, RecordedEvaluation, RecordedEvent } from "./recorded-evaluation.ts"
import { replayOne, replayRecorded } from "./replay-one.ts"

/**
 * Outcome of a recorded action under the draft, beside its recorded outcome. `allow` and `allow_with_notice` both let
 * it happen: a change between them is `unchanged` and listed among the transitions.
 */
export type BacktestClass = "unchanged" | "newly_allowed" | "newly_reviewed" | "newly_denied" | "newly_halted"

/** Options of a backtest. */
export interface BacktestOptions {
  /** `recorded`: meters as the records have them. `counterfactual`: recomputed from what the draft lets through. */
  readonly meters: "recorded" | "counterfactual"
  /**
   * True when the events begin with the first of the chain. If not, counterfactual windows fill first, and what falls
   * into that time is not replayable.
   */
  readonly fromGenesis: boolean
}

/** Result of a backtest. Safe to write as JSON. Spec: decision 0022. */
export interface BacktestReport {
  readonly meters: BacktestOptions["meters"]
  readonly total: number
  readonly classes: Readonly<Record<BacktestClass, number>>
  /** How many could not be replayed, by reason. */
  readonly notReplayable: Readonly<Record<string, number>>
  /** Outcomes that differ, with how often and the first five evaluations. */
  readonly transitions: ReadonlyArray<{
    readonly from: Outcome
    readonly to: Outcome
    readonly count: number
    readonly evaluationIds: ReadonlyArray<string>
  }>
  /** Replayed actions by outcome under the draft. */
  readonly outcomes: Readonly<Record<Outcome, number>>
  /** The least and the greatest time of an evaluation; null where there was none. */
  readonly fromAtMs: number | null
  readonly toAtMs: number | null
}

const SHOWN = 5

/**
 * Runs recorded evaluations through a draft. Pure and read-only: it may advise, and authorises nothing.
 *
 * - `events` stand in the order of the chain. Their times may fall: only those of one window continue from its last, as
 *   in the service.
 * - Spec: POST /bound/envelopes/{id}/backtest; decision 0022.
 */
export const backtest = (
  events: Iterable<RecordedEvent>,
  draft: Combination,
  options: BacktestOptions
): BacktestReport => {
  const ready = prepare(draft)
  const meters = new DraftMeters(ready)
  const classes: Record<BacktestClass, number> = {
    unchanged: 0,
    newly_allowed: 0,
    newly_reviewed: 0,
    newly_denied: 0,
    newly_halted: 0
  }
  const said: Record<Outcome, number> = { allow: 0, allow_with_notice: 0, require_review: 0, deny: 0, halt: 0 }
  const notReplayable: Record<string, number> = {}
  const transitions = new Map<
    string,
    { readonly from: Outcome; readonly to: Outcome; count: number; readonly evaluationIds: Array<string> }
  >()
  let total = 0
  let startMs: number | null = null
  let fromAtMs = Number.POSITIVE_INFINITY
  let toAtMs = Number.NEGATIVE_INFINITY
  for (const event of events) {
    if (event.kind === "settled") meters.settle(event.evaluationId, event.actual)
    else if (event.kind === "voided") meters.void(event.evaluationId)
    if (event.kind !== "evaluation") continue
    const { evaluation } = event
    total++
    startMs ??= evaluation.atMs
    fromAtMs = Math.min(fromAtMs, evaluation.atMs)
    toAtMs = Math.max(toAtMs, evaluation.atMs)
    const result =
      options.meters === "recorded"
        ? replayRecorded(ready, evaluation)
        : meters.replay(evaluation, options.fromGenesis ? null : startMs)
    if (typeof result === "string") {
      notReplayable[result] = (notReplayable[result] ?? 0) + 1
      continue
    }
    said[result.outcome]++
    classes[classOf(evaluation.outcome, result.outcome)]++
    if (evaluation.outcome === result.outcome) continue
    const key = `${evaluation.outcome} ${result.outcome}`
    const transition = transitions.get(key) ?? {
      from: evaluation.outcome,
      to: result.outcome,
      count: 0,
      evaluationIds: []
    }
    transition.count++
    if (transition.evaluationIds.length < SHOWN) transition.evaluationIds.push(evaluation.evaluationId)
    transitions.set(key, transition)
  }
  const sorted = [...transitions.values()].sort(
    (left, right) => severityOf(right.from) - severityOf(left.from) || severityOf(left.to) - severityOf(right.to)
  )
  return {
    meters: options.meters,
    total,
    classes,
    notReplayable,
    transitions: sorted,
    outcomes: said,
    fromAtMs: total === 0 ? null : fromAtMs,
    toAtMs: total === 0 ? null : toAtMs
  }
}

const newly: Readonly<Record<Outcome, BacktestClass>> = {
  allow: "newly_allowed",
  allow_with_notice: "newly_allowed",
  require_review: "newly_reviewed",
  deny: "newly_denied",
  halt: "newly_halted"
}

/** The class of a change of outcome. */
export const classOf = (from: Outcome, to: Outcome): BacktestClass =>
  newly[from] === newly[to] ? "unchanged" : newly[to]

/** The draft's meters, filled by what the draft itself lets through. */
class DraftMeters {
  readonly #ready: Ready
  readonly #book = new WindowBook()
  /** The number of each evaluation that the draft let through: its place among them. */
  readonly #numbers = new Map<string, number>()

  constructor(ready: Ready) {
    this.#ready = ready
  }

  /** `startMs` is the time at which the windows began to fill, null where they were empty by right. */
  replay(evaluation: RecordedEvaluation, startMs: number | null): Decision | NotReplayable {
    const atMs = this.#timeOf(evaluation)
    const result = replayOne(this.#ready, evaluation, ({ id, windowMs }, key) =>
      this.#book.state(windowOf(id, key), windowMs, atMs)
    )
    if (typeof result === "string") return result
    if (severityOf(result.outcome) <= outcomes.indexOf("allow_with_notice"))
      this.#reserve(evaluation.evaluationId, atMs, result)
    const unfilled =
      startMs === null
        ? undefined
        : this.#ready.combination.meters.find(({ windowMs }) => evaluation.atMs < startMs + windowMs)
    return unfilled === undefined ? result : `meter_window_not_filled:${unfilled.id}`
  }

  /**
   * Its own time, or that of the last contribution to any window that it reads. Which windows these are does not depend
   * on their content.
   */
  #timeOf(evaluation: RecordedEvaluation): number {
    let { atMs } = evaluation
    if (this.#ready.meters.length > 0) {
      replayOne(this.#ready, evaluation, ({ id }, key) => {
        atMs = Math.max(atMs, this.#book.latestMs(windowOf(id, key)))
        return { value: 0, count: 0 }
      })
    }
    return atMs
  }

  #reserve(evaluationId: string, atMs: number, { meters }: Decision): void {
    const reservations = meters
      .filter(({ contributes }) => contributes)
      .map(({ amount, id, key }) => ({ meter: id, window: windowOf(id, key), amount }))
    if (reservations.length === 0) return
    const number = this.#numbers.size
    this.#numbers.set(evaluationId, number)
    this.#book.reserve(number, atMs, reservations)
  }

  settle(evaluationId: string, actual: Readonly<Record<string, number>>): void {
    const number = this.#numbers.get(evaluationId)
    if (number === undefined) return
    for (const [meter, amount] of Object.entries(actual)) this.#book.settle(number, meter, amount, true)
  }

  void(evaluationId: string): void {
    const number = this.#numbers.get(evaluationId)
    if (number !== undefined) this.#book.void(number)
  }
}

const windowOf = (meter: string, key: string): string => `${meter} ${key}`
