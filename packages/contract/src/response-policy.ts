/**
 * The response policy as it travels: what follows when something triggers, for whom, and who is notified. Spec: api.md
 * "bounded autonomy", GET and PUT /bound/response-policy; decision 0046.
 */
import { policyTriggers } from "@flyball/evidence/words"
import { Schema } from "effect"
import { leftOut, list, name, oneOf, optional } from "./foundation/fields.ts"
import { killResponses } from "./kill.ts"
import { type Info, type Input, named } from "./foundation/plain.ts"
import { mailAddress } from "./foundation/mail-address.ts"
import { inPart, showsRecords } from "./foundation/place.ts"

export { policyTriggers }

/** Scopes of rows. The narrowest that fits an agent counts: `agent`, `org_unit`, `tier`, `default`. */
export const policyScopes = ["default", "tier", "org_unit", "agent"] as const

/** One of {@link policyScopes}. */
export type PolicyScope = (typeof policyScopes)[number]

/** One of {@link policyTriggers}. */
export type PolicyTrigger = (typeof policyTriggers)[number]

/** Most rows of a policy, which is read at every trigger. */
export const MAX_POLICY_ROWS = 1_000
/** Most addresses of a row. */
export const MAX_POLICY_ADDRESSES = 32

/** A row of PUT /bound/response-policy. Spec: decision 0046. */
export const PolicyRowIn = Schema.Struct({
  scope: oneOf(policyScopes),
  /** The tier, the org unit or the agent's id. Null for `default`. Unknown agents and tiers are refused. */
  target: optional(name(100)),
  trigger: oneOf(policyTriggers),
  /**
   * For `orphan` and `recert`, at which the agent is suspended anyway: `notify`, `halt` or `quarantine`. For `review`,
   * which people answer: `notify`.
   */
  response: oneOf(killResponses),
  /** E-mail addresses of those who are written to beside the owner. At most 32. Default none. */
  notify: leftOut(list(mailAddress, 0, MAX_POLICY_ADDRESSES), [])
})
export type PolicyRowIn = typeof PolicyRowIn.Type

/** A row to be set. `target` is a tier, an org unit or an agent's id, and left out for the scope `default`. */
export interface PolicyRowInput extends Input<typeof PolicyRowIn> {}

/**
 * Body of PUT /bound/response-policy: the whole policy, at most 1,000 rows, one for a scope, target and trigger. Spec:
 * document 1 section 5, item 8; decision 0046.
 */
export const ResponsePolicyIn = list(named<PolicyRowInput>()(PolicyRowIn), 0, MAX_POLICY_ROWS)
export type ResponsePolicyIn = typeof ResponsePolicyIn.Type

/** A row of the policy in force. */
export const PolicyRow = Schema.Struct({
  scope: oneOf(policyScopes),
  target: Schema.NullOr(Schema.String),
  trigger: oneOf(policyTriggers),
  response: oneOf(killResponses),
  notify: Schema.Array(Schema.String)
})
export type PolicyRow = typeof PolicyRow.Type

/** A row in force. */
export interface PolicyRowInfo extends Info<typeof PolicyRow> {}

/**
 * The response policy as its record states it. Over HTTP it is the list of its rows. Spec: document 1 section 5, item
 * 8; decision 0046.
 */
export const ResponsePolicy = Schema.Struct({
  rows: inPart("policy", Schema.Array(PolicyRow))
}).annotate(showsRecords(["response_policy.changed"], { body: ["rows", "writer"] }))
export type ResponsePolicy = typeof ResponsePolicy.Type
