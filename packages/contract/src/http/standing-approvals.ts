/** The endpoints of standing approvals. Spec: api.md "bounded autonomy"; decision 0050. */
import { Schema } from "effect"
import { named } from "../foundation/plain.ts"
import { StandingApprovalNotFound } from "../refusals.ts"
import {
  StandingApproval,
  StandingApprovalCreate,
  type StandingApprovalInfo,
  type StandingApprovalInput,
  StandingApprovalListQuery,
  StandingApprovalRevokeIn
} from "../standing-approvals.ts"
import { access } from "./access.ts"
import { endpoint, idParam, json, jsonBody, optionalBody, queryOf } from "./endpoint.ts"

const AT = "/api/v1/bound/standing-approvals"
const one = {
  standing_approval_id: idParam("standingApproval", () => new StandingApprovalNotFound({}))
} as const

const Approval = named<StandingApprovalInfo>()(StandingApproval)

/** Endpoints of standing approvals. Spec: decision 0050. */
export const standingApprovals = {
  propose: endpoint({
    id: "standing_approvals.propose",
    method: "POST",
    path: AT,
    summary: "Proposes a standing approval for a box of inputs, from a review that the caller approved.",
    access: access.review,
    body: jsonBody(named<StandingApprovalInput>()(StandingApprovalCreate)),
    success: json(201, Approval),
    refusals: ["EnvelopeNotInForce", "NotTheApprover", "ReviewNotApproved", "ReviewNotFound", "StandingApprovalTooWide"]
  }),
  list: endpoint({
    id: "standing_approvals.list",
    method: "GET",
    path: AT,
    summary: "Lists standing approvals, oldest first.",
    access: access.read,
    query: queryOf(StandingApprovalListQuery),
    success: json(200, Schema.Array(Approval))
  }),
  get: endpoint({
    id: "standing_approvals.get",
    method: "GET",
    path: `${AT}/{standing_approval_id}`,
    summary: "Returns one standing approval with its remaining uses.",
    access: access.read,
    params: one,
    success: json(200, Approval),
    refusals: ["StandingApprovalNotFound"]
  }),
  grant: endpoint({
    id: "standing_approvals.grant",
    method: "POST",
    path: `${AT}/{standing_approval_id}/grant`,
    summary: "Activates a standing approval that another person proposed.",
    access: access.govern,
    params: one,
    success: json(200, Approval),
    refusals: ["ReviewerNotEligible", "SecondApproverRequired", "StandingApprovalNotFound", "StandingApprovalNotOpen"]
  }),
  revoke: endpoint({
    id: "standing_approvals.revoke",
    method: "POST",
    path: `${AT}/{standing_approval_id}/revoke`,
    summary: "Revokes a standing approval, at once.",
    access: access.operate,
    params: one,
    body: optionalBody(StandingApprovalRevokeIn),
    success: json(200, Approval),
    refusals: ["StandingApprovalNotFound", "StandingApprovalNotOpen"]
  })
} as const
