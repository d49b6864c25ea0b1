/**
 * Recomputes every evaluation of a chain from its records alone, and compares. The offline verifier runs it. It keeps
 * only the state that later evaluations depend on.
 *
 * Spec: envelopes.md 3.8; `envelope/1`; decisions 0025 and 0026.
 */
import { checkBody, type Crypto, decodeId, portableCrypto, utf8 } from "@flyball/evidence"
import { areNewerRules, newerRules } from "../records/rules-version.ts"
import type { Json, ReplayRecord } from "../records/record.ts"
import { numberedBefore } from "../evaluations/carried-records.ts"
import { evaluationBody, type EvaluationBody, sidesOf } from "../evaluations/evaluation-body.ts"
import { Ends } from "./checks/ends.ts"
import { evaluationId } from "../evaluations/evaluation-id.ts"
import { foldMeters } from "../evaluations/fold-meters.ts"
import { EvalJudge } from "./checks/evals.ts"
import { erasing, GovernedState } from "../evaluations/governed-state.ts"
import { Judge } from "./checks/evaluation.ts"
import { HighlyReached, judgeChannel, judgeEpoch, judgeRelease } from "./checks/kill.ts"
import { isLocal, judgeLocal } from "./checks/local-verdict.ts"
import { BreakerJudge } from "./checks/breakers.ts"
import { instancesIn } from "../kill/fold.ts"
import { DrillJudge } from "./checks/drills.ts"
import { ExpectedJudge } from "./checks/expected.ts"
import { isStandingApprovalKind, MAX_PROOF_WORK, StandingApprovalJudge } from "./checks/standing-approvals.ts"
import { judgeActivation } from "./checks/tier-gate.ts"
import { isJudged, isRecomputed, readForIds, stopReportKinds } from "./recomputed-records.ts"
import { ReviewJudge } from "./checks/reviews.ts"
import { PublicationJudge, type RecomputedPublication } from "./checks/publication.ts"
import { isOpen, problem, type Problem, type Recomputed } from "./recompute-verdict.ts"
import { letsThrough } from "../evaluations/recorded-side.ts"
import { ResponseJudge } from "./checks/responses.ts"
import { KeyTimes } from "./checks/key-times.ts"
import { judgeLifecycle } from "./checks/lifecycle.ts"
import { OlderRules } from "./older-rules.ts"
import { StopJudge } from "./checks/stops.ts"
import { References } from "./checks/references.ts"
import { RunLatches } from "./run-latches.ts"
import { judgeAgentParts } from "./checks/agent-parts.ts"
import { Steps } from "./checks/steps.ts"
import { WindowBook } from "@flyball/envelope"
import { Writers } from "./checks/writers.ts"
import { CLOCK_STEP_MS, LATE_MS } from "./tolerances.ts"

/** Options of a recomputation: the origin of its records and how to read them. Spec: decision 0026. */
export interface RecomputeOptions {
  /**
   * Whether the first record given is the genesis of a chain that follows no other. If not, earlier records are unknown
   * and nothing that depends on them is reported as wrong.
   */
  readonly fromGenesis: boolean
  /** SHA-256; the portable one by default. */
  readonly crypto?: Pick<Crypto, "sha256">
  /**
   * The longest window of any meter of the chain: older contributions are dropped. If absent, all are kept. Unit:
   * milliseconds.
   */
  readonly longestWindowMs?: number
  /**
   * Origin of this chain, from which evaluation ids derive. If absent, ids and duplicate evaluations are not checked.
   */
  readonly origin?: string
  /** Most work of all proofs of standing approvals, in states of a search. If absent, {@link MAX_PROOF_WORK}. */
  readonly maxProofWork?: number
}

/** Seqs that are kept of records that name older rules. */
const MAX_OLDER = 20
/** Evaluations between two sweeps. */
const SWEEP_EVERY = 10_000

/** Recomputes a chain. Takes every record, in order, with parts whose commitments are checked. Spec: decision 0026. */
export class Recomputation {
  readonly #state: GovernedState
  readonly #book = new WindowBook()
  readonly #latches = new RunLatches()
  readonly #judge: Judge
  readonly #breakers: BreakerJudge
  readonly #publications: PublicationJudge
  readonly #fromGenesis: boolean
  readonly #longestWindowMs: number
  readonly #sha256: Crypto["sha256"]
  /** See {@link evaluationId}. Null if the origin is unknown. */
  readonly #originTag: Uint8Array | null
  readonly #origin: string | null
  /** Seq from which on the records of this chain are known; null before the first of them. */
  #first: number | null = null
  /** Null before the first record of this chain. */
  #references: References | null = null
  readonly #writers = new Writers()
  readonly #steps = new Steps()
  readonly #ends = new Ends()
  readonly #drills = new DrillJudge()
  readonly #highlyReached = new HighlyReached()
  readonly #reviews: ReviewJudge
  readonly #standings: StandingApprovalJudge
  readonly #stops: StopJudge
  readonly #evals: EvalJudge
  readonly #expected: ExpectedJudge
  readonly #responses: ResponseJudge
  readonly #keys = new KeyTimes()
  readonly #olderRules = new OlderRules()
  readonly #older: Array<number> = []
  #olderCount = 0
  #sinceSweep = 0
  #unreadable = 0

  constructor({
    fromGenesis,
    longestWindowMs = Number.POSITIVE_INFINITY,
    origin,
    maxProofWork = MAX_PROOF_WORK,
    crypto = portableCrypto
  }: RecomputeOptions) {
    this.#sha256 = crypto.sha256
    this.#origin = origin ?? null
    this.#originTag = origin === undefined ? null : crypto.sha256(utf8(origin)).slice(0, 4)
    this.#longestWindowMs = longestWindowMs
    this.#fromGenesis = fromGenesis
    this.#state = new GovernedState(crypto.sha256)
    if (fromGenesis) this.#state.kills.epochIs(0)
    this.#publications = new PublicationJudge(this.#state)
    this.#breakers = new BreakerJudge(this.#state.agents, fromGenesis)
    this.#responses = new ResponseJudge(this.#state, (id) => this.#breakers.firing(id), fromGenesis)
    this.#stops = new StopJudge(this.#state, fromGenesis)
    this.#evals = new EvalJudge(fromGenesis)
    this.#expected = new ExpectedJudge(this.#state, fromGenesis)
    this.#reviews = new ReviewJudge(this.#state, fromGenesis)
    this.#judge = new Judge(this.#state, this.#book, this.#latches, fromGenesis)
    this.#standings = new StandingApprovalJudge(
      crypto.sha256,
      { state: this.#state, bindings: this.#judge.bindings },
      { maxWork: maxProofWork }
    )
  }

  /** Records that do not match the catalogue. They changed nothing. */
  get unreadable(): number {
    return this.#unreadable
  }

  /**
   * Compares a version with the versions in force before it, as the publication gate did. Call it with the record of
   * the publication, checked against the catalogue, before {@link take}.
   */
  compare(record: ReplayRecord): RecomputedPublication {
    if (!this.#fromGenesis)
      return { notCompared: "The versions in force before it are from before the first record here." }
    if (this.#unreadable > 0)
      return { notCompared: "A record before it cannot be read, so the versions in force before it are unknown." }
    return this.#publications.judge(record)
  }

  /**
   * Takes one record. Returns a result for every `evaluation.made`, for a record that gives back to meters what its
   * writer may not, ends something twice, names a wrong record or has an impossible writer, and for an activation
   * without the owner or identity that its tier needs. Null otherwise. Never throws.
   *
   * - Unit: `atMs` is the record's own time, milliseconds since 1970 UTC. Without it the times of evaluations are not
   *   checked.
   * - `before`: for a record of a chain that a recovery replaced, the number of records between that chain's first
   *   record and record 0 of this chain. Oldest chain first.
   */
  take(record: ReplayRecord, atMs: number | null = null, before = 0): Recomputed | null {
    const made = this.#guarded(record, atMs, before)
    if (atMs === null) return made
    if (before === 0 && this.#olderRules.take(record, atMs) && ++this.#olderCount <= MAX_OLDER)
      this.#older.push(record.seq)
    const ended = this.#keys.take(record, atMs)
    if (ended === null || before > 0 || (made !== null && made.verdict !== "ok")) return made
    return made === null ? alone(record, ended) : { ...made, ...ended }
  }

  /** Records that name older rules than records a day before them: how many, and the first seqs of them. */
  get olderRules(): { readonly count: number; readonly seqs: ReadonlyArray<number> } {
    return { count: this.#olderCount, seqs: this.#older }
  }

  /** A rule that throws judged nothing: who wrote the record may have meant that. */
  #guarded(record: ReplayRecord, atMs: number | null, before: number): Recomputed | null {
    try {
      const unreadable = this.#unreadable
      const made = this.#take(record, atMs, before)
      return this.#unreadable > unreadable ? made : this.#ranked(made, record, atMs, before === 0)
    } catch (cause) {
      return alone(record, problem("not_judged", `A rule failed on the record: ${String(cause).slice(0, 200)}`))
    }
  }

  /** What was found, unless that is open, and the record contradicts an earlier one, its time or its part. */
  #ranked(
    made: Recomputed | null,
    record: ReplayRecord,
    atMs: number | null,
    isOfThisChain: boolean
  ): Recomputed | null {
    const step =
      this.#steps.take(record, atMs, isOfThisChain, this.#fromGenesis && this.#unreadable === 0) ??
      (isOfThisChain ? judgeAgentParts(record, this.#originTag) : null)
    if (step === null) return made
    if (made === null) return alone(record, step)
    return made.verdict === "ok" || (isOpen(made) && !isOpen(step)) ? { ...made, ...step } : made
  }

  #take(record: ReplayRecord, atMs: number | null, before: number): Recomputed | null {
    const { body, kind, seq } = record
    this.#judge.beginMs ??= atMs
    if (!isRecomputed(kind)) return null
    const isOfThisChain = before === 0
    if (isOfThisChain) {
      this.#first ??= this.#fromGenesis ? 0 : seq
      this.#references ??= new References(this.#first)
    }
    const written = this.#writers.problem(isOfThisChain ? record : { ...record, seq: -1 })
    const wrongWriter = isOfThisChain && written !== null ? problem("writer_mismatch", written) : null
    const expected = isOfThisChain && atMs !== null ? this.#expected.take(record, atMs) : null
    if (readForIds.has(kind)) {
      if (isOfThisChain && kind === "decision.witnessed") this.#references?.decision(record)
      const answered = this.#responses.take(record, isOfThisChain)
      const lived = isOfThisChain ? this.#lifecycle(record) : null
      const wrong = this.#breaker(record, atMs, isOfThisChain) ?? answered ?? wrongWriter ?? lived
      return isOfThisChain && isLocal(record) ? this.#local(record, atMs, wrong) : alone(record, wrong)
    }
    if (!isJudged(kind)) return alone(record, wrongWriter)
    const unlike = checkBody(kind, body)
    if (unlike !== null) {
      this.#unreadable++
      this.#breakers.forgetFired()
      this.#responses.forgetRequest()
      if (kind.startsWith("kill.")) this.#state.kills.epochIs(null)
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
    const answered = this.#responses.take(numbered, isOfThisChain)
    const tripping = this.#breaker(numbered, atMs, isOfThisChain) ?? answered
    if (kind === "evaluation.made") return this.#evaluation(numbered, atMs, isOfThisChain, tripping ?? wrongWriter)
    if (kind.startsWith("review.")) {
      const step = this.#reviews.take(numbered, atMs)
      const review = this.#reviews.review(String(body["review_id"]))
      if (review !== undefined) this.#standings.reviewEnded(review)
      return alone(record, (isOfThisChain ? step : null) ?? tripping ?? wrongWriter)
    }
    if (kind === "eval.recorded")
      return alone(record, wrongWriter ?? this.#evals.take(record, this.#state.agents.has(String(body["agent_id"]))))
    if (kind === "kill.requested" || kind === "response_policy.changed") return alone(record, tripping ?? wrongWriter)
    if (kind === "channel.checked")
      return alone(
        record,
        (isOfThisChain && this.#fromGenesis ? judgeChannel(this.#state, record) : null) ?? wrongWriter
      )
    const lived = isOfThisChain ? this.#lifecycle(record) : null
    const drilled = this.#drills.take(numbered, this.#fromGenesis)
    if (kind.startsWith("breaker.")) return alone(record, tripping ?? wrongWriter)
    const stopped = this.#stops.take(numbered, atMs)
    if (kind === "kill.expected") return alone(record, tripping ?? expected ?? wrongWriter)
    if (stopReportKinds.has(kind)) return alone(record, tripping ?? (isOfThisChain ? stopped : null) ?? wrongWriter)
    if (kind === "decision.settled" || kind === "meter.voided")
      return alone(record, this.#end(numbered, isOfThisChain) ?? wrongWriter)
    if (kind.startsWith("waiver.") || (kind === "part.erased" && erasing.has(String(body["name"]))))
      this.#judge.forgetBindings()
    if (isStandingApprovalKind(kind))
      return alone(
        record,
        this.#standings.take(numbered, this.#reviews.review(String(body["review_id"])), this.#fromGenesis) ??
          wrongWriter
      )
    const activation =
      kind === "agent.activated" ? judgeActivation(this.#state.agents.get(String(body["agent_id"])), body, atMs) : null
    const released =
      kind === "kill.released" ? judgeRelease(this.#state, numbered, this.#highlyReached, this.#fromGenesis) : null
    const begun =
      isOfThisChain && (kind === "kill.activated" || kind === "kill.released")
        ? judgeEpoch(this.#state, numbered)
        : null
    if (kind === "kill.activated") this.#highlyReached.activated(this.#state, numbered)
    this.#state.fold(numbered)
    // What a recovery put aside is another chain: this one continues from a copy.
    if (!isOfThisChain) this.#state.kills.epochIs(null)
    if (drilled !== null) return alone(record, drilled)
    if (released !== null) return alone(record, released)
    return activation === null
      ? alone(record, tripping ?? wrongWriter ?? begun ?? lived ?? (isOfThisChain ? stopped : null))
      : { seq, evaluationId: "", agentId: String(body["agent_id"]), ...activation, isLate: false }
  }

  #lifecycle(record: ReplayRecord): Problem | null {
    return judgeLifecycle(this.#state.agents, record, this.#fromGenesis && this.#unreadable === 0)
  }

  /** A verdict that the agent's SDK gave: it adds to no meter, sets no latch and opens no review. */
  #local(record: ReplayRecord, atMs: number | null, wrongWriter: Problem | null): Recomputed {
    const judged = judgeLocal(record, atMs, {
      state: this.#state,
      bindings: this.#judge.bindings,
      fromGenesis: this.#fromGenesis,
      first: this.#first!,
      origin: this.#origin
    })
    const found = judged === null || isOpen(judged) ? (wrongWriter ?? judged) : judged
    return {
      seq: record.seq,
      evaluationId: "",
      agentId: shown(record.body["agent_id"]),
      verdict: found?.verdict ?? "ok",
      reason: found?.reason ?? null,
      isLate: false,
      isLocal: true
    }
  }

  /** Without times no window can be folded. */
  #breaker({ body, kind, parts, seq }: ReplayRecord, atMs: number | null, isOfThisChain: boolean): Problem | null {
    if (atMs === null) return null
    const part = parts.get("expected")
    const expected =
      part !== undefined || !expecting.has(kind) || (body["expected"] ?? 0) === 0 ? instancesIn(part) : null
    return this.#breakers.take({ seq, atMs, kind, body }, isOfThisChain, expected)
  }

  /** A settlement counts as its record says, also a repeated one: later sums of the service include it. */
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
    const approval = this.#reviews.approvalOf(body, record.parts)
    const judged = this.#judge.judge(record, body, atMs, approval)
    const reviewed = this.#reviews.evaluation(body, record.parts, approval)
    if (judged !== null && isOpen(judged) && judged.amountsHold !== true) this.#noteUnproved(body)
    const named = isOfThisChain ? this.#misnamed(record.seq, body) : null
    const standing = this.#standings.judge(record, body, this.#judge.asksOf(body), this.#fromGenesis)
    // After the verdict's own mismatches; before open findings, because these checks need nothing that may be withheld.
    const found =
      judged === null || isOpen(judged)
        ? (misstated(body) ??
          named ??
          reviewed ??
          (standing !== null && !isOpen(standing) ? standing : null) ??
          wrongWriter ??
          judged ??
          standing)
        : judged
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
    const derived =
      this.#originTag === null ? null : evaluationId(this.#originTag, body.agent_id, body.client_ref, this.#sha256)
    const id = decodeId("evl_", derived ?? body.evaluation_id)
    const isNew = id === null || this.#references!.evaluation(seq, body.agent_id, id)
    if (derived === null) return null
    if (derived !== body.evaluation_id) {
      this.#references!.misnamed(seq, body.evaluation_id)
      return problem(
        "id_mismatch",
        `The id derived from the agent and its client_ref is ${derived}; the record says ${body.evaluation_id}.`
      )
    }
    return isNew ? null : problem("made_twice", "An earlier record answers the same client_ref of the agent.")
  }

  /** An amount that could not be recomputed proves no sum that includes it. */
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

  /** Drops contributions that no window reaches. Uses the records' time, because an evaluation states its own. */
  #sweep(atMs: number): void {
    this.#sinceSweep = 0
    const beforeMs = atMs - this.#longestWindowMs - LATE_MS - CLOCK_STEP_MS
    if (beforeMs <= this.#judge.forgottenMs) return
    this.#judge.forgottenMs = beforeMs
    this.#book.forget(beforeMs)
  }
}

/** Kinds that state whom an activation expects. */
const expecting: ReadonlySet<string> = new Set(["kill.activated", "kill.expected"])

/** The result for a record that is no evaluation; null without a problem. */
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
 * Checks the members that every evaluation of the service has. Versions on trial are recorded in `shadow`; an SDK that
 * decides by itself records decisions, not evaluations.
 */
const misstated = ({ decided_by: decidedBy, mode, outcome, review_id: reviewId }: EvaluationBody): Problem | null => {
  if (reviewId !== undefined && outcome !== "require_review")
    return problem(
      "review_mismatch",
      `Only the outcome require_review opens a review; the record says ${outcome} and names ${reviewId}.`
    )
  if (mode !== "enforced")
    return problem(
      "trace_mismatch",
      `The evaluation used the envelopes in force, so its mode is enforced; the record says ${mode}.`
    )
  return decidedBy === "server"
    ? null
    : problem("trace_mismatch", `The server decides an evaluation; the record says ${decidedBy}.`)
}

/** Describes a value of an invalid body: an object in it may have no text form. */
const shown = (value: Json | undefined): string => (typeof value === "string" ? value.slice(0, 200) : typeof value)

const givenBack = ({ evaluation_seq: seq, writer }: ReplayRecord["body"]): string =>
  `${String(writer)} lowers what the evaluation at ${Number(seq)} added to its meters, which no ingest key may.`
