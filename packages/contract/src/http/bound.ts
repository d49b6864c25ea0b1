/**
 * The endpoints of bounded autonomy: envelopes, waivers, evaluations. Spec: document 1 section 4; api.md "bounded
 * autonomy".
 */
import { Result, Schema } from "effect"
import {
  BacktestIn,
  BacktestOut,
  DiffOut,
  DiffQuery,
  EnvelopeCreate,
  EnvelopeListQuery,
  EnvelopeOut,
  EnvelopeUpdate,
  EnvelopeVersionOut,
  LintIn,
  LintOut,
  PublishIn,
  WaiverCreate,
  WaiverOut,
  WithdrawIn
} from "../envelopes.ts"
import { Evaluation, EvaluationIn, EvaluationListQuery, ExplanationOut, VoidIn, VoidOut } from "../evaluations.ts"
import { decode } from "../foundation/decode.ts"
import { integerParam } from "../foundation/fields.ts"
import { NumberedPageQuery, pageQuery } from "../foundation/page.ts"
import { EnvelopesInForce } from "../local-verdicts.ts"
import {
  AgentNotFound,
  EnvelopeNotFound,
  EnvelopeVersionNotFound,
  EvaluationNotFound,
  WaiverNotFound
} from "../refusals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, optionalBody, type Param, queryOf } from "./endpoint.ts"

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

/** Endpoints of envelopes, waivers and evaluations. Spec: document 1 section 4, `/bound`; decision 0025. */
export const bound = {
  createEnvelope: endpoint({
    id: "bound.create_envelope",
    method: "POST",
    path: "/api/v1/bound/envelopes",
    summary: "Creates an envelope for an agent or an org unit, as a draft.",
    access: access.govern,
    body: jsonBody(EnvelopeCreate),
    success: json(201, EnvelopeOut),
    refusals: ["AgentNotFound", "EnvelopeExists", "OrgUnitNotAllowed"]
  }),
  envelopes: endpoint({
    id: "bound.envelopes",
    method: "GET",
    path: "/api/v1/bound/envelopes",
    summary: "Lists envelopes, oldest first.",
    access: access.read,
    query: queryOf(EnvelopeListQuery),
    success: json(200, Schema.Array(EnvelopeOut))
  }),
  envelope: endpoint({
    id: "bound.envelope",
    method: "GET",
    path: AT,
    summary: "Returns one envelope with its draft.",
    access: access.read,
    params: envelope,
    success: json(200, EnvelopeOut),
    refusals: ["EnvelopeNotFound"]
  }),
  updateEnvelope: endpoint({
    id: "bound.update_envelope",
    method: "PATCH",
    path: AT,
    summary: "Replaces the draft. The version in force stays in force.",
    access: access.govern,
    params: envelope,
    body: jsonBody(EnvelopeUpdate),
    success: json(200, EnvelopeOut),
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
    success: json(200, LintOut),
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
    success: json(200, EnvelopeVersionOut),
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
    success: json(200, EnvelopeOut),
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
    success: json(200, BacktestOut),
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
    success: json(200, Schema.Array(EnvelopeVersionOut)),
    refusals: ["EnvelopeNotFound"]
  }),
  version: endpoint({
    id: "bound.version",
    method: "GET",
    path: `${AT}/versions/{version}`,
    summary: "Returns one published version.",
    access: access.read,
    params: { ...envelope, version },
    success: json(200, EnvelopeVersionOut),
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
    success: json(200, DiffOut),
    refusals: [
      "EnvelopeNotFound",
      "EnvelopeNotPublishable",
      "EnvelopeVersionNotFound",
      "ExaminationQueueFull",
      "NothingToPublish"
    ]
  }),
  requestWaiver: endpoint({
    id: "bound.request_waiver",
    method: "POST",
    path: `${AT}/waivers`,
    summary: "Requests a temporary exception to one rule of the version in force. Another governor grants it.",
    access: access.govern,
    params: envelope,
    body: jsonBody(WaiverCreate),
    success: json(201, WaiverOut),
    refusals: ["EnvelopeNotFound", "EnvelopeNotInForce"]
  }),
  waivers: endpoint({
    id: "bound.waivers",
    method: "GET",
    path: `${AT}/waivers`,
    summary: "Lists waivers of an envelope, oldest first.",
    access: access.read,
    params: envelope,
    query: queryOf(pageQuery("waiver")),
    success: json(200, Schema.Array(WaiverOut)),
    refusals: ["EnvelopeNotFound"]
  }),
  grantWaiver: endpoint({
    id: "bound.grant_waiver",
    method: "POST",
    path: `${AT}/waivers/{waiver_id}/grant`,
    summary: "Grants a waiver that another governor requested.",
    access: access.govern,
    params: waiver,
    success: json(200, WaiverOut),
    refusals: ["EnvelopeNotFound", "SecondApproverRequired", "WaiverNotFound", "WaiverNotOpen"]
  }),
  envelopesInForce: endpoint({
    id: "bound.envelopes_in_force",
    method: "GET",
    path: "/api/v1/bound/agents/{agent_id}/envelopes-in-force",
    summary:
      "Returns the envelopes in force for an agent, and whether its SDK may evaluate them while the service is down.",
    access: access.readOwn,
    params: agent,
    success: json(200, EnvelopesInForce),
    refusals: ["AgentNotFound"]
  }),
  evaluate: endpoint({
    id: "bound.evaluate",
    method: "POST",
    path: "/api/v1/bound/evaluations",
    summary: "Evaluates an agent's intended action and records the verdict.",
    access: access.capture,
    body: jsonBody(EvaluationIn, {
      keepRaw: (path) => path.length === 1 && (path[0] === "signals" || path[0] === "args")
    }),
    success: json(201, Evaluation),
    refusals: ["AgentNotFound", "ClientRefReused"]
  }),
  evaluations: endpoint({
    id: "bound.evaluations",
    method: "GET",
    path: "/api/v1/bound/evaluations",
    summary: "Lists an agent's evaluations, newest first. An empty page is the end.",
    access: access.readOwn,
    query: queryOf(EvaluationListQuery),
    success: json(200, Schema.Array(Evaluation)),
    admission: "large_page",
    refusals: ["AgentNotFound"]
  }),
  evaluation: endpoint({
    id: "bound.evaluation",
    method: "GET",
    path: EVALUATION,
    summary: "Returns one evaluation with its trace.",
    access: access.readOwn,
    params: evaluation,
    success: json(200, Evaluation),
    refusals: ["EvaluationNotFound"]
  }),
  explain: endpoint({
    id: "bound.explain",
    method: "POST",
    path: `${EVALUATION}/explain`,
    summary: "Computes which changes of the input would have given a less restrictive outcome.",
    access: access.readOwn,
    params: evaluation,
    success: json(200, ExplanationOut),
    refusals: ["EvaluationNotFound"]
  }),
  voidEvaluation: endpoint({
    id: "bound.void_evaluation",
    method: "POST",
    path: `${EVALUATION}/void`,
    summary: "Voids an evaluation whose action was not taken: removes what it added to meters.",
    access: access.operate,
    params: evaluation,
    body: optionalBody(VoidIn),
    success: json(201, VoidOut),
    refusals: ["EvaluationEnded", "EvaluationNotFound", "NothingToVoid"]
  })
} as const
