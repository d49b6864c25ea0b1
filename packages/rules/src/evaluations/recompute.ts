/**
 * Makes every evaluation of a chain again, out of its records alone, and compares. What the offline verifier runs;
 * plain, and without any memory but what the chain's prefix still does to what comes.
 *
 * Spec: envelopes.md 3.8; `envelope/1`; decisions 0025 and 0026.
 */
import { checkBody, decodeId, portableCrypto, utf8 } from "@flyball/evidence"
import { areNewerRules, newerRules } from "../records/rules-version.ts"
import type { Json, ReplayRecord } from "../records/record.ts"
import { numberedBefore } from "./carried-records.ts"
import { evaluationBody, type EvaluationBody, sidesOf } from "./evaluation-body.ts"
import { Ends } from "./ends.ts"
import { EvaluationIds, type Hashing } from "./evaluation-ids.ts"
import { foldMeters } from "./fold-meters.ts"
import { erasing, GovernedState } from "./governed-state.ts"
import { CLOCK_STEP_MS, Judge } from "./judge.ts"
import { judgeActivation } from "./judge-activation.ts"
import { isEvaluationId, isPlainEvaluation } from "./plain-evaluation.ts"
import { isRecomputed, readForIds } from "./recomputed-records.ts"
import { PublicationJudge, type RecomputedPublication } from "./recompute-publication.ts"
import { isOpen, problem, type Problem, type Recomputed } from "./recompute-verdict.ts"
import { letsThrough } from "./recorded-side.ts"
import { References } from "./references.ts"
import { RunLatches } from "./run-latches.ts"
import { WindowBook } from "./window-book.ts"
import { Writers } from "./writers.ts"

/** How records are given. */
export interface RecomputeOptions {
  /**
   * Whether nothing lies before the first record given: it is the first of a chain that follows no other. If not, what
   * lies before is unknown and nothing that depends on it is called wrong.
   */
  readonly fromGenesis: boolean
  /** A faster one than the portable one. */
  readonly crypto?: Hashing
  /**
   * The longest window that any meter of the chain has: what lies farther back is let go of. Left out, nothing is.
   * Unit: milliseconds.
   */
  readonly longestWindowMs?: number
  /**
   * Origin of the chain at hand, out of which ids of evaluations derive. Left out, nothing is said of ids, nor of
   * evaluations that stand twice.
   */
  readonly origin?: string
}

/**
 * How far an evaluation may lie before its record before it is named as late. The service reads the clock, plans and
 * commits: what waits longer than a commit may take (a lock 30 s,
 * a statement 60 s, a clock set back 60 s) was held up, or is told wrong. Unit: milliseconds.
 */
export const LATE_MS = 300_000
/** Evaluations between two times that what is past is let go of. */
const SWEEP_EVERY = 10_000

/** A chain being evaluated again. Feed it every record, in order, with parts whose commitments were checked. */
export class Recomputation {
  readonly #state: GovernedState
  readonly #book = new WindowBook()
  readonly #latches = new RunLatches()
  readonly #judge: Judge
  readonly #publications: PublicationJudge
  readonly #fromGenesis: boolean
  readonly #longestWindowMs: number
  readonly #ids: EvaluationIds | null
  /** From the first record of the chain at hand on. */
  #references: References | null = null
  readonly #writers = new Writers()
  readonly #ends = new Ends()
  #sinceSweep = 0
  #unreadable = 0

  constructor({
    fromGenesis,
    longestWindowMs = Number.POSITIVE_INFINITY,
    origin,
    crypto = portableCrypto
  }: RecomputeOptions) {
    this.#ids = origin === undefined ? null : new EvaluationIds(crypto.sha256(utf8(origin)).slice(0, 4), crypto)
    this.#longestWindowMs = longestWindowMs
    this.#fromGenesis = fromGenesis
    this.#state = new GovernedState(crypto.sha256)
    this.#publications = new PublicationJudge(this.#state)
    this.#judge = new Judge(this.#state, this.#book, this.#latches, fromGenesis)
  }

  readonly #isAgent = (id: string): boolean => this.#state.agents.has(id)

  /** Whether a body names an evaluation. The id that derives is one, and has to be looked at anyway. */
  #isId(
    { agent_id: agentId, client_ref: clientRef, evaluation_id: id }: EvaluationBody,
    isOfThisChain: boolean
  ): boolean {
    return (
      (isOfThisChain && this.#ids !== null && typeof id === "string" && this.#ids.isOf(agentId, clientRef, id)) ||
      isEvaluationId(id)
    )
  }

  /** Records that are not as the catalogue describes their kind. They changed nothing. */
  get unreadable(): number {
    return this.#unreadable
  }

  /**
   * Compares a version with what bound before it, as the gate of publication did. To be asked with the record of its
   * publication, which the catalogue found in order, before that record is taken.
   */
  compare(record: ReplayRecord): RecomputedPublication {
    if (!this.#fromGenesis) return { notCompared: "What bound before lies before the first record here." }
    if (this.#unreadable > 0)
      return { notCompared: "A record before it cannot be read, so what bound before is not known." }
    return this.#publications.judge(record)
  }

  /**
   * Takes one record; answers for `evaluation.made`, for one that gives back to meters what its writer may not, ends
   * what
   * ended before, names other records than it should, or has a writer that cannot have written it, and for an
   * activation
   * without the owner or the identity that its tier needs; null for all others. Never throws, whatever a record says.
   *
   * - Unit: `atMs` is the record's own time, milliseconds since 1970 UTC. Without it nothing is said of the times that
   *   evaluations name.
   * - `before`, for a record of a chain that a recovery put aside: how many records lie between that chain's first one
   *   and record 0 of the chain at hand. Oldest chain first.
   */
  take(record: ReplayRecord, atMs: number | null = null, before = 0): Recomputed | null {
    const { body, kind, seq } = record
    this.#judge.beginMs ??= atMs
    if (!isRecomputed(kind)) return null
    const isOfThisChain = before === 0
    if (isOfThisChain) this.#references ??= new References(this.#fromGenesis ? 0 : seq)
    const written = this.#writers.problem(isOfThisChain ? record : { ...record, seq: -1 })
    const wrongWriter = isOfThisChain && written !== null ? problem("writer_mismatch", written) : null
    if (readForIds.has(kind)) {
      if (isOfThisChain && kind === "decision.witnessed") this.#references?.decision(record)
      return alone(record, wrongWriter)
    }
    const unlike =
      kind === "evaluation.made" &&
      isPlainEvaluation(body, this.#isAgent) &&
      this.#isId(evaluationBody(body), before === 0)
        ? null
        : checkBody(kind, body)
    if (unlike !== null) {
      this.#unreadable++
      if (kind !== "evaluation.made") return null
      if (isOfThisChain) this.#references?.unknown(seq)
      // A record of newer rules may have members that this catalogue does not name. That is no sign of tampering.
      const found = areNewerRules(body) ? problem("withheld", newerRules(body)) : problem("trace_mismatch", unlike)
      return {
        seq,
        evaluationId: shown(body["evaluation_id"]),
        agentId: shown(body["agent_id"]),
        ...found,
        isLate: false
      }
    }
    const numbered = numberedBefore(record, before)
    if (kind === "evaluation.made") return this.#evaluation(numbered, atMs, isOfThisChain, wrongWriter)
    if (kind === "decision.settled" || kind === "meter.voided")
      return alone(record, this.#end(numbered, isOfThisChain) ?? wrongWriter)
    if (kind.startsWith("waiver.") || (kind === "part.erased" && erasing.has(String(body["name"]))))
      this.#judge.forgetBindings()
    const activation =
      kind === "agent.activated" ? judgeActivation(this.#state.agents.get(String(body["agent_id"])), body) : null
    this.#state.fold(numbered)
    return activation === null
      ? alone(record, wrongWriter)
      : { seq, evaluationId: "", agentId: String(body["agent_id"]), ...activation, isLate: false }
  }

  /** What was given back counts as the record says, however often it was. */
  #end(record: ReplayRecord, isOfThisChain: boolean): Problem | null {
    const isTaken = foldMeters(this.#book, record)
    const again = isOfThisChain ? this.#ends.problem(record) : null
    if (!isTaken) return problem("meter_mismatch", givenBack(record.body))
    if (again !== null) return problem("ended_twice", again)
    const wrong = isOfThisChain ? (this.#references?.problem(record) ?? null) : null
    return wrong === null ? null : problem("reference_mismatch", wrong.reason)
  }

  #evaluation(
    record: ReplayRecord,
    atMs: number | null,
    isOfThisChain: boolean,
    wrongWriter: Problem | null
  ): Recomputed {
    const body = evaluationBody(record.body)
    const judged = this.#judge.judge(record, body, atMs)
    if (judged !== null && isOpen(judged) && judged.amountsHold !== true) this.#noteUnproved(body)
    const named = isOfThisChain ? this.#misnamed(record.seq, body) : null
    // Last, since they decide nothing; and before what is open, since they need nothing that could be withheld.
    const found = judged === null || isOpen(judged) ? (mistold(body) ?? named ?? wrongWriter ?? judged) : judged
    foldMeters(this.#book, record)
    if (body.latches !== undefined) this.#latches.add(body.agent_id, body.run_id ?? "", body.latches)
    if (atMs !== null && ++this.#sinceSweep >= SWEEP_EVERY) this.#sweep(atMs)
    return {
      seq: record.seq,
      evaluationId: body.evaluation_id,
      agentId: body.agent_id,
      verdict: found?.verdict ?? "ok",
      reason: found?.reason ?? null,
      isLate: atMs !== null && atMs - body.as_of_ms > LATE_MS
    }
  }

  #misnamed(seq: number, body: EvaluationBody): Problem | null {
    const ids = this.#ids
    const id = ids === null ? decodeId("evl_", body.evaluation_id) : ids.digest(body.agent_id, body.client_ref)
    const isNew = id === null || this.#references!.evaluation(seq, body.agent_id, id)
    if (ids === null) return null
    const isDerived = ids.isOf(body.agent_id, body.client_ref, body.evaluation_id)
    if (!isDerived) this.#references!.misnamed(seq, body.evaluation_id)
    if (!isDerived)
      return problem(
        "id_mismatch",
        `The id that derives from the agent and its reference is ${ids.of(body.agent_id, body.client_ref)}; ` +
          `the record says ${body.evaluation_id}.`
      )
    return isNew ? null : problem("made_twice", "The agent was answered under this reference before.")
  }

  /** An amount that nobody could make again proves no sum that it is in, even though the record says it. */
  #noteUnproved(body: EvaluationBody): void {
    for (const { meters, outcome } of sidesOf(body)) {
      if (!letsThrough(outcome)) continue
      for (const { window } of meters) {
        const ledger = this.#book.ledger(window)
        this.#judge.hasUnproved = true
        ledger.unprovedMs = Math.max(body.as_of_ms, ledger.latestMs)
      }
    }
  }

  /**
   * Lets go of what no window reaches any more. By the records' own time: that of an evaluation is what it says itself.
   */
  #sweep(atMs: number): void {
    this.#sinceSweep = 0
    const beforeMs = atMs - this.#longestWindowMs - LATE_MS - CLOCK_STEP_MS
    if (beforeMs <= this.#judge.forgottenMs) return
    this.#judge.forgottenMs = beforeMs
    this.#book.forget(beforeMs)
  }
}

/** What is said of a record that is no evaluation; null where nothing is. */
const alone = ({ body, seq }: ReplayRecord, found: Problem | null): Recomputed | null =>
  found === null
    ? null
    : {
        seq,
        evaluationId: "",
        agentId: typeof body["agent_id"] === "string" ? body["agent_id"].slice(0, 200) : "",
        ...found,
        isLate: false
      }

/**
 * Versions on trial are told of in `shadow`, and an SDK that decides by itself tells of it in its decisions: the
 * service makes evaluations itself, and they bind.
 */
const mistold = ({ decided_by: decidedBy, mode, outcome, review_id: reviewId }: EvaluationBody): Problem | null => {
  if (reviewId !== undefined && outcome !== "require_review")
    return problem(
      "review_mismatch",
      `A review opens where the outcome is require_review; the record says ${outcome} and names ${reviewId}.`
    )
  if (mode !== "enforced")
    return problem(
      "trace_mismatch",
      `The evaluation was made under what was in force, and so enforced; the record says ${mode}.`
    )
  return decidedBy === "server"
    ? null
    : problem("trace_mismatch", `An evaluation is decided by server; the record says ${decidedBy}.`)
}

/** A value of a body that is not as the catalogue says: an object in it may have no text at all. */
const shown = (value: Json | undefined): string => (typeof value === "string" ? value.slice(0, 200) : typeof value)

const givenBack = ({ evaluation_seq: seq, writer }: ReplayRecord["body"]): string =>
  `${String(writer)} gives back what the evaluation at ${Number(seq)} added to its meters, which no ingest key may.`
