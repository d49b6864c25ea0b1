/** Recomputes one recorded evaluation from the records before it. Spec: envelopes.md 3.8; decision 0026. */
import { equalBytes } from "@flyball/evidence"
import { askingFor, type Decision, type Values } from "@flyball/envelope"
import { areNewerRules, newerRules } from "../../records/rules-version.ts"
import type { ReplayRecord } from "../../records/record.ts"
import { actingSignals, judgeActingTier } from "../acting-tier.ts"
import { AdviceBytes } from "../../evaluations/advice.ts"
import { type Bound, Bindings } from "../../evaluations/bindings.ts"
import { type EvaluationBody, evaluationBody, type SideBody, sidesOf } from "../../evaluations/evaluation-body.ts"
import { foldMeters } from "../../evaluations/fold-meters.ts"
import { letsThrough } from "../../evaluations/recorded-side.ts"
import type { GovernedState, InForceThen } from "../../evaluations/governed-state.ts"
import { asRecorded, factsOf, sumsOfRecord } from "./evaluation-by-record.ts"
import { judgeKill } from "./kill.ts"
import { type PresentedApproval, unapproved } from "./reviews.ts"
import { judgeLayers } from "./evaluation-layers.ts"
import { argsIn, judgeSums, type Known, SideJudge } from "./evaluation-side.ts"
import { reportedOf } from "../../evaluations/known-agents.ts"
import { latchesOf } from "../../evaluations/layers.ts"
import type { Judged } from "../judges.ts"
import { isOpen, problem, type Problem } from "../recompute-verdict.ts"
import { RunLatches } from "../run-latches.ts"
import { signalsOf } from "../../evaluations/signals-part.ts"
import { documentSignals } from "../../documents/facts.ts"
import type { ExtractionJudge } from "./extractions.ts"
import { inactiveRuleOf, isActive } from "../../evaluations/may-act.ts"
import { WindowBook } from "@flyball/envelope"
import { CLOCK_STEP_MS, LATE_MS } from "../tolerances.ts"

/** Evaluations between two sweeps. */
const SWEEP_EVERY = 10_000

/** Recomputes evaluations, and keeps the windows of their meters and the latches of their runs. */
export class EvaluationJudge {
  /** Time of the first record; null if unknown. */
  #beginMs: number | null = null
  /** True once a window has amounts that could not be recomputed. */
  #hasUnproved = false
  /** Contributions up to this time were dropped. */
  #forgottenMs = Number.NEGATIVE_INFINITY
  #sinceSweep = 0
  readonly #state: GovernedState
  readonly #extractions: Pick<ExtractionJudge, "get">
  readonly #book = new WindowBook()
  readonly #latches = new RunLatches()
  readonly #fromGenesis: boolean
  readonly #longestWindowMs: number
  readonly #bindings: Bindings
  readonly #sides = new SideJudge(this.#book)
  readonly #advice = new AdviceBytes()

  constructor(
    state: GovernedState,
    extractions: Pick<ExtractionJudge, "get">,
    fromGenesis: boolean,
    longestWindowMs: number
  ) {
    this.#state = state
    this.#extractions = extractions
    this.#fromGenesis = fromGenesis
    this.#longestWindowMs = longestWindowMs
    this.#bindings = new Bindings(({ envelopeId, version }) => state.version(envelopeId, version)?.gone === true)
  }

  /** The layers of verdicts of other kinds, compiled. */
  get bindings(): Bindings {
    return this.#bindings
  }

  /**
   * Rules and layers that require a review of an evaluation, by its trace. Null where none does, or a version that it
   * names is not shown.
   */
  asksOf(body: EvaluationBody): ReadonlyArray<number> | null {
    if (body.standing_approval_id === undefined && body.outcome !== "require_review") return null
    const layers = body.layers.map(({ envelope_id: id, version }) => this.#state.layer(id, version, body.as_of_ms))
    const combination = this.#bindings.of(layers, false).ready?.combination ?? null
    return combination === null ? null : askingFor(combination.compiled, body.trace)
  }

  /**
   * Compares the next evaluation with its recomputation: the difference, why it is unknown, or null where they agree.
   * Its meters count as the record says.
   */
  take({ atMs, beginMs, record }: Judged, approval: PresentedApproval): Problem | null {
    const body = evaluationBody(record.body)
    this.#beginMs = beginMs
    const found = this.#judge(record, body, atMs, approval)
    if (found !== null && isOpen(found) && found.amountsHold !== true) this.#noteUnproved(body)
    foldMeters(this.#book, record)
    if (body.latches !== undefined) this.#latches.add(body.agent_id, body.run_id ?? "", body.latches)
    if (atMs !== null && ++this.#sinceSweep >= SWEEP_EVERY) this.#sweep(atMs)
    return found
  }

  /** Takes a settlement or a void. It counts as its record says, also a repeated one, as in the service. */
  end(record: ReplayRecord): Problem | null {
    if (foldMeters(this.#book, record)) return null
    const { evaluation_seq: seq, writer } = record.body
    return problem(
      "meter_mismatch",
      `${String(writer)} lowers what the evaluation at ${Number(seq)} added to its meters, which no ingest key may.`
    )
  }

  /** An amount that could not be recomputed proves no sum that includes it. */
  #noteUnproved(body: EvaluationBody): void {
    for (const { meters, outcome } of sidesOf(body)) {
      if (!letsThrough(outcome)) continue
      for (const { window } of meters) {
        const ledger = this.#book.ledger(window)
        this.#hasUnproved = true
        ledger.unprovedMs = Math.max(body.as_of_ms, ledger.latestMs)
      }
    }
  }

  /** Drops contributions that no window reaches. Uses the records' time, because an evaluation states its own. */
  #sweep(atMs: number): void {
    this.#sinceSweep = 0
    const beforeMs = atMs - this.#longestWindowMs - LATE_MS - CLOCK_STEP_MS
    if (beforeMs <= this.#forgottenMs) return
    this.#forgottenMs = beforeMs
    this.#book.forget(beforeMs)
  }

  #judge(
    record: ReplayRecord,
    body: EvaluationBody,
    recordMs: number | null,
    approval: PresentedApproval
  ): Problem | null {
    if (areNewerRules(record.body)) return problem("withheld", newerRules(record.body))
    const found = this.#byRecords(record, body, recordMs, approval)
    return this.#fromGenesis || found?.verdict !== "withheld"
      ? found
      : this.#byItself(record, body, recordMs, approval, found)
  }

  /** Where records before the first one are needed, the decision must at least follow from its own record. */
  #byItself(
    record: ReplayRecord,
    body: EvaluationBody,
    recordMs: number | null,
    approval: PresentedApproval,
    open: Problem
  ): Problem {
    const shown =
      judgeTimes(body, record.seq, recordMs) ??
      judgeLayers(this.#state, body, null, false) ??
      judgeSums(body, record.seq) ??
      (body.shadow === undefined ? null : judgeSums(body.shadow, record.seq))
    if (shown !== null) return shown
    const facts = factsOf(this.#state, this.#bindings, record, body)
    if (facts === null) return open
    const sides = new SideJudge(new WindowBook())
    const found = this.#judgeSides(
      body,
      record.parts,
      facts.live,
      facts.shadow,
      { ...facts.known, approved: isApproved(body, approval), windows: sides.windows },
      { sides, sums: sumsOfRecord },
      approval
    )
    if (found !== null && found.verdict !== "withheld") return found
    // The record does not say whether a meter had room for another key.
    return (found === null || found.reason === sumsOfRecord.reason) &&
      !isBudget(body) &&
      (body.shadow === undefined || !isBudget(body.shadow))
      ? asRecorded(open)
      : open
  }

  #byRecords(
    { parts, seq }: ReplayRecord,
    body: EvaluationBody,
    recordMs: number | null,
    approval: PresentedApproval
  ): Problem | null {
    const { agent_id: agentId, as_of_ms: atMs } = body
    const agent = this.#state.agents.get(agentId)
    if (agent === undefined)
      return this.#fromGenesis
        ? problem("tier_mismatch", "No record registers the agent.")
        : problem("withheld", "The agent was registered before the first record here.")
    const { document, madeMs, server } = reportedOf(agentId, agent)
    if (document.autonomyTier !== body.tier)
      return problem("tier_mismatch", `The agent's tier was ${document.autonomyTier}; the record says ${body.tier}.`)
    if (document.status !== body.agent_status)
      return problem("tier_mismatch", `The agent was ${document.status}; the record says ${body.agent_status}.`)
    const times = judgeTimes(body, seq, recordMs)
    if (times !== null) return times
    const inForce = this.#state.inForce(agentId, atMs)
    const layers = judgeLayers(this.#state, body, inForce, this.#fromGenesis)
    if (layers !== null && layers.verdict !== "withheld") return layers
    const kill = judgeKill(this.#state, agentId, body, this.#fromGenesis)
    if (kill.problem !== null) return kill.problem
    const acting = judgeActingTier(document, body, kill.response)
    if (acting !== null) return acting
    const sums = judgeSums(body, seq) ?? (body.shadow === undefined ? null : judgeSums(body.shadow, seq))
    if (sums !== null) return sums
    if (layers !== null) return layers
    if (inForce === null) return problem("withheld", "The org unit of the agent, or of an envelope, is not shown.")
    const signals = parts.get("signals")
    if (signals?.state !== "present") return problem("withheld", "The signals are not shown.")
    if (agent.document.unknown.length > 0 && agent.document.unknown.includes("blastRadius"))
      return problem("withheld", "The agent's profile is not shown.")
    const { live, shadow } = this.#bound(inForce)
    const hidden = live.hidden ?? shadow?.hidden ?? null
    if (hidden !== null) return problem("withheld", `Version ${hidden.version} of ${hidden.envelopeId} is not shown.`)
    const args = argsIn(parts, body, live, shadow)
    if (args === null) return notShown
    const ofDocument = this.#documentOf(body)
    if ("verdict" in ofDocument) return ofDocument
    const runId = body.run_id ?? null
    const known: Known = {
      signals: signalsOf(signals.bytes),
      ...args,
      runId,
      kill: kill.response ?? "none",
      agent: {
        id: agentId,
        orgUnit: document.orgUnit ?? "",
        isActive: isActive(agentId, document, atMs, madeMs),
        inactiveRule: inactiveRuleOf(document.status)
      },
      server: { ...actingSignals(server, body), ...ofDocument.signals },
      latches: this.#latches.of(agentId, runId ?? ""),
      approved: isApproved(body, approval),
      windows: this.#sides.windows
    }
    return this.#judgeSides(body, parts, live, shadow, known, null, approval)
  }

  /** The signals of the extraction that it names. */
  #documentOf({ agent_id: agentId, extraction_id: id }: EvaluationBody): Problem | { readonly signals: Values } {
    if (id === undefined) return noDocument
    const known = this.#extractions.get(id)
    if (known === undefined)
      return this.#fromGenesis
        ? problem("reference_mismatch", `No record before it extracts ${id}.`)
        : problem("withheld", `The extraction ${id} is from before the first record here.`)
    if (known === null) return problem("reference_mismatch", `The extraction ${id} failed.`)
    if (known.agentId !== agentId && this.#state.isOfUnit(agentId, known.orgUnitDigest) === false)
      return problem("reference_mismatch", `The extraction ${id} is of another org unit than the agent.`)
    return { signals: documentSignals(known.facts) }
  }

  /** `reported`: uses the sums of the record; windows have no owner then. */
  #judgeSides(
    body: EvaluationBody,
    parts: ReplayRecord["parts"],
    live: Bound,
    shadow: Bound | null,
    known: Known,
    reported: { readonly sides: SideJudge; readonly sums: Problem } | null = null,
    approval: PresentedApproval = "none"
  ): Problem | null {
    if (!this.#fromGenesis && known.runId !== null && (live.hasLatches || shadow?.hasLatches === true))
      return problem("withheld", "The latches set in the run before the first record here are unknown.")
    const atMs = body.as_of_ms
    const sides = reported?.sides ?? this.#sides
    const enforced = sides.judge(body, live, known, atMs, reported?.sums ?? this.#unknownSum(live, body, atMs))
    if (enforced.problem !== null && enforced.problem.verdict !== "withheld")
      return enforced.problem.verdict === "outcome_mismatch" &&
        enforced.decision.outcome === "require_review" &&
        body.outcome === "allow" &&
        body.approval_id !== undefined
        ? unapproved(body, approval)
        : enforced.problem
    const trial =
      shadow === null || body.shadow === undefined
        ? null
        : sides.judge(body.shadow, shadow, known, atMs, reported?.sums ?? this.#unknownSum(shadow, body.shadow, atMs))
    if (trial !== null && trial.problem !== null && trial.problem.verdict !== "withheld") return trial.problem
    const others =
      judgeLatches(body, live, shadow, known) ??
      this.#judgeAdvice(body, parts, enforced.decision, enforced.problem !== null)
    if (others !== null && others.verdict !== "withheld") return others
    const open = enforced.problem ?? trial?.problem ?? others
    return approval === "unknown" && enforced.decision.approved
      ? (open ?? problem("withheld", "The review of its approval is from before the first record here."))
      : open
  }

  /**
   * Advice follows from the verdict. With an unknown sum the record may state another verdict: its advice is then not
   * checked.
   */
  #judgeAdvice(
    { matched_rule }: EvaluationBody,
    parts: ReplayRecord["parts"],
    decision: Decision,
    isOpen: boolean
  ): Problem | null {
    if (isOpen && matched_rule !== decision.matchedRule) return null
    const advice = this.#advice.of(decision)
    const part = parts.get("advice")
    if (advice === null)
      return part === undefined ? null : problem("advice_mismatch", "The verdict has no advice; the record has.")
    if (part === undefined) return problem("advice_mismatch", "The record lacks the advice of the verdict.")
    if (part.state !== "present")
      return { ...problem("withheld", "The advice of the verdict is not shown."), amountsHold: true }
    return equalBytes(advice, part.bytes)
      ? null
      : problem("advice_mismatch", "The advice of the verdict differs from that of the record.")
  }

  /**
   * Why the sums of the meters are unknown: records before the first one, or evaluations that were not recomputed. Null
   * if they are known.
   */
  #unknownSum({ owners, ready }: Bound, { meters }: SideBody, atMs: number): Problem | null {
    if (ready === null) return null
    for (const { id, windowMs } of ready.combination.meters) {
      const sinceMs = atMs - windowMs
      // A meter of an envelope created in these records was empty before, whatever the length of its window.
      if (
        !this.#fromGenesis &&
        (this.#beginMs === null || sinceMs < this.#beginMs + CLOCK_STEP_MS) &&
        !this.#state.beganHere(owners.get(id) ?? "")
      )
        return problem("withheld", `The meter ${id} reaches back before the first record here.`)
      if (sinceMs < this.#forgottenMs)
        return problem("withheld", `The meter ${id} is read so long before its record that its value then is not kept.`)
      const window = this.#hasUnproved ? meters.find((meter) => meter.id === id)?.window : undefined
      if (window !== undefined && this.#book.unprovedMs(window) > sinceMs)
        return problem("withheld", `The meter ${id} holds amounts of evaluations that could not be recomputed.`)
    }
    return null
  }

  #bound(inForce: InForceThen): { readonly live: Bound; readonly shadow: Bound | null } {
    inForce.bound ??= {
      live: this.#bindings.of(inForce.live, false),
      shadow: inForce.shadow === null ? null : this.#bindings.of(inForce.shadow, true)
    }
    return inForce.bound
  }
}

const noDocument = { signals: {} }

/** Checks the times of an evaluation by themselves. */
const judgeTimes = (body: EvaluationBody, seq: number, recordMs: number | null): Problem | null => {
  if (body.as_of_seq >= seq) return problem("meter_mismatch", "The record's as_of_seq is after the record itself.")
  return recordMs === null || body.as_of_ms <= recordMs + CLOCK_STEP_MS
    ? null
    : problem("meter_mismatch", `The evaluation was made at ${recordMs} ms; the record says ${body.as_of_ms}.`)
}

const notShown = problem("withheld", "The arguments, which the envelope reads, are not shown.")

const judgeLatches = (body: EvaluationBody, live: Bound, shadow: Bound | null, known: Known): Problem | null => {
  const recorded = body.latches ?? none
  const set = latchesOf(shadow === null ? [live] : [live, shadow], known, known.server)
  return set.join() === recorded.join()
    ? null
    : problem("trace_mismatch", "Other latches were set than the record says.")
}

/** An unknown approval is taken from the record; the verdict is then not reported as proved. */
const isApproved = (body: EvaluationBody, approval: PresentedApproval): boolean =>
  body.standing_approval_id !== undefined ||
  approval === "approved" ||
  (approval === "unknown" && body.outcome === "allow")

const isBudget = ({ matched_rule }: SideBody): boolean => matched_rule.startsWith("@budget:")

const none: ReadonlyArray<string> = []
