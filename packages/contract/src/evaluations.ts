/** Evaluations as they travel. Spec: document 1 section 2, Evaluation record; api.md "bounded autonomy". */
import { Schema } from "effect"
import { deciders } from "./decisions.ts"
import { envelopeModes, evaluationOutcomes } from "./envelopes.ts"
import {
  check,
  id,
  foreignName,
  identifier,
  instant,
  integerParam,
  leftOut,
  oneOf,
  optional,
  patterned,
  reason
} from "./foundation/fields.ts"
import type { Filter, Info, Input } from "./foundation/plain.ts"
import { DEFAULT_PAGE, MAX_PAGE } from "./foundation/limits.ts"
import { becomesRecord, computed, inBody, inPart, showsRecords, wholePart } from "./foundation/place.ts"

/**
 * How long an agent may act on a verdict.
 *
 * - Unit: milliseconds; the longest that a kill status may be old.
 */
export const VERDICT_VALID_MS = 15_000

/** Bytes of an evaluation's signals. Envelopes declare at most 64 of 128 characters each. */
export const SIGNALS_LIMIT_BYTES = 65_536

/** Bytes of the arguments of an action. */
export const ARGS_LIMIT_BYTES = 262_144

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value)

/** Any JSON object. What is wrong with it is a verdict, not an error: unknown signals are denied, and on record. */
const signals = Schema.Unknown.check(
  check<unknown>(isObject, { type: "dict_type", msg: "Input should be a valid dictionary" })
)

/** `sha256:<hex>`: the digest of the arguments of an action. */
export const actionDigest = patterned(/^sha256:[0-9a-f]{64}$/, 71)

/**
 * Body of POST /bound/evaluations. The same content under the same `client_ref` gets the first answer again. Spec:
 * document 1 section 2, "Evaluation record"; `envelope/1` section 11.
 */
export const EvaluationIn = Schema.Struct({
  agent_id: inBody(id("agent")),
  /**
   * Your own name for this request, unique per agent: the same content again gets the first answer, other content is
   * refused.
   */
  client_ref: inBody(identifier(128)),
  /** By name, as the envelope declares them. Unknown ones are denied, and those that are read from `args`. */
  signals: wholePart("signals", signals),
  action: wholePart("action", optional(foreignName(200))),
  /**
   * `sha256:<hex>` over the RFC 8785 form of the action's arguments: a review is bound to it. Left out, it is that of
   * `args`.
   */
  action_digest: inBody(optional(actionDigest)),
  run_id: inBody(optional(identifier(200))),
  /** Your own name for the process that acts: one agent may run in several. */
  instance_id: inBody(optional(identifier(128))),
  /** The review that approved this very action. It is consumed where the verdict does not need it to be stricter. */
  approval_id: inBody(optional(identifier(200))),
  /** The extraction, in the agent's org unit, whose facts the signals `document_*` of source `server` are. */
  extraction_id: inBody(optional(id("extraction"))),
  /**
   * The arguments: any JSON, up to 262,144 bytes. Envelopes read signals of source `args` from them, and people who
   * review the action see them. Required where an envelope in force reads them and `action_digest` is sent.
   */
  args: wholePart("args", optional(Schema.Unknown)),
  /**
   * Something was left out of `args`. `action_digest` is then over all of them, and is not compared. A signal that is
   * read at the text `[redacted]` is denied.
   */
  args_redacted: inBody(optional(Schema.Boolean))
}).annotate(becomesRecord("evaluation.made"))
export type EvaluationIn = typeof EvaluationIn.Type

/** The intent that is evaluated. Spec: document 1 section 2, "Evaluation record"; decision 0025. */
export interface EvaluationInput extends Input<typeof EvaluationIn> {}

/**
 * One step of a trace. `failed_on` is what a rule failed on, or what was expected of the signal that `id` names; null
 * where a rule holds nowhere, or where there is nothing to say. Spec: `envelope/1` section 12.
 */
export const TraceEntryOut = Schema.Struct({
  step: Schema.String,
  id: Schema.String,
  result: oneOf(["hit", "miss", "error"]),
  outcome: Schema.NullOr(oneOf(evaluationOutcomes)),
  failed_on: Schema.NullOr(Schema.String)
})

/** A meter as an evaluation found it, and as it would be after the action. Spec: `envelope/1` section 6. */
export const MeterOut = Schema.Struct({
  id: Schema.String,
  value: Schema.Int,
  after: Schema.Int,
  as_of_seq: Schema.Int,
  reserved: Schema.Boolean
})

/** An envelope that took part. */
export const LayerOut = Schema.Struct({ envelope_id: Schema.String, version: Schema.Int, digest: Schema.String })

/** The verdict of versions on trial. It binds nobody. */
export const ShadowOut = Schema.Struct({
  outcome: oneOf(evaluationOutcomes),
  matched_rule: Schema.String,
  layers: Schema.Array(LayerOut)
})

/**
 * An evaluation. `signals` is what was sent; null once it was erased, and where it has no exact JSON form. `envelope_*`
 * is the innermost envelope in force, null where there was none. `tier` is the agent's own, `effective_tier` the one
 * whose floor counted: that of the highest tier whose conditions the agent still met. `valid_ms`: how long from
 * `created_at` an agent may act on it. Spec: document 1 section 2, "Evaluation record"; decision 0025.
 */
export const Evaluation = Schema.Struct({
  id: inBody(Schema.String, "evaluation_id"),
  agent_id: inBody(Schema.String),
  envelope_id: computed(Schema.NullOr(Schema.String)),
  envelope_version: computed(Schema.NullOr(Schema.Int)),
  client_ref: inBody(Schema.String),
  signals: wholePart("signals", Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))),
  outcome: inBody(oneOf(evaluationOutcomes)),
  matched_rule: inBody(Schema.String),
  /**
   * Why, in words: the reason of the rule that decided, or what a reserved name leaves open. An invalid signal is named
   * with what was expected. Null where there is nothing more to say.
   */
  reason: computed(Schema.NullOr(Schema.String)),
  trace: inBody(Schema.Array(TraceEntryOut)),
  created_at: computed(instant),
  seq: computed(Schema.Int),
  record_hash: computed(Schema.String),
  obligations: inPart("advice", Schema.Array(Schema.Record(Schema.String, Schema.Unknown))),
  notice_ms: inPart("advice", Schema.NullOr(Schema.Int)),
  retry_after_ms: inPart("advice", Schema.NullOr(Schema.Int)),
  suggestion: inPart("advice", Schema.NullOr(Schema.String)),
  review_id: inBody(Schema.NullOr(Schema.String)),
  /** The standing approval that let it through: without it the outcome were `require_review`. */
  standing_approval_id: inBody(Schema.NullOr(Schema.String)),
  valid_ms: computed(Schema.Int),
  mode: inBody(oneOf(envelopeModes)),
  /** The activation of the kill switch that is named for the agent's state; null where none reached it. */
  activation_event: inBody(Schema.NullOr(Schema.String), "activations"),
  /** The epoch that began with that activation. */
  epoch: inBody(Schema.NullOr(Schema.Int), "activations"),
  decided_by: inBody(oneOf(deciders)),
  action: wholePart("action", Schema.NullOr(Schema.String)),
  action_digest: inBody(Schema.NullOr(Schema.String)),
  run_id: inBody(Schema.NullOr(Schema.String)),
  instance_id: inBody(Schema.NullOr(Schema.String)),
  approval_id: inBody(Schema.NullOr(Schema.String)),
  extraction_id: inBody(Schema.NullOr(Schema.String)),
  tier: inBody(Schema.String),
  /** The tier whose floor counted. */
  effective_tier: inBody(Schema.String),
  agent_status: inBody(Schema.String),
  as_of_ms: inBody(Schema.Int),
  as_of_seq: inBody(Schema.Int),
  meters: inBody(Schema.Array(MeterOut)),
  layers: inBody(Schema.Array(LayerOut)),
  waivers: inBody(Schema.Array(Schema.String)),
  shadow: inBody(Schema.NullOr(ShadowOut))
}).annotate(
  showsRecords(["evaluation.made"], {
    body: ["args_redacted", "latches", "rules", "stopped_on", "writer"],
    parts: ["args"]
  })
)
export type Evaluation = typeof Evaluation.Type

/**
 * The verdict with its inputs and trace. The agent may act on it for `valid_ms`. Spec: document 1 section 2,
 * "Evaluation record"; decision 0025.
 */
export interface EvaluationInfo extends Info<typeof Evaluation> {}

/**
 * Query of GET /bound/evaluations. `before` is the seq of the last evaluation seen; newest come first. A page reads a
 * bounded number of records and may be shorter than `limit`: an empty one is the end.
 */
export const EvaluationListQuery = Schema.Struct({
  /** Left out, those of every agent that the caller may read. */
  agent_id: Schema.optionalKey(id("agent")),
  /** Outcome of the evaluation. */
  outcome: Schema.optionalKey(oneOf(evaluationOutcomes)),
  /** The rule that decided, as `matched_rule` names it. */
  rule: Schema.optionalKey(identifier(128)),
  /** Made at this time or later. */
  since: Schema.optionalKey(instant),
  /** 1 to 1,000, default 100. */
  limit: leftOut(integerParam(1, MAX_PAGE), DEFAULT_PAGE),
  /** Seq of the last evaluation seen. */
  before: Schema.optionalKey(integerParam())
})
export type EvaluationListQuery = typeof EvaluationListQuery.Type

/** Which evaluations of an agent to list, newest first. */
export interface EvaluationFilter extends Filter<typeof EvaluationListQuery> {}

/**
 * One change of an input: an interval of numbers, or a value; null: absent. `interval` is the interval of an integer
 * signal, both bounds included; null for a value of another type, and where the signal would be absent.
 */
export const ChangeOut = Schema.Struct({
  signal: Schema.String,
  source: Schema.String,
  from: Schema.Unknown,
  to: Schema.Unknown,
  interval: Schema.NullOr(Schema.Struct({ at_least: Schema.Int, at_most: Schema.Int }))
})

/**
 * Answer of POST /bound/evaluations/{evaluation_id}/explain: the nearest less restrictive verdict. `reason` says why
 * there is none. `sentence` says in words what decided and why, always. `tier_reason` says why the agent acted below
 * its tier; null where it did not. `approval` is what turned `require_review` into `allow`, and the people who approved
 * it; null where nothing did. Spec: `envelope/1` section 13.
 */
export const ExplanationOut = Schema.Struct({
  evaluation_id: Schema.String,
  outcome: oneOf(evaluationOutcomes),
  matched_rule: Schema.String,
  rule_reason: Schema.NullOr(Schema.String),
  effective_tier: Schema.String,
  /** Why the agent acted below its tier; null where it did not. */
  tier_reason: Schema.NullOr(Schema.String),
  nearest: Schema.NullOr(
    Schema.Struct({
      outcome: oneOf(evaluationOutcomes),
      changes: Schema.Array(ChangeOut),
      held: Schema.Array(Schema.String),
      sentence: Schema.String
    })
  ),
  reason: Schema.NullOr(oneOf(["least_restrictive", "no_cell", "none", "partial", "withheld"])),
  approval: Schema.NullOr(
    Schema.Struct({
      review_id: Schema.NullOr(Schema.String),
      standing_approval_id: Schema.NullOr(Schema.String),
      approved_by: Schema.Array(Schema.String)
    })
  ),
  /** The explanation in words: which rule decided, why, and what would change the outcome. */
  sentence: Schema.String
})
export type ExplanationOut = typeof ExplanationOut.Type

/** The changes that would have led to a less restrictive outcome. Spec: `envelope/1` section 13. */
export interface ExplanationInfo extends Info<typeof ExplanationOut> {}

/** Body of POST /bound/evaluations/{evaluation_id}/void. Spec: format 1 section 8, `meter.voided`. */
export const VoidIn = Schema.Struct({ reason: wholePart("reason", optional(reason(2_000))) }).annotate(
  becomesRecord("meter.voided")
)
export type VoidIn = typeof VoidIn.Type

/** Place of the record that voids an evaluation. */
export const VoidOut = Schema.Struct({
  evaluation_id: Schema.String,
  seq: Schema.Int,
  record_hash: Schema.String,
  duplicate: Schema.Boolean
})
export type VoidOut = typeof VoidOut.Type

/** Receipt of a voided evaluation. */
export interface VoidInfo extends Info<typeof VoidOut> {}
