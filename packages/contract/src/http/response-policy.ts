/** The endpoints of the response policy. Spec: api.md "bounded autonomy". */
import { Schema } from "effect"
import { named } from "../foundation/plain.ts"
import { PolicyRow, type PolicyRowInfo, ResponsePolicyIn } from "../response-policy.ts"
import { access } from "./access.ts"
import { endpoint, jsonBody, versioned } from "./endpoint.ts"

const PolicyRows = Schema.Array(named<PolicyRowInfo>()(PolicyRow))

/** Endpoints of the response policy. Spec: document 1 section 5, item 8; decision 0046. */
export const responsePolicy = {
  get: endpoint({
    id: "bound.response_policy",
    method: "GET",
    path: "/api/v1/bound/response-policy",
    summary: "Returns the response policy: the rows for all org units, and those for the caller's.",
    access: access.read,
    success: versioned(PolicyRows)
  }),
  set: endpoint({
    id: "bound.set_response_policy",
    method: "PUT",
    path: "/api/v1/bound/response-policy",
    summary: "Replaces the response policy, from the next trigger on. If-Match makes it conditional.",
    access: access.governAll,
    body: jsonBody(ResponsePolicyIn),
    success: versioned(PolicyRows),
    refusals: ["PolicyVersionConflict"]
  })
} as const
