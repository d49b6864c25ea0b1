/**
 * The response policy as state: what follows when something triggers, for whom, and who is notified. Plain data. Spec:
 * api.md "bounded autonomy", GET and PUT /bound/response-policy; decision 0046.
 */
import { policyTriggers } from "@flyball/evidence/words"
import type { AutonomyTier } from "../agents/document.ts"
import type { KillResponse } from "../kill/response.ts"

export { policyTriggers }

/** Collection of the response policy. */
export const RESPONSE_POLICY = "response_policy"

/** Id of the one document in {@link RESPONSE_POLICY}. */
export const RESPONSE_POLICY_ID = "policy"

/** One of {@link policyTriggers}. */
export type PolicyTrigger = (typeof policyTriggers)[number]

/** Scopes of a row, the most specific first: it wins. Spec: decision 0046. */
export const policyScopes = ["agent", "org_unit", "tier", "default"] as const

/** One of {@link policyScopes}. */
export type PolicyScope = (typeof policyScopes)[number]

/** A row. Spec: document 1 section 5, item 8, names a response policy; decision 0046. */
export type PolicyRow = {
  readonly scope: PolicyScope
  /** The agent's id, the org unit or the tier; null for `default`. */
  readonly target: string | null
  readonly trigger: PolicyTrigger
  readonly response: KillResponse
  /** E-mail addresses of those who are written to beside the owner. */
  readonly notify: ReadonlyArray<string>
}

/** The one document of the collection. Spec: decision 0046. */
export type ResponsePolicyDocument = { readonly rows: ReadonlyArray<PolicyRow> }

/** No row: none was ever set, or the part was erased. */
export const emptyResponsePolicy: ResponsePolicyDocument = { rows: [] }

/** Members that come from the part `policy`. */
export const responsePolicyMembers = ["rows"] as const

/** Facts about an agent that the policy reads. `orgUnit` is null where it was erased. */
export interface PolicyFacts {
  readonly id: string
  readonly tier: AutonomyTier
  readonly orgUnit: string | null
}

/**
 * Responses that a row may give to a trigger at which a job suspends the agent whatever the policy says. `notify` adds
 * people, `halt` and `quarantine` are stronger than a suspension; the others would be less. Spec: decision 0046.
 */
export const suspendingTriggers: ReadonlySet<PolicyTrigger> = new Set(["orphan", "recert"])

/**
 * Responses that a row of these triggers may have: the others are weaker than the suspension itself. Spec: decision
 * 0046.
 */
export const besideSuspension: ReadonlySet<KillResponse> = new Set(["notify", "halt", "quarantine"])
