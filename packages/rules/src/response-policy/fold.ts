/** Folds `response_policy.changed` into the document it says there is: the newest one counts, whole. */
import { partMembers } from "../records/part-json.ts"
import type { ExpectedDocument, JsonMap, ReplayRecord } from "../records/record.ts"
import {
  emptyResponsePolicy,
  type PolicyScope,
  type PolicyTrigger,
  RESPONSE_POLICY,
  RESPONSE_POLICY_ID,
  type ResponsePolicyDocument,
  responsePolicyMembers
} from "./document.ts"
import type { KillResponse } from "../kill/response.ts"

/** The document after `response_policy.changed`. */
export const foldResponsePolicyChanged = (record: ReplayRecord): ExpectedDocument => {
  const part = partMembers(record.parts.get("policy"))
  const body: ResponsePolicyDocument = part.state === "known" ? readPolicy(part.members) : emptyResponsePolicy
  return {
    collection: RESPONSE_POLICY,
    id: RESPONSE_POLICY_ID,
    body: body as unknown as JsonMap,
    unique: {},
    unknown: part.state === "known" || part.state === "erased" ? [] : responsePolicyMembers,
    erased: part.state === "erased" ? responsePolicyMembers : [],
    personal: responsePolicyMembers
  }
}

const readPolicy = (members: JsonMap): ResponsePolicyDocument => ({
  rows: listOf(members["rows"]).map((row) => ({
    scope: String(row["scope"]) as PolicyScope,
    target: typeof row["target"] === "string" ? row["target"] : null,
    trigger: String(row["trigger"]) as PolicyTrigger,
    response: String(row["response"]) as KillResponse,
    notify: Array.isArray(row["notify"]) ? row["notify"].map(String) : []
  }))
})

const listOf = (value: unknown): ReadonlyArray<JsonMap> =>
  Array.isArray(value) ? (value as ReadonlyArray<JsonMap>) : []
