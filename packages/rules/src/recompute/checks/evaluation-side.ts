/**
 * Recomputes one side of an evaluation, enforced or on trial, and compares. Spec: envelopes.md 3.8; decision 0026.
 */
import { type Action, decide, MAX_SUM, MAX_WINDOW_MS, type Situation } from "@flyball/envelope"
import type { Decision, Meter, WindowState } from "@flyball/envelope"
import type { Bound } from "../../evaluations/bindings.ts"
import type { EvaluationBody, MeterBody, SideBody } from "../../evaluations/evaluation-body.ts"
import { argsOf } from "../../evaluations/signals-part.ts"
import type { ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { letsThrough } from "../../evaluations/recorded-side.ts"
import type { WindowBook } from "@flyball/envelope"
import type { WindowLedger } from "@flyball/envelope"

/** The inputs of an evaluation. {@link SideJudge.windows} provides `windows`. */
export interface Known extends Action, Situation {}

/** The recomputed decision of a side, and how the record differs from it. */
export interface JudgedSide {
  readonly problem: Problem | null
  readonly decision: Decision
}

/** Recomputes sides with the windows of a book. It serves one evaluation at a time. */
export class SideJudge {
  readonly #book: WindowBook
  // The current side.
  #recorded: SideBody = none
  #bound: Bound | null = null
  #atMs = 0
  #place = 0
  #isProved = true
  #wrong: Problem | null = null

  constructor(book: WindowBook) {
    this.#book = book
  }

  /**
   * `unknown`: why the sums of its meters are unknown. The rest must still follow from the recorded sums.
   */
  judge(recorded: SideBody, bound: Bound, known: Known, atMs: number, unknown: Problem | null): JudgedSide {
    this.#recorded = recorded
    this.#bound = bound
    this.#atMs = atMs
    this.#place = 0
    this.#isProved = unknown === null
    this.#wrong = null
    const decision = decide(bound.ready, known, known)
    const differs = compareSide(recorded, decision, this.#wrong)
    if (unknown === null || decision.meters.length === 0) return { problem: differs, decision }
    // Whether a meter was full is unknown too.
    return {
      problem:
        differs !== null && !recorded.matched_rule.startsWith("@budget:") ? differs : { ...unknown, amountsHold: true },
      decision
    }
  }

  /** The value of a meter of this side. Meters are read in the order in which records name them. */
  readonly windows = (meter: Meter, key: string): WindowState => {
    const { meters } = this.#recorded
    const next = meters[this.#place++]
    const reported = next !== undefined && next.id === meter.id ? next : meters.find(({ id }) => id === meter.id)
    if (reported === undefined) return empty
    const ledger = this.#claimed(meter, key, reported)
    if (!this.#isProved) return { value: reported.value, count: 0 }
    if (ledger === null) return empty
    if (this.#atMs < ledger.latestMs) {
      this.#wrong ??= problem("meter_mismatch", `The meter ${meter.id} is read at a time before its last contribution.`)
      return empty
    }
    return ledger.state(meter.windowMs, this.#atMs)
  }

  /**
   * The ledger of a meter and key. Null where the record names another one, or one of another key: a window that is
   * shared or split would count wrong.
   */
  #claimed(meter: Meter, key: string, { window }: MeterBody): WindowLedger | null {
    const ledger = this.#book.ledger(window)
    const keys = this.#bound!.ledgers.get(meter)!
    if (ledger.owner === keys && ledger.key === key) {
      // Nearly always: claimed by the same before.
    } else if (ledger.owner === null && isFree(keys.get(key), this.#atMs)) {
      const past = keys.get(key)
      if (past !== undefined) past.owner = null
      ledger.owner = keys
      ledger.key = key
      keys.set(key, ledger)
    } else {
      this.#wrong ??= problem(
        "meter_mismatch",
        `The meter ${meter.id} is counted in another window than before, or in that of another key.`
      )
      return null
    }
    if (this.#atMs > ledger.usedMs) ledger.usedMs = this.#atMs
    return ledger
  }
}

/**
 * True when a meter and key may have a new window: it has none, or the contributions of its last one are older than
 * every window that an envelope can have. The service deletes such documents.
 */
const isFree = (ledger: WindowLedger | undefined, atMs: number): boolean =>
  ledger === undefined || Math.max(ledger.latestMs, ledger.unprovedMs) < atMs - MAX_WINDOW_MS

/** The arguments that an evaluation read, and nothing where it read none; null where they are not shown. */
export const argsIn = (
  parts: ReplayRecord["parts"],
  body: Pick<EvaluationBody, "action_digest">,
  ...bindings: ReadonlyArray<Bound | null>
): { readonly args?: unknown } | null => {
  if (!bindings.some((bound) => bound?.readsArgs)) return {}
  const part = parts.get("args")
  if (part !== undefined && part.state !== "present") return null
  return { args: argsOf(part?.bytes, body.action_digest) }
}

/** Checks a side's meters without any signal: the amounts are in the records. */
export const judgeSums = ({ meters, outcome }: SideBody, seq: number): Problem | null => {
  for (let place = 0; place < meters.length; place++) {
    const { after, amount, id, value, window } = meters[place]!
    for (let other = 0; other < place; other++)
      if (meters[other]!.window === window)
        return problem("meter_mismatch", `The record at ${seq} counts two meters in one window.`)
    if (amount !== undefined && (!letsThrough(outcome) || after !== Math.min(value + amount, MAX_SUM)))
      return problem("meter_mismatch", `The meter ${id} has an amount that its own values contradict.`)
  }
  return null
}

const compareSide = (recorded: SideBody, again: Decision, wrong: Problem | null): Problem | null => {
  if (isSignal(recorded.matched_rule) !== isSignal(again.matchedRule))
    return problem("signal_invalid", `The signals give ${again.matchedRule}; the record says ${recorded.matched_rule}.`)
  const meters = wrong ?? differingMeter(recorded.meters, again)
  if (meters !== null) return meters
  if (recorded.outcome !== again.outcome)
    return problem("outcome_mismatch", `The outcome is ${again.outcome}; the record says ${recorded.outcome}.`)
  if (recorded.matched_rule !== again.matchedRule)
    return problem("rule_mismatch", `The rule is ${again.matchedRule}; the record says ${recorded.matched_rule}.`)
  const adds = letsThrough(again.outcome)
  for (let place = 0; place < again.meters.length; place++) {
    const { amount, contributes, id } = again.meters[place]!
    if ((adds && contributes ? amount : undefined) !== recorded.meters[place]!.amount)
      return problem("meter_mismatch", `The amount that the action adds to the meter ${id} is wrong.`)
  }
  const stoppedOn = again.stopped?.step === "signals" ? again.stopped.id : null
  return (recorded.stopped_on ?? null) === stoppedOn && isSame(recorded.trace, again.failedOn)
    ? null
    : problem("trace_mismatch", "Other rules held or failed than the record says.")
}

/** The first meter whose values in the record differ from the recomputed ones; null when there is none. */
const differingMeter = (recorded: ReadonlyArray<MeterBody>, { meters }: Decision): Problem | null => {
  if (recorded.length !== meters.length)
    return problem("meter_mismatch", `${meters.length} meters were read; the record names ${recorded.length}.`)
  for (let place = 0; place < meters.length; place++) {
    const { after, id, value } = meters[place]!
    const other = recorded[place]!
    if (id !== other.id || value !== other.value || after !== other.after)
      return problem(
        "meter_mismatch",
        `The meter ${id} held ${value} and would hold ${after}; the record says ${other.value} and ${other.after}.`
      )
  }
  return null
}

const isSame = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

const isSignal = (rule: string): boolean => rule === "@invalid_signal" || rule === "@missing_signal"

const empty: WindowState = { value: 0, count: 0 }
const none: SideBody = { layers: [], matched_rule: "", meters: [], outcome: "deny", trace: [] }
