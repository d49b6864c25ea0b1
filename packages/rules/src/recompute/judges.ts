/** Lists the judges of a recomputation. Spec: decision 0026. */
import { type Crypto, decodeId, utf8 } from "@flyball/evidence"
import { type EvaluationBody, evaluationBody } from "../evaluations/evaluation-body.ts"
import { evaluationId } from "../evaluations/evaluation-id.ts"
import { erasing, type GovernedState } from "../evaluations/governed-state.ts"
import type { ReplayRecord } from "../records/record.ts"
import { AnalysisJudge } from "./checks/analyses.ts"
import { judgeAgentParts } from "./checks/agent-parts.ts"
import { AlertJudge } from "./checks/alerts.ts"
import { BreakerJudge } from "./checks/breakers.ts"
import { DriftJudge } from "./checks/drift.ts"
import { judgeCalibration } from "./checks/calibration.ts"
import { DrillJudge } from "./checks/drills.ts"
import { Ends } from "./checks/ends.ts"
import { EvalJudge } from "./checks/evals.ts"
import { ExecutionJudge } from "./checks/executions.ts"
import { EvaluationJudge } from "./checks/evaluation.ts"
import { ExtractionJudge } from "./checks/extractions.ts"
import { ExpectedJudge } from "./checks/expected.ts"
import { judgeScreen } from "./checks/fairness.ts"
import { GatewayJudge } from "./checks/gateway.ts"
import { PositionJudge } from "./checks/positions.ts"
import { KeyTimes } from "./checks/key-times.ts"
import { HighlyReached, judgeChannel, judgeEpoch, judgeRelease } from "./checks/kill.ts"
import { judgeLifecycle } from "./checks/lifecycle.ts"
import { isLocal, judgeLocal } from "./checks/local-verdict.ts"
import { McpJudge } from "./checks/mcp.ts"
import { judgeRules } from "./checks/named-rules.ts"
import { References } from "./checks/references.ts"
import { ResponseJudge } from "./checks/responses.ts"
import { RouteJudge } from "./checks/routes.ts"
import { ReviewJudge } from "./checks/reviews.ts"
import { MAX_PROOF_WORK, StandingApprovalJudge } from "./checks/standing-approvals.ts"
import { Steps } from "./checks/steps.ts"
import { judgeStateTime, StopJudge } from "./checks/stops.ts"
import { judgeActivation } from "./checks/tier-gate.ts"
import { Writers } from "./checks/writers.ts"
import { KeptDecisions } from "./kept-decisions.ts"
import { problem, type Problem } from "./recompute-verdict.ts"
import type { RecomputeOptions } from "./recomputation.ts"
import { isJudged, isRecomputed } from "./recomputed-records.ts"

/** A record, before it is folded. */
export interface Judged {
  /** Numbered as all chains count: below zero in a chain before this one. */
  readonly record: ReplayRecord
  /** The record's own time; null: not known. */
  readonly atMs: number | null
  /** The time of the first record. */
  readonly beginMs: number | null
  readonly isOfThisChain: boolean
  /** Seq from which on the records of this chain are known. */
  readonly first: number
  /** True when every record from record 0 on was read. */
  readonly isWhole: boolean
}

/** A judge of records of some kinds. It keeps what it needs of those before. */
export interface RecordJudge {
  readonly name: string
  readonly sees: (kind: string) => boolean
  /** True when it takes records of chains before this one. What it says of them is not reported. */
  readonly ofAllChains: boolean
  /** Takes the next record; answers the problem, or null. */
  readonly take: (judged: Judged) => Problem | null
  /** Takes a record that cannot be read: what it would have changed is not known. */
  readonly skip: ((judged: Judged) => void) | undefined
}

/**
 * Makes the judges of one recomputation, in the order in which they take a record, and in which their findings rank.
 * `state`: what the records before say, kept up to date by the caller.
 */
export const judgesOf = (
  state: GovernedState,
  sha256: Crypto["sha256"],
  {
    fromGenesis,
    keepsDecisions = true,
    longestWindowMs = Number.POSITIVE_INFINITY,
    maxProofWork = MAX_PROOF_WORK,
    origin
  }: RecomputeOptions
): ReadonlyArray<RecordJudge> => {
  const originTag = origin === undefined ? null : sha256(utf8(origin)).slice(0, 4)
  const extractions = new ExtractionJudge((agentId, digest) => state.isOfUnit(agentId, digest), fromGenesis)
  const evaluations = new EvaluationJudge(state, extractions, fromGenesis, longestWindowMs)
  const { bindings } = evaluations
  const reviews = new ReviewJudge(state, fromGenesis)
  const standings = new StandingApprovalJudge(sha256, { state, bindings }, { maxWork: maxProofWork })
  const breakers = new BreakerJudge(state.agents, fromGenesis)
  const responses = new ResponseJudge(state, (id) => breakers.firing(id), fromGenesis)
  const expected = new ExpectedJudge(state, fromGenesis)
  const stops = new StopJudge(state, fromGenesis)
  const evals = new EvalJudge(fromGenesis)
  const drift = new DriftJudge(sha256, fromGenesis)
  const mcp = new McpJudge(sha256, fromGenesis, (agentId) => orgUnitDigestOf(state, agentId))
  const decisions = new KeptDecisions()
  const analyses = new AnalysisJudge(sha256)
  const routes = new RouteJudge(sha256, fromGenesis)
  const executions = new ExecutionJudge(sha256, fromGenesis)
  const alerts = new AlertJudge(fromGenesis)
  const gateway = new GatewayJudge(fromGenesis)
  const positions = new PositionJudge(fromGenesis)
  const [drills, ends, highlyReached, keys] = [new DrillJudge(), new Ends(), new HighlyReached(), new KeyTimes()]
  const [steps, writers] = [new Steps(), new Writers()]
  let known: References | null = null
  const references = (first: number): References => (known ??= new References(first))

  return [
    everywhere("extraction", kinds("extraction.", "decision.witnessed", "evaluation.made"), ({ record }) =>
      extractions.take(record)
    ),
    here("local verdict", kinds("decision.witnessed"), ({ atMs, first, record }) =>
      isLocal(record) ? judgeLocal(record, atMs, { state, bindings, fromGenesis, first, origin: origin ?? null }) : null
    ),
    everywhere("evaluation", kinds("evaluation.made", "part.erased", "waiver."), (judged) => {
      const { body, kind, parts } = judged.record
      if (evaluation(kind)) return evaluations.take(judged, reviews.approvalOf(evaluationBody(body), parts))
      // Compiled envelopes hold what this record changes.
      if (kind !== "part.erased" || erasing.has(String(body["name"]))) bindings.forget()
      return null
    }),
    here("evaluation's members", evaluation, ({ record: { body } }) => misstated(evaluationBody(body))),
    here(
      "evaluation's id",
      evaluation,
      ({ first, record: { body, seq } }) => {
        const { agent_id: agentId, client_ref: ref, evaluation_id: id } = evaluationBody(body)
        const derived = originTag === null ? null : evaluationId(originTag, agentId, ref, sha256)
        return misnamed(references(first), { seq, agentId, id }, derived)
      },
      ({ first, record }) => references(first).unknown(record.seq)
    ),
    everywhere("review", kinds("evaluation.made", "review."), ({ atMs, record }) =>
      evaluation(record.kind)
        ? reviews.evaluation(evaluationBody(record.body), record.parts)
        : reviews.take(record, atMs)
    ),
    everywhere("standing approval", kinds("evaluation.made", "review.", "standing_approval."), ({ record }) => {
      const body = evaluationBody(record.body)
      if (evaluation(record.kind)) return standings.judge(record, body, evaluations.asksOf(body), fromGenesis)
      const review = reviews.review(String(body.review_id))
      if (!record.kind.startsWith("review.")) return standings.take(record, review, fromGenesis)
      if (review !== undefined) standings.reviewEnded(review)
      return null
    }),
    everywhere("meter", end, ({ record }) => evaluations.end(record)),
    here("end", end, ({ record }) => said("ended_twice", ends.problem(record))),
    here("reference", kinds("decision.witnessed", "decision.settled", "meter.voided"), ({ first, record }) => {
      if (end(record.kind)) return said("reference_mismatch", references(first).problem(record)?.reason)
      references(first).decision(record)
      return null
    }),
    here("channel", kinds("channel.checked"), ({ record }) => (fromGenesis ? judgeChannel(state, record) : null)),
    everywhere("drill", kinds("drill.", "kill."), ({ record }) => drills.take(record, fromGenesis)),
    everywhere("release", stopping, ({ record }) => {
      if (record.kind === "kill.released") return judgeRelease(state, record, highlyReached, fromGenesis)
      highlyReached.activated(state, record)
      return null
    }),
    here("tier gate", kinds("agent.activated"), ({ atMs, record: { body } }) =>
      judgeActivation(state.agents.get(String(body["agent_id"])), body, atMs)
    ),
    here("calibration", kinds("breaker.armed", "breaker.changed"), ({ atMs, record }) =>
      atMs === null
        ? null
        : judgeCalibration(record, breakers.documentOf(String(record.body["breaker_id"])), decisions, fromGenesis)
    ),
    everywhere(
      "breaker",
      isJudged,
      (judged) => breakers.take(judged),
      () => breakers.forgetFired()
    ),
    everywhere(
      "response policy",
      isJudged,
      ({ isOfThisChain, record }) => responses.take(record, isOfThisChain),
      () => responses.forgetRequest()
    ),
    here("expected instance", isJudged, ({ atMs, record }) => (atMs === null ? null : expected.take(record, atMs))),
    everywhere("stop", kinds("kill."), ({ atMs, record }) => stops.take(record, atMs)),
    everywhere("writer", isRecomputed, ({ record }) => said("writer_mismatch", writers.problem(record))),
    everywhere("eval run", kinds("eval.recorded"), ({ record }) =>
      evals.take(record, state.agents.has(String(record.body["agent_id"])))
    ),
    here("fairness screen", screened, ({ atMs, first, record }) => {
      if (record.kind === "fairness.screened") return judgeScreen(record, { state, decisions, first, fromGenesis })
      if (keepsDecisions) decisions.take(record, atMs ?? 0)
      return null
    }),
    everywhere("execution", kinds("workflow.", "execution.", "platform_key.minted"), ({ atMs, record }) =>
      executions.take(record, atMs)
    ),
    here("analysis", kinds("analysis."), ({ record }) => analyses.take(record)),
    everywhere("route plan", kinds("route_plan.", "evaluation.made"), ({ record }) => routes.take(record)),
    everywhere("alert", kinds("monitor.changed", "alert."), ({ record }) => alerts.take(record)),
    everywhere("positions", kinds("positions.recorded"), ({ atMs, record }) => positions.take(record, atMs)),
    everywhere("gateway", kinds("model.", "evaluation.made", "decision.witnessed"), ({ record }) =>
      gateway.take(record)
    ),
    everywhere(
      "drift",
      kinds("breaker.armed", "breaker.changed", "decision.", "drift.alarmed", "response_policy.changed"),
      (judged) => drift.take(judged)
    ),
    everywhere(
      "tool server",
      isJudged,
      ({ record }) => mcp.take(record),
      () => mcp.forget()
    ),
    everywhere(
      "epoch",
      stopping,
      ({ record }) => judgeEpoch(state, record),
      () => state.kills.epochIs(null)
    ),
    here("status", isJudged, ({ isWhole, record }) => judgeLifecycle(state.agents, record, isWhole)),
    here("time of a stop", stopping, ({ atMs, record }) => judgeStateTime(record, atMs)),
    here("rules", isJudged, ({ record }) => judgeRules(record)),
    everywhere("step", isRecomputed, (judged) => steps.take(judged)),
    here("part of an agent", kinds("agent."), ({ record }) => judgeAgentParts(record, originTag)),
    everywhere(
      "key",
      () => true,
      ({ atMs, record }) => (atMs === null ? null : keys.take(record, atMs))
    )
  ]
}

/** A judge of records of this chain. */
const here = (
  name: string,
  sees: RecordJudge["sees"],
  take: RecordJudge["take"],
  skip?: RecordJudge["skip"]
): RecordJudge => ({ name, sees, take, skip, ofAllChains: false })

/** A judge that takes records of chains before this one too. */
const everywhere = (...of: Parameters<typeof here>): RecordJudge => ({ ...here(...of), ofAllChains: true })

/** Some kinds, and those that begin with a word that ends in a dot. */
const kinds =
  (...words: ReadonlyArray<string>) =>
  (kind: string): boolean =>
    words.some((word) => (word.endsWith(".") ? kind.startsWith(word) : kind === word))
/** The digest of an agent's org unit; null where it has none, undefined where the agent is not known. */
const orgUnitDigestOf = (state: GovernedState, agentId: string): string | null | undefined => {
  const agent = state.agents.get(agentId)
  if (agent === undefined) return undefined
  const digest = agent.document.body["orgUnitDigest"]
  return typeof digest === "string" ? digest : null
}

const evaluation = kinds("evaluation.made")
const end = kinds("decision.settled", "meter.voided")
const stopping = kinds("kill.activated", "kill.released")
const screened = kinds("decision.settled", "decision.witnessed", "evaluation.made", "fairness.screened", "part.erased")

const said = (verdict: Problem["verdict"], reason: string | null | undefined): Problem | null =>
  reason === null || reason === undefined ? null : problem(verdict, reason)

/** Checks the id of an evaluation, and notes it. `derived`: the id that it must have; null: not known. */
const misnamed = (
  references: References,
  { agentId, id, seq }: { readonly seq: number; readonly agentId: string; readonly id: string },
  derived: string | null
): Problem | null => {
  const bytes = decodeId("evl_", derived ?? id)
  const isNew = bytes === null || references.evaluation(seq, agentId, bytes)
  if (derived === null) return null
  if (derived !== id) {
    references.misnamed(seq, id)
    return problem(
      "id_mismatch",
      `The id derived from the agent and its client_ref is ${derived}; the record says ${id}.`
    )
  }
  return isNew ? null : problem("made_twice", "An earlier record answers the same client_ref of the agent.")
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
