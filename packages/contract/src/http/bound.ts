/**
 * The endpoints of bounded autonomy: envelopes, waivers, evaluations. Spec: document 1 section 4; api.md "bounded
 * autonomy".
 */
import { Result, Schema } from "effect"
import {
  BacktestIn,
  type BacktestInfo,
  BacktestOut,
  type DiffInfo,
  DiffOut,
  DiffQuery,
  EnvelopeCreate,
  type EnvelopeInfo,
  EnvelopeListQuery,
  EnvelopeOut,
  EnvelopeUpdate,
  type EnvelopeVersionInfo,
  EnvelopeVersionOut,
  LintIn,
  type LintInfo,
  LintOut,
  PublishIn,
  WaiverCreate,
  type WaiverInfo,
  WaiverOut,
  WithdrawIn
} from "../envelopes.ts"
import {
  Evaluation,
  EvaluationIn,
  type EvaluationInfo,
  type EvaluationInput,
  EvaluationListQuery,
  type ExplanationInfo,
  ExplanationOut,
  VoidIn,
  type VoidInfo,
  VoidOut
} from "../evaluations.ts"
import { decode } from "../foundation/decode.ts"
import { integerParam } from "../foundation/fields.ts"
import { NumberedPageQuery, pageQuery } from "../foundation/page.ts"
import { named } from "../foundation/plain.ts"
import { EnvelopesInForce } from "../local-verdicts.ts"
import {
  AgentNotFound,
  EnvelopeNotFound,
  EnvelopeVersionNotFound,
  EvaluationNotFound,
  WaiverNotFound
} from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, optionalBody, type Param, queryOf, tagged } from "./endpoint.ts"

const AT = "/api/v1/bound/envelopes/{envelope_id}"
const EVALUATION = "/api/v1/bound/evaluations/{evaluation_id}"
const envelope = { envelope_id: idParam("envelope", () => new EnvelopeNotFound({})) } as const
const evaluation = { evaluation_id: idParam("evaluation", () => new EvaluationNotFound({})) } as const
const agent = { agent_id: idParam("agent", () => new AgentNotFound({})) } as const
const waiver = { ...envelope, waiver_id: idParam("waiver", () => new WaiverNotFound({})) } as const

const number = integerParam(1, 1_000_000)
const readNumber = decode(number)
/** A version in a path. What is no number from 1 is a version that does not exist. */
const version: Param<number> = {
  plain: "number",
  schema: number,
  decode: (text, name) => Result.mapError(readNumber(text, "path", [name]), () => new EnvelopeVersionNotFound({})),
  example: "1"
}

const Envelope = named<EnvelopeInfo>()(EnvelopeOut)
const Version = named<EnvelopeVersionInfo>()(EnvelopeVersionOut)
const Waiver = named<WaiverInfo>()(WaiverOut)
const Verdict = named<EvaluationInfo>()(Evaluation)

/** Endpoints of envelopes. Spec: document 1 section 4, `/bound/envelopes`; decision 0025. */
export const envelopes = {
  create: endpoint({
    id: "bound.create_envelope",
    method: "POST",
    path: "/api/v1/bound/envelopes",
    summary: "Creates an envelope for an agent or an org unit, as a draft.",
    access: access.govern,
    body: jsonBody(EnvelopeCreate),
    success: json(201, Envelope),
    refusals: ["AgentNotFound", "EnvelopeExists", "OrgUnitNotAllowed"]
  }),
  list: endpoint({
    id: "bound.envelopes",
    method: "GET",
    path: "/api/v1/bound/envelopes",
    summary: "Lists envelopes, oldest first.",
    access: access.read,
    query: queryOf(EnvelopeListQuery),
    success: json(200, Schema.Array(Envelope))
  }),
  get: endpoint({
    id: "bound.envelope",
    method: "GET",
    path: AT,
    summary: "Returns one envelope with its draft.",
    access: access.read,
    params: envelope,
    success: json(200, Envelope),
    refusals: ["EnvelopeNotFound"]
  }),
  update: endpoint({
    id: "bound.update_envelope",
    method: "PATCH",
    path: AT,
    summary: "Replaces the draft. The version in force stays in force.",
    access: access.govern,
    params: envelope,
    body: jsonBody(EnvelopeUpdate),
    success: json(200, Envelope),
    refusals: ["EnvelopeNotFound", "EnvelopeRevisionConflict"]
  }),
  lint: endpoint({
    id: "bound.lint",
    method: "POST",
    path: `${AT}/lint`,
    summary: "Lints the draft: every error and warning with an example input, and the errors that are proved absent.",
    access: access.read,
    params: envelope,
    body: optionalBody(LintIn),
    success: json(200, named<LintInfo>()(LintOut)),
    refusals: ["EnvelopeNotFound", "ExaminationQueueFull", "NothingToPublish"]
  }),
  publish: endpoint({
    id: "bound.publish",
    method: "POST",
    path: `${AT}/publish`,
    summary: "Publishes the draft, in force or on trial. A draft that newly allows something needs a second governor.",
    access: access.govern,
    params: envelope,
    body: optionalBody(PublishIn),
    success: json(200, Version),
    refusals: [
      "EnvelopeNotFound",
      "EnvelopeNotPublishable",
      "EnvelopeRevisionConflict",
      "ExaminationQueueFull",
      "NothingToPublish",
      "SecondApproverRequired"
    ]
  }),
  withdraw: endpoint({
    id: "bound.withdraw",
    method: "POST",
    path: `${AT}/withdraw`,
    summary: "Withdraws the envelope. Evaluations that it would bind are denied until a version is published.",
    access: access.govern,
    params: envelope,
    body: optionalBody(WithdrawIn),
    success: json(200, Envelope),
    refusals: ["EnvelopeNotFound", "EnvelopeNotInForce"]
  }),
  backtest: endpoint({
    id: "bound.backtest",
    method: "POST",
    path: `${AT}/backtest`,
    summary: "Evaluates recorded inputs under the draft and compares the outcomes.",
    access: access.read,
    params: envelope,
    body: optionalBody(BacktestIn),
    success: json(200, named<BacktestInfo>()(BacktestOut)),
    refusals: ["EnvelopeNotFound", "EnvelopeNotPublishable", "ExaminationQueueFull", "NothingToPublish"]
  }),
  versions: endpoint({
    id: "bound.versions",
    method: "GET",
    path: `${AT}/versions`,
    summary: "Lists published versions, oldest first.",
    access: access.read,
    params: envelope,
    query: queryOf(NumberedPageQuery),
    success: json(200, Schema.Array(Version)),
    refusals: ["EnvelopeNotFound"]
  }),
  version: endpoint({
    id: "bound.version",
    method: "GET",
    path: `${AT}/versions/{version}`,
    summary: "Returns one published version.",
    access: access.read,
    params: { ...envelope, version },
    success: json(200, Version),
    refusals: ["EnvelopeNotFound", "EnvelopeVersionNotFound"]
  }),
  diff: endpoint({
    id: "bound.diff",
    method: "GET",
    path: `${AT}/diff`,
    summary: "Compares two versions exactly, with example inputs.",
    access: access.read,
    params: envelope,
    query: queryOf(DiffQuery),
    success: json(200, named<DiffInfo>()(DiffOut)),
    refusals: [
      "EnvelopeNotFound",
      "EnvelopeNotPublishable",
      "EnvelopeVersionNotFound",
      "ExaminationQueueFull",
      "NothingToPublish"
    ]
  })
} as const

/** Endpoints of waivers. Spec: decision 0025. */
export const waivers = {
  request: endpoint({
    id: "bound.request_waiver",
    method: "POST",
    path: `${AT}/waivers`,
    summary: "Requests a temporary exception to one rule of the version in force. Another governor grants it.",
    access: access.govern,
    params: envelope,
    body: jsonBody(WaiverCreate),
    success: json(201, Waiver),
    refusals: ["EnvelopeNotFound", "EnvelopeNotInForce"]
  }),
  list: endpoint({
    id: "bound.waivers",
    method: "GET",
    path: `${AT}/waivers`,
    summary: "Lists waivers of an envelope, oldest first.",
    access: access.read,
    params: envelope,
    query: queryOf(pageQuery("waiver")),
    success: json(200, Schema.Array(Waiver)),
    refusals: ["EnvelopeNotFound"]
  }),
  grant: endpoint({
    id: "bound.grant_waiver",
    method: "POST",
    path: `${AT}/waivers/{waiver_id}/grant`,
    summary: "Grants a waiver that another governor requested.",
    access: access.govern,
    params: waiver,
    success: json(200, Waiver),
    refusals: ["EnvelopeNotFound", "SecondApproverRequired", "WaiverNotFound", "WaiverNotOpen"]
  })
} as const

/** Endpoints of evaluations. Spec: document 1 section 4, `/bound/evaluations`; decision 0025. */
export const evaluations = {
  inForce: endpoint({
    id: "bound.envelopes_in_force",
    method: "GET",
    path: "/api/v1/bound/agents/{agent_id}/envelopes-in-force",
    summary:
      "Returns the envelopes in force for an agent, and whether its SDK may evaluate them while the service is down.",
    access: access.readOwn,
    params: agent,
    success: tagged(EnvelopesInForce),
    refusals: ["AgentNotFound"]
  }),
  evaluate: endpoint({
    id: "bound.evaluate",
    method: "POST",
    path: "/api/v1/bound/evaluations",
    summary: "Evaluates an agent's intended action and records the verdict.",
    access: access.capture,
    body: jsonBody(named<EvaluationInput>()(EvaluationIn), {
      keepRaw: (path) => path.length === 1 && (path[0] === "signals" || path[0] === "args")
    }),
    success: json(201, Verdict),
    refusals: ["AgentNotFound", "ClientRefReused"]
  }),
  list: endpoint({
    id: "bound.evaluations",
    method: "GET",
    path: "/api/v1/bound/evaluations",
    summary: "Lists an agent's evaluations, newest first. An empty page is the end.",
    access: access.readOwn,
    query: queryOf(EvaluationListQuery),
    success: json(200, Schema.Array(Verdict)),
    admission: "large_page",
    refusals: ["AgentNotFound"]
  }),
  get: endpoint({
    id: "bound.evaluation",
    method: "GET",
    path: EVALUATION,
    summary: "Returns one evaluation with its trace.",
    access: access.readOwn,
    params: evaluation,
    success: json(200, Verdict),
    refusals: ["EvaluationNotFound"]
  }),
  explain: endpoint({
    id: "bound.explain",
    method: "POST",
    path: `${EVALUATION}/explain`,
    summary: "Computes which changes of the input would have given a less restrictive outcome.",
    access: access.readOwn,
    params: evaluation,
    success: json(200, named<ExplanationInfo>()(ExplanationOut)),
    refusals: ["EvaluationNotFound"]
  }),
  void: endpoint({
    id: "bound.void_evaluation",
    method: "POST",
    path: `${EVALUATION}/void`,
    summary: "Voids an evaluation whose action was not taken: removes what it added to meters.",
    access: access.operate,
    params: evaluation,
    body: optionalBody(VoidIn),
    success: json(201, named<VoidInfo>()(VoidOut)),
    refusals: ["EvaluationEnded", "EvaluationNotFound", "NothingToVoid"]
  })
} as const
