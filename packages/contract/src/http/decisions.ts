/** The endpoints of capture. Spec: api.md "decisions, chain, evidence". */
import { Schema } from "effect"
import {
  CaptureGapIn,
  CaptureGapOut,
  DecisionBatchIn,
  DecisionDetail,
  type DecisionDetailInfo,
  DecisionIn,
  type DecisionInfo,
  type DecisionInput,
  DecisionListQuery,
  DecisionOut,
  decodeWitness,
  decodeWitnessInSlices,
  type GapInput,
  type GapReceipt,
  InstanceEndIn,
  InstanceEndOut,
  rawMembers,
  type Receipts,
  ReceiptsOut,
  SettleIn,
  type SettleInput,
  SettleOut,
  type SettleReceipt
} from "../decisions.ts"
import { BATCH_LIMIT_BYTES } from "../foundation/limits.ts"
import { named } from "../foundation/plain.ts"
import { DecisionNotFound } from "../refusals.ts"
import { access } from "./access.ts"
import { agentId } from "./agents.ts"
import { type Body, endpoint, idParam, json, jsonBody, queryOf } from "./endpoint.ts"

const isRaw = (path: ReadonlyArray<string | number>): boolean =>
  path.length === 1
    ? rawMembers.has(path[0]!)
    : path.length === 3 && path[0] === "decisions" && typeof path[1] === "number" && rawMembers.has(path[2]!)

/** One decision, or a batch of them. */
const witnessed = named<DecisionInput | ReadonlyArray<DecisionInput>>()(Schema.Union([DecisionBatchIn, DecisionIn]))
const witnessBody: Body<ReadonlyArray<DecisionIn>, typeof witnessed, false> = {
  schema: witnessed,
  decode: decodeWitness,
  decodeInSlices: decodeWitnessInSlices,
  limitBytes: BATCH_LIMIT_BYTES,
  optional: false,
  keepRaw: isRaw
}

/** Endpoints of decisions and capture gaps. Spec: format 1 section 8; decisions 0001 and 0002. */
export const decisions = {
  witness: endpoint({
    id: "decisions.witness",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/decisions",
    summary: "Witnesses 1 to 1,000 decisions, all or none.",
    access: access.capture,
    params: { agent_id: agentId },
    body: witnessBody,
    success: json(201, named<Receipts>()(ReceiptsOut)),
    admission: "capture",
    refusals: ["AgentNotFound", "CaptureNotMediated", "ClientRefReused", "DecisionTooLarge"]
  }),
  list: endpoint({
    id: "decisions.list",
    method: "GET",
    path: "/api/v1/agents/{agent_id}/decisions",
    summary: "Lists an agent's decisions, newest first.",
    access: access.readOwn,
    params: { agent_id: agentId },
    query: queryOf(DecisionListQuery),
    success: json(200, Schema.Array(named<DecisionInfo>()(DecisionOut))),
    admission: "large_page",
    refusals: ["AgentNotFound"]
  }),
  get: endpoint({
    id: "decisions.get",
    method: "GET",
    path: "/api/v1/decisions/{decision_id}",
    summary: "Returns one decision with its outcome; its arguments, result and labels to those who may read parts.",
    access: access.readOwn,
    params: { decision_id: idParam("decision", () => new DecisionNotFound()) },
    success: json(200, named<DecisionDetailInfo>()(DecisionDetail)),
    refusals: ["DecisionNotFound"]
  }),
  settle: endpoint({
    id: "decisions.settle",
    method: "POST",
    path: "/api/v1/decisions/{decision_id}/settle",
    summary: "Records the outcome of a decision, once.",
    access: access.capture,
    params: { decision_id: idParam("decision", () => new DecisionNotFound()) },
    body: jsonBody(named<SettleInput>()(SettleIn), { keepRaw: (path) => path.length === 1 && path[0] === "result" }),
    success: json(201, named<SettleReceipt>()(SettleOut)),
    refusals: [
      "DecisionNotFound",
      "DecisionAlreadySettled",
      "DecisionTooLarge",
      "EvaluationEnded",
      "SettleBelowReserved"
    ]
  }),
  gap: endpoint({
    id: "decisions.gap",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/capture-gaps",
    summary: "Records a capture gap: a period in which decisions were not witnessed.",
    access: access.capture,
    params: { agent_id: agentId },
    body: jsonBody(named<GapInput>()(CaptureGapIn)),
    success: json(201, named<GapReceipt>()(CaptureGapOut)),
    refusals: ["AgentNotFound"]
  }),
  endInstance: endpoint({
    id: "decisions.end_instance",
    method: "POST",
    path: "/api/v1/agents/{agent_id}/instances/end",
    summary: "Records that an instance ended: a halt after it does not wait for its answer.",
    access: access.capture,
    params: { agent_id: agentId },
    body: jsonBody(InstanceEndIn),
    success: json(201, InstanceEndOut),
    refusals: ["AgentNotFound"]
  })
} as const
