/** The kill switch as it travels. Spec: document 1 section 2, Kill status; api.md "bounded autonomy". */
import { killResponses, killTargetTypes } from "@flyball/evidence/words"
import { Schema } from "effect"
import { autonomyTiers } from "./agents.ts"
import {
  defaulted,
  id,
  foreignName,
  identifier,
  instant,
  integer,
  integerParam,
  leftOut,
  oneOf,
  optional,
  specifiedPattern,
  reason
} from "./foundation/fields.ts"
import type { Info } from "./foundation/plain.ts"
import { DEFAULT_PAGE, MAX_PAGE } from "./foundation/limits.ts"
import { becomesRecord, computed, inBody, showsRecords, wholePart } from "./foundation/place.ts"

export { killResponses, killTargetTypes }

/** Types of targets that requests may name. Spec: document 1 section 8, "target type". */
export const killTargets = ["agent", "model"] as const

/** Modes of a drill. */
export const drillModes = ["shadow", "live"] as const

/**
 * Time for which a client may use a kill status.
 *
 * - Unit: milliseconds. No new side effect begins later than this after an activation, whatever the network does.
 */
export const KILL_TTL_MS = 15_000

/** Longest that a request for the status waits for a change. Unit: milliseconds. */
export const MAX_KILL_WAIT_MS = 25_000

/** Characters of a nonce. */
export const MAX_NONCE = 128

const targetType = oneOf(killTargets)
/** An agent's id, or a model as agents name it in `model_ids`. */
const targetId = foreignName(200)

/** Body of POST /bound/kill/activate. Spec: decision 0047. */
export const KillActivateIn = Schema.Struct({
  target_type: inBody(targetType),
  /** An agent's id or exact name. A model's id, `name` or `provider/name`, the last two with `@version` too. */
  target_id: inBody(targetId),
  /** Left out: that of the row of the response policy for `manual`, else `halt`. */
  response: inBody(optional(oneOf(killResponses))),
  reason: wholePart("reason", reason(2_000))
}).annotate(becomesRecord("kill.activated"))
export type KillActivateIn = typeof KillActivateIn.Type

/** Query of POST /bound/kill/activate. A dry run answers whom it would reach, and records nothing. */
export const KillActivateQuery = Schema.Struct({ dry_run: Schema.optionalKey(oneOf(["true", "false"])) })
export type KillActivateQuery = typeof KillActivateQuery.Type

/** Body of POST /bound/kill/release. */
export const KillReleaseIn = Schema.Struct({
  activation_event: inBody(id("activation"), "activation_id"),
  reason: wholePart("reason", reason(2_000))
}).annotate(becomesRecord("kill.released"))
export type KillReleaseIn = typeof KillReleaseIn.Type

/** Query of GET /bound/kill/status. */
export const KillStatusQuery = Schema.Struct({
  /** `agent` or `model`. */
  target_type: specifiedPattern(/^(agent|model)$/),
  target_id: targetId,
  /** With `If-None-Match`: waits so long for a state of another `ETag`. Milliseconds, at most 25,000. */
  wait_ms: Schema.optionalKey(integerParam(0, MAX_KILL_WAIT_MS)),
  /** Any identifier of yours: the answer repeats it, and is signed. */
  nonce: Schema.optionalKey(identifier(MAX_NONCE))
})
export type KillStatusQuery = typeof KillStatusQuery.Type

/** Query of GET /bound/kill/stream. */
export const KillStreamQuery = Schema.Struct({ target_type: KillStatusQuery.fields.target_type, target_id: targetId })
export type KillStreamQuery = typeof KillStreamQuery.Type

/**
 * The kill state of a target. `halted`: no new side effect may begin. `drill`: what is named is an exercise; a shadow
 * drill has `halted` false. `response` is that of the named activation, `effective_response` what holds: null where
 * nothing does. `epoch` counts the changes of the deployment's kill state: within an `origin` it never goes back.
 * `as_of_seq` is the record that the epoch began with; null where it is in no record of this chain. `ttl_ms`: how long
 * the answer counts, from when it was requested. `reason` is what was said with the named activation: null where none
 * is named, where nothing was said, and once it was erased. The members from `nonce` on are null unless a nonce was
 * sent. Spec: document 1 section 2, "Kill status"; decision 0047.
 */
export const KillStatus = Schema.Struct({
  target_type: oneOf(killTargetTypes),
  target_id: Schema.String,
  halted: Schema.Boolean,
  drill: Schema.Boolean,
  since: Schema.NullOr(instant),
  activation_event: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  response: Schema.NullOr(oneOf(killResponses)),
  effective_response: Schema.NullOr(oneOf(killResponses)),
  epoch: Schema.Int,
  as_of_seq: Schema.NullOr(Schema.Int),
  ttl_ms: Schema.Int,
  origin: Schema.String,
  nonce: Schema.NullOr(Schema.String),
  issued_at: Schema.NullOr(instant),
  /** The key of the checkpoints that signed. */
  key_id: Schema.NullOr(Schema.String),
  /** Ed25519, base64. SPEC.md of the evidence package says over which bytes. */
  signature: Schema.NullOr(Schema.String)
})
export type KillStatus = typeof KillStatus.Type

/** The kill state of a target. Spec: document 1 section 2, "Kill status"; decision 0047. */
export interface KillStatusInfo extends Info<typeof KillStatus> {}

/** An instance of an agent, as its records name it. */
export const KillInstanceOut = Schema.Struct({ agent_id: Schema.String, instance_id: Schema.String })

/**
 * The agents and instances that an activation reaches. `instances` are those in records of these agents in the hour
 * before; null until they are read, which follows the activation. Each list has up to 10,000 items; the counts are
 * complete.
 */
export const KillReach = Schema.Struct({
  agents: Schema.Array(Schema.String),
  agent_count: Schema.Int,
  instances: Schema.NullOr(Schema.Array(KillInstanceOut)),
  instance_count: Schema.NullOr(Schema.Int),
  models: Schema.Array(Schema.String),
  highest_tier: Schema.NullOr(oneOf(autonomyTiers))
})
export type KillReach = typeof KillReach.Type

/** Warnings of an answer of the kill switch. */
export const killWarnings = ["reaches_nobody"] as const

/** Answer of POST /bound/kill/activate and /release. `activation_event` is null after a dry run. */
export const KillChanged = Schema.Struct({
  activation_event: Schema.NullOr(Schema.String),
  epoch: Schema.Int,
  status: KillStatus,
  reach: KillReach,
  /** `reaches_nobody`: the target is used by no registered agent now. One that comes later is reached all the same. */
  warnings: Schema.Array(oneOf(killWarnings))
})
export type KillChanged = typeof KillChanged.Type

/** An activation or a release, the state after it, and the agents that it reaches. */
export interface KillChangedInfo extends Info<typeof KillChanged> {}

/**
 * How far an instance is. `requested`: it was expected, and has said nothing. `unconfirmed`: it still had not when that
 * was recorded; whether it stopped is not known.
 */
export const killInstanceStates = ["requested", "acknowledged", "stopped", "unconfirmed"] as const

/** The state of one instance under an activation. */
export const KillInstanceState = Schema.Struct({
  agent_id: Schema.String,
  instance_id: Schema.String,
  state: oneOf(killInstanceStates),
  requested_at: instant,
  observed_at: Schema.NullOr(instant),
  acknowledged_at: Schema.NullOr(instant),
  in_flight: Schema.NullOr(Schema.Int),
  stopped_at: Schema.NullOr(instant),
  unconfirmed_at: Schema.NullOr(instant)
})

/**
 * An activation with the state of its instances: how many acknowledged and stopped, and the state of each. Spec: format
 * 1 section 8, `kill.activated`; decision 0047.
 */
export const KillActivation = Schema.Struct({
  id: inBody(Schema.String, "activation_id"),
  target_type: inBody(oneOf(killTargetTypes)),
  target_id: inBody(Schema.String),
  response: inBody(oneOf(killResponses)),
  drill: inBody(Schema.NullOr(Schema.Struct({ drill_id: Schema.String, mode: oneOf(drillModes) }))),
  breaker_id: inBody(Schema.NullOr(Schema.String)),
  actor: inBody(Schema.String, "writer"),
  requested_by: inBody(Schema.NullOr(Schema.String)),
  /** Null once it was erased. */
  reason: wholePart("reason", Schema.NullOr(Schema.String)),
  activated_at: inBody(instant),
  epoch: inBody(Schema.Int),
  highest_tier: inBody(Schema.NullOr(oneOf(autonomyTiers))),
  /** Instances that were seen in the hour before and are not among `instances`. */
  unlisted: inBody(Schema.Int),
  released_at: computed(Schema.NullOr(instant)),
  released_by: computed(Schema.NullOr(Schema.String)),
  release_epoch: computed(Schema.NullOr(Schema.Int)),
  release_reason: computed(Schema.NullOr(Schema.String)),
  /** Null until it is read whom the activation expects; `instances` then has those that acknowledged. */
  expected: inBody(Schema.NullOr(Schema.Int)),
  acknowledged: computed(Schema.Int),
  stopped: computed(Schema.Int),
  unconfirmed: computed(Schema.Int),
  instances: wholePart("expected", Schema.Array(KillInstanceState))
}).annotate(showsRecords(["kill.activated", "kill.expected"], { body: ["cut", "rules"] }))
export type KillActivation = typeof KillActivation.Type

/**
 * An activation, with the state of each expected instance. Spec: format 1 section 8, `kill.activated`; decision 0047.
 */
export interface KillActivationInfo extends Info<typeof KillActivation> {}

/** Readings of the bound of a halt. `unknown`: the records do not say. `none`: nothing had to stop. */
export const boundsMet = ["met", "missed", "unknown", "none"] as const

/**
 * Stop certificate of one activation, as `flyball-verify --certificate` makes it from a pack of its records. SPEC.md of
 * the evidence package says how. Spec: format 1 section 11.
 */
export const StopCertificateOut = Schema.Struct({
  activation_id: Schema.String,
  incomplete: Schema.Array(Schema.String),
  target: Schema.Struct({ type: Schema.String, id: Schema.String }),
  response: Schema.String,
  drill: Schema.NullOr(Schema.String),
  breaker_id: Schema.NullOr(Schema.String),
  epoch: Schema.Int,
  activated: Schema.Struct({ seq: Schema.Int, at: Schema.String, writer: Schema.String }),
  requested: Schema.NullOr(Schema.Struct({ by: Schema.String, at: Schema.NullOr(Schema.String) })),
  released: Schema.NullOr(
    Schema.Struct({ seq: Schema.Int, at: Schema.String, writer: Schema.String, epoch: Schema.Int })
  ),
  instances: Schema.Array(
    Schema.Struct({
      agent_id: Schema.String,
      instance_id: Schema.NullOr(Schema.String),
      expected: Schema.Boolean,
      observed_at: Schema.NullOr(Schema.String),
      acknowledged_at: Schema.NullOr(Schema.String),
      in_flight: Schema.NullOr(Schema.Int),
      stopped_at: Schema.NullOr(Schema.String),
      last_side_effect: Schema.NullOr(Schema.Struct({ seq: Schema.Int, at: Schema.String, action: Schema.String })),
      side_effects: Schema.Int,
      is_silent: Schema.Boolean,
      bound: oneOf(boundsMet)
    })
  ),
  findings: Schema.Array(
    Schema.Struct({
      code: Schema.Literal("acted_after_stop"),
      agent_id: Schema.String,
      instance_id: Schema.NullOr(Schema.String),
      stopped_at: Schema.String,
      seq: Schema.Int,
      at: Schema.String,
      action: Schema.String
    })
  ),
  unlisted: Schema.Int,
  refusals: Schema.Array(
    Schema.Struct({
      seq: Schema.Int,
      at: Schema.String,
      agent_id: Schema.String,
      instance_id: Schema.NullOr(Schema.String),
      epoch: Schema.Int,
      outcome: Schema.String
    })
  ),
  refusal_count: Schema.Int,
  silent: Schema.Int,
  bound_ms: Schema.Int,
  bound: oneOf(boundsMet)
})

/** The certificate of an activation, and the first and last record that it was made from. Spec: format 1 section 11. */
export const KillCertificate = Schema.Struct({
  from: Schema.Int,
  to: Schema.Int,
  certificate: StopCertificateOut
})
export type KillCertificate = typeof KillCertificate.Type

/** The stop certificate of an activation, and the first and last record that it was made from. */
export interface KillCertificateInfo extends Info<typeof KillCertificate> {}

/** Kinds of records in the log of the kill switch. */
export const killEventKinds = [
  "kill.requested",
  "kill.activated",
  "kill.expected",
  "kill.acknowledged",
  "kill.stopped",
  "kill.unconfirmed",
  "kill.released",
  "drill.started",
  "drill.completed",
  "drill.attested",
  "breaker.tripped"
] as const

/**
 * One entry of the log: a record. What a kind does not say is null; the target is that of the activation or drill that
 * the record is about. Spec: document 1 section 6, kill events; decision 0047.
 */
export const KillEvent = Schema.Struct({
  seq: computed(Schema.Int),
  record_hash: computed(Schema.String),
  at: computed(instant),
  kind: computed(oneOf(killEventKinds)),
  activation_event: inBody(Schema.NullOr(Schema.String), "activation_id"),
  target_type: inBody(Schema.NullOr(oneOf(killTargetTypes))),
  target_id: inBody(Schema.NullOr(Schema.String)),
  response: inBody(Schema.NullOr(oneOf(killResponses))),
  drill: inBody(Schema.NullOr(Schema.Struct({ drill_id: Schema.String, mode: oneOf(drillModes) }))),
  epoch: inBody(Schema.NullOr(Schema.Int)),
  drill_id: inBody(Schema.NullOr(Schema.String)),
  breaker_id: inBody(Schema.NullOr(Schema.String)),
  /** Mode of a drill or a breaker: `shadow` and `warn` change nothing. */
  mode: inBody(Schema.NullOr(Schema.String)),
  /** Of a breaker that tripped: what it watches, and the value. */
  metric: inBody(Schema.NullOr(Schema.String)),
  value: inBody(Schema.NullOr(Schema.String)),
  /** True when the hypothesis of a completed drill held. */
  met: inBody(Schema.NullOr(Schema.Boolean)),
  agent_id: inBody(Schema.NullOr(Schema.String)),
  instance_id: inBody(Schema.NullOr(Schema.String)),
  in_flight: inBody(Schema.NullOr(Schema.Int)),
  /** Number of instances that are expected, or silent. Null of an activation: `kill.expected` states it. */
  instances: computed(Schema.NullOr(Schema.Int)),
  actor: inBody(Schema.String, "writer"),
  requested_by: inBody(Schema.NullOr(Schema.String)),
  /** Null where none was given, or once it was erased. */
  reason: wholePart("reason", Schema.NullOr(Schema.String))
}).annotate(
  showsRecords(killEventKinds, {
    body: [
      "acknowledged",
      "acknowledged_at",
      "activated_at",
      "as_of_ms",
      "as_of_seq",
      "attested_at",
      "completed_at",
      "cut",
      "expected",
      "from_seq",
      "highest_tier",
      "instances",
      "max_duration_ms",
      "max_ms",
      "observed_at",
      "p50_ms",
      "p95_ms",
      "released_at",
      "requested_at",
      "rules",
      "samples",
      "slo_ms",
      "started_at",
      "stopped_at",
      "to_seq",
      "unconfirmed_at",
      "unlisted"
    ],
    parts: ["expected", "instances", "missed", "scenario"]
  })
)
export type KillEvent = typeof KillEvent.Type

/** An entry of the kill switch's log. Spec: document 1 section 6, kill events; decision 0047. */
export interface KillEventInfo extends Info<typeof KillEvent> {}

/** Query of GET /bound/kill/events. `before` is the seq of the last entry seen; newest come first. */
export const KillEventsQuery = Schema.Struct({
  /** Events about this agent: as target, or as the agent of an instance, a request or a breaker. */
  agent_id: Schema.optionalKey(id("agent")),
  kind: Schema.optionalKey(oneOf(killEventKinds)),
  /** Recorded at this time or later. */
  since: Schema.optionalKey(instant),
  /** 1 to 1,000, default 100. */
  limit: leftOut(integerParam(1, MAX_PAGE), DEFAULT_PAGE),
  before: Schema.optionalKey(integerParam())
})
export type KillEventsQuery = typeof KillEventsQuery.Type

/** Body of POST /bound/kill/ack. Spec: format 1 section 8, `kill.acknowledged`. */
export const KillAckIn = Schema.Struct({
  activation_event: inBody(id("activation"), "activation_id"),
  /** Whose instance it is. Left out where the activation is aimed at one agent: that one. */
  agent_id: inBody(optional(id("agent"))),
  /** Your own name for the process, as its decisions and evaluations name it. */
  instance_id: inBody(identifier(128)),
  /** When the instance saw the activation. */
  observed_at: inBody(optional(instant)),
  /** Actions under way. */
  in_flight: inBody(leftOut(integer(), 0)),
  /** Nothing that the activation forbids is under way any more. */
  stopped: computed(defaulted(Schema.Boolean, false))
}).annotate(becomesRecord("kill.acknowledged"))
export type KillAckIn = typeof KillAckIn.Type

/** Answer of POST /bound/kill/ack: what is on record. `duplicate`: nothing was recorded, it was known. */
export const KillAckOut = Schema.Struct({
  activation_event: inBody(Schema.String, "activation_id"),
  agent_id: inBody(Schema.String),
  instance_id: inBody(Schema.String),
  observed_at: inBody(Schema.NullOr(instant)),
  acknowledged_at: inBody(instant),
  in_flight: inBody(Schema.Int),
  stopped_at: inBody(Schema.NullOr(instant)),
  duplicate: computed(Schema.Boolean)
}).annotate(showsRecords(["kill.acknowledged", "kill.stopped"], { body: ["writer"] }))
export type KillAckOut = typeof KillAckOut.Type

/** Recorded acknowledgement of a halt by an instance. */
export interface KillAckInfo extends Info<typeof KillAckOut> {}

/** Body of POST /bound/kill/request. Spec: format 1 section 8, `kill.requested`. */
export const KillRequestIn = Schema.Struct({
  agent_id: inBody(id("agent")),
  reason: wholePart("reason", reason(2_000))
}).annotate(becomesRecord("kill.requested"))
export type KillRequestIn = typeof KillRequestIn.Type

/**
 * Answer of POST /bound/kill/request. `activation_event` is null where the response policy has no row for the trigger
 * `agent_request`, or another key registered the agent: then operators are notified, and nothing is stopped. While what
 * the key requested before holds, it is that activation.
 */
export const KillRequestOut = Schema.Struct({
  agent_id: inBody(Schema.String),
  activation_event: inBody(Schema.NullOr(Schema.String), "activation_id"),
  requested_at: inBody(instant),
  seq: computed(Schema.Int),
  record_hash: computed(Schema.String)
}).annotate(showsRecords(["kill.requested"], { body: ["rules", "writer"], parts: ["reason"] }))
export type KillRequestOut = typeof KillRequestOut.Type

/** A request for a halt, and the activation that it caused, if any. */
export interface KillRequestInfo extends Info<typeof KillRequestOut> {}
