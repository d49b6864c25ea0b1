/** Standing approvals as they travel: approvals in advance, of a box of inputs. Spec: api.md; decision 0050. */
import { Schema } from "effect"
import { ahead } from "./foundation/ahead.ts"
import { check, id, instant, integer, list, oneOf, optional, patterned, reason } from "./foundation/fields.ts"
import { pageOf } from "./foundation/page.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { becomesRecord, inBody, inDocument, inPart, showsRecords, wholePart } from "./foundation/place.ts"

/** Statuses of a standing approval. */
export const standingApprovalStatuses = ["proposed", "granted", "expired", "used_up", "revoked"] as const

/** Most pins of a box, and most values of one pin. */
export const MAX_PINS = 32
const MAX_VALUES = 64

const finite = Schema.Number.check(
  check<number>(Number.isFinite, { type: "value_error", msg: "Input should be a finite number" })
)
const value = Schema.Union([Schema.String, finite, Schema.Boolean])

/**
 * A condition on one value: `eq`, `at_most` or `one_of`. `path`: a JSON pointer below `/signals` or `/args`. Spec:
 * format 1 section 8, `standing_approval.proposed`; decision 0050.
 */
export const PinIn = Schema.Struct({
  path: patterned(/^\/(?:signals|args)(?:\/(?:[^~/]|~[01])+)+$/, 512),
  eq: Schema.optionalKey(value),
  at_most: Schema.optionalKey(finite),
  one_of: Schema.optionalKey(Schema.Array(value))
}).check(
  check<{ readonly eq?: unknown; readonly at_most?: unknown; readonly one_of?: ReadonlyArray<unknown> }>(
    (pin) =>
      [pin.eq, pin.at_most, pin.one_of].filter((one) => one !== undefined).length === 1 &&
      (pin.one_of === undefined || (pin.one_of.length >= 1 && pin.one_of.length <= MAX_VALUES)),
    { type: "value_error", msg: `A pin has one of eq, at_most and one_of; one_of lists 1 to ${MAX_VALUES} values` }
  )
)

/** Body of POST /bound/standing-approvals. Spec: decision 0050. */
export const StandingApprovalCreate = Schema.Struct({
  /** A review that the caller approved. */
  review_id: inBody(id("review")),
  pins: inPart("box", list(PinIn, 1, MAX_PINS)),
  /** Largest number of evaluations that it approves. */
  count: inBody(integer(1, 10_000)),
  expires_at: ahead(inBody(instant)),
  reason: wholePart("reason", reason(2_000))
}).annotate(becomesRecord("standing_approval.proposed"))
export type StandingApprovalCreate = typeof StandingApprovalCreate.Type

/** Input of a proposal. Spec: decision 0050. */
export interface StandingApprovalInput extends Input<typeof StandingApprovalCreate> {}

/** Body of POST …/revoke. */
export const StandingApprovalRevokeIn = Schema.Struct({
  reason: wholePart("reason", optional(reason(2_000)))
}).annotate(becomesRecord("standing_approval.revoked"))
export type StandingApprovalRevokeIn = typeof StandingApprovalRevokeIn.Type

/** Query of GET /bound/standing-approvals. */
export const StandingApprovalListQuery = Schema.Struct({
  ...pageOf("standingApproval"),
  agent_id: Schema.optionalKey(id("agent")),
  status: Schema.optionalKey(oneOf(standingApprovalStatuses))
})
export type StandingApprovalListQuery = typeof StandingApprovalListQuery.Type

const nullText = Schema.NullOr(Schema.String)

/** A pin as it is shown: one of `eq`, `at_most` and `one_of`, and null for the others. */
export const Pin = Schema.Struct({
  path: Schema.String,
  eq: Schema.NullOr(value),
  at_most: Schema.NullOr(finite),
  one_of: Schema.NullOr(Schema.Array(value))
})

/** The version of an envelope that it approves under. */
export const ApprovedLayer = Schema.Struct({
  envelope_id: Schema.String,
  version: Schema.Int,
  digest: Schema.String
})

/**
 * A standing approval. It lets evaluations of its box through while it is `granted`, under the versions of `layers`.
 * `action`, `args` and `pins` are its box: null once the part was erased, and then it approves nothing. Spec: decision
 * 0050.
 */
export const StandingApproval = Schema.Struct({
  id: inBody(Schema.String, "standing_approval_id"),
  agent_id: inBody(Schema.String),
  review_id: inBody(Schema.String),
  evaluation_id: inBody(Schema.String),
  layers: inBody(Schema.Array(ApprovedLayer)),
  action: inPart("box", nullText),
  args: inPart("box", Schema.NullOr(Schema.Array(Schema.String))),
  pins: inPart("box", Schema.NullOr(Schema.Array(Pin))),
  count: inBody(Schema.Int),
  left: inDocument(Schema.Int),
  status: inDocument(oneOf(standingApprovalStatuses)),
  expires_at: inBody(instant),
  reason: wholePart("reason", nullText),
  proposed_by: inBody(Schema.String, "writer"),
  granted_by: inDocument(nullText),
  revoked_by: inDocument(nullText)
}).annotate(showsRecords(["standing_approval.proposed"], { body: ["asks", "box_digest", "rules"] }))
export type StandingApproval = typeof StandingApproval.Type

/** A standing approval with its remaining uses. Spec: decision 0050. */
export interface StandingApprovalInfo extends Info<typeof StandingApproval> {}
