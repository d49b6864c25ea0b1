/**
 * The catalogue of webhook events: for each a sentence, and the shape of its `data`.
 *
 * It holds only what something emits. To add one: its entry here, and `event(…)` returned by the plan that causes it.
 * `data` holds ids, words of closed
 * lists, numbers, times and digests, never what a person or a caller wrote: an event cannot be erased from. Where the
 * text is, `resource` says.
 *
 * Spec: document 1 section 6; api.md "Events to webhooks". The envelope is document 2's, section 2.
 */
import { suspensionCauses } from "@flyball/evidence/words"
import { Schema } from "effect"
import { autonomyTiers, riskClasses, tierConditions } from "./agents.ts"
import { driftDimensions } from "./behavior.ts"
import { breakerModes } from "./breakers.ts"
import { gapReasons } from "./decisions.ts"
import { envelopeChanges, envelopeModes } from "./envelopes.ts"
import { id, foreignName, identifier, instant, integer, oneOf, patterned } from "./foundation/fields.ts"
import { identityReasons, identityVerdicts } from "./identity.ts"
import { drillModes, killResponses, killTargetTypes } from "./kill.ts"
import { findingSeverities } from "./mcp.ts"
import { packKinds } from "./packs.ts"
import { reviewCancelCauses, reviewResolutions } from "./reviews.ts"

export { suspensionCauses }

/** Where an identity comes from; `other` is a text of the caller's own. */
export const identitySources = [
  "signed_card",
  "a2a_signed_card",
  "spiffe",
  "entra_agent_id",
  "okta_agent",
  "oidc_workload",
  "aws_agent_registry",
  "did",
  "other"
] as const

/**
 * Problems of a chain: findings of a check in a record or in the whole, a guard outside the store that
 * says otherwise, a store that is not as it is written.
 */
export const chainProblems = [
  "E_NONCANONICAL",
  "E_LIMIT",
  "E_VERSION",
  "E_SEQ",
  "E_PREV",
  "E_TIME",
  "E_ORIGIN",
  "E_ROOT",
  "E_CHECKPOINT_SIG",
  "E_COUNT",
  "E_PART_MISMATCH",
  "E_PART_UNEXPLAINED",
  "E_HASH",
  "E_COLUMN",
  "E_TILE",
  "E_GUARD",
  "E_STORE"
] as const
/** One of {@link chainProblems}. */
export type ChainProblem = (typeof chainProblems)[number]

const tail = "[0-9a-hjkmnp-tv-z]{26}"
/** The cause: an ingest key, a person's pseudonym, or a rule of this service. */
const writer = patterned(new RegExp(`^((key|usr)_${tail}|(system|policy|breaker):[a-z0-9_-]{1,64})$`), 80)
const digest = patterned(/^sha256:[0-9a-f]{64}$/, 71)
/** Path of the thing itself, under the address of the server. */
const path = patterned(/^\/(api\/)?v1\/[a-z0-9_/-]+$/, 200)
/** A checkpoint with its signatures: chain-format section 4. */
const note = patterned(/^[!-~]+\n\d+\n[A-Za-z0-9+/]{43}=\n\n(\u2014 [!-~]+ [A-Za-z0-9+/]+=*\n)+$/, 16_384)
const agentId = id("agent")
const keyKind = oneOf(["ingest", "platform"])
const keyId = patterned(new RegExp(`^(key|pky)_${tail}$`), 64)
/** A rule of an envelope, or a reserved name. */
const ruleName = patterned(/^(@[a-z_]+(:[a-z0-9_]+)?|[a-z][a-z0-9_]{0,63})$/, 128)

/** A metric of breakers, and a value of one. */
const metric = patterned(/^[a-z][a-z0-9_]{0,63}$/, 64)
const value = patterned(/^(\d+(\/\d+)?|ok)$/, 64)

/** An entry. `resource` is a path in which the facts stand for the names in braces. */
const entry = <const F extends Schema.Struct.Fields>(about: string, resource: string, facts: F) => ({
  about,
  resource,
  facts: Schema.Struct(facts),
  data: Schema.Struct({ ...facts, resource: path })
})

const AGENT = "/api/v1/agents/{agent_id}"
const KEYS = "/api/v1/admin/{kind}-keys"
const SCREENS = "/api/v1/fairness/screens"
const KILL_ACTIVATION = "/api/v1/bound/kill/activations/{activation_id}"
const BREAKERS = "/api/v1/bound/agents/{agent_id}/breakers"
const REVIEW = "/api/v1/bound/reviews/{review_id}"
const DRILL = "/api/v1/bound/kill/drills/{drill_id}"
const DELIVERIES = "/api/v1/webhooks/{webhook_id}/deliveries"

/** Facts of an activation, in both events of its life. */
/** True when a person gave a reason. The words stay with the object: `GET` the resource. */
const hasReason = Schema.Boolean

const activation = {
  activation_id: id("activation"),
  target_type: oneOf(killTargetTypes),
  target_id: foreignName(200),
  response: oneOf(killResponses),
  drill: Schema.NullOr(oneOf(drillModes)),
  epoch: integer(1)
}

/**
 * The events, by type. Members are always present; what is absent is null. Spec: document 1 section 6 leaves them open;
 * api.md "Events to webhooks".
 */
export const webhookEvents = {
  "agent.registered": entry("An agent was registered in status draft.", AGENT, {
    agent_id: agentId,
    autonomy_tier: oneOf(autonomyTiers),
    risk_class: oneOf(riskClasses),
    writer
  }),
  "agent.activated": entry("An agent was activated: it may act within its tier and envelope.", AGENT, {
    agent_id: agentId,
    autonomy_tier: oneOf(autonomyTiers),
    writer
  }),
  "agent.tier_lowered": entry(
    "An active agent lost a condition of its tier. It stays active; evaluations use the floor of `effective_tier`.",
    AGENT,
    {
      agent_id: agentId,
      autonomy_tier: oneOf(autonomyTiers),
      effective_tier: oneOf(autonomyTiers),
      missing: oneOf(tierConditions),
      writer
    }
  ),
  "agent.suspended": entry("An agent was suspended until it is activated again.", AGENT, {
    agent_id: agentId,
    reason: oneOf(suspensionCauses),
    has_reason: hasReason,
    writer
  }),
  "agent.recert_overdue": entry(
    "The recertification date of an agent has passed. `agent.suspended` is emitted too.",
    AGENT,
    {
      agent_id: agentId,
      recert_due_at: instant,
      writer
    }
  ),
  "agent.decommissioned": entry("An agent was decommissioned.", AGENT, {
    agent_id: agentId,
    decommissioned_at: instant,
    writer
  }),
  "agent.owner_transferred": entry("An agent has a new owner.", AGENT, {
    agent_id: agentId,
    writer
  }),
  "agent.orphaned": entry("An agent has no owner. It is suspended at `suspend_at` unless it gets one before.", AGENT, {
    agent_id: agentId,
    orphaned_since: instant,
    suspend_at: instant,
    writer
  }),
  "agent.identity_attested": entry("An agent's signed card was verified, or an identity was declared for it.", AGENT, {
    agent_id: agentId,
    verdict: oneOf(identityVerdicts),
    reason_code: oneOf(identityReasons),
    source: oneOf(identitySources),
    alg: Schema.NullOr(oneOf(["EdDSA", "ES256"])),
    key_id: Schema.NullOr(identifier(200)),
    card_digest: Schema.NullOr(digest),
    checked_at: instant,
    writer
  }),
  "key.minted": entry("A key was created. `max_autonomy_tier` is null for a platform key.", KEYS, {
    key_id: keyId,
    kind: keyKind,
    max_autonomy_tier: Schema.NullOr(oneOf(autonomyTiers)),
    expires_at: Schema.NullOr(instant),
    writer
  }),
  "key.revoked": entry("A key was revoked.", KEYS, {
    key_id: keyId,
    kind: keyKind,
    writer
  }),
  "chain.checkpoint": entry(
    "A checkpoint was signed. `note` is the checkpoint; the chain's public key verifies it.",
    "/api/v1/chain/checkpoint",
    {
      tree_size: integer(1),
      root_hash: digest,
      signed_at: instant,
      note
    }
  ),
  "chain.verify_failed": entry(
    "A check found an error in the chain. When the check before a signature finds it, no checkpoint is signed. " +
      "Emitted once per finding.",
    "/api/v1/chain/verify",
    {
      code: oneOf(chainProblems),
      first_bad_seq: Schema.NullOr(integer()),
      found_by: oneOf(["signing", "check"])
    }
  ),
  "capture.gap": entry("A client reported that decisions of an agent are missing from the chain.", AGENT, {
    agent_id: agentId,
    count: integer(),
    from: instant,
    to: instant,
    reason: oneOf(gapReasons),
    writer
  }),
  "envelope.published": entry(
    "A version of an envelope is in force, or on trial if `mode` is `shadow`. `change` says whether it only tightens.",
    "/api/v1/bound/envelopes/{envelope_id}",
    {
      envelope_id: id("envelope"),
      version: integer(1),
      digest,
      agent_id: Schema.NullOr(agentId),
      mode: oneOf(envelopeModes),
      change: oneOf(envelopeChanges),
      writer
    }
  ),
  "evaluation.denied": entry(
    "An agent's action was not allowed: its outcome is `deny` or `halt`.",
    "/api/v1/bound/evaluations/{evaluation_id}",
    {
      evaluation_id: id("evaluation"),
      agent_id: agentId,
      outcome: oneOf(["deny", "halt"]),
      matched_rule: ruleName,
      envelope_id: Schema.NullOr(id("envelope")),
      envelope_version: Schema.NullOr(integer(1)),
      writer
    }
  ),
  "kill.activated": entry(
    "The kill switch was activated. `agents` counts the agents that the target reaches; `drill` is null unless a " +
      "drill activated it.",
    KILL_ACTIVATION,
    {
      ...activation,
      agents: integer(),
      breaker_id: Schema.NullOr(id("breaker")),
      has_reason: hasReason,
      writer
    }
  ),
  "kill.requested": entry(
    "An ingest key requested that its agent be stopped. Without `activation_id` nothing was stopped: an operator " +
      "decides.",
    AGENT,
    {
      agent_id: agentId,
      activation_id: Schema.NullOr(id("activation")),
      requested_at: instant,
      writer
    }
  ),
  "kill.acknowledged": entry(
    "An agent's instance acknowledged an activation of the kill switch. Emitted again when it reports that it stopped.",
    KILL_ACTIVATION,
    {
      activation_id: id("activation"),
      agent_id: agentId,
      instance_id: identifier(128),
      in_flight: integer(),
      stopped: Schema.Boolean,
      writer
    }
  ),
  "kill.unconfirmed": entry(
    "Expected instances did not acknowledge an activation in time. Whether they stopped is unknown.",
    KILL_ACTIVATION,
    {
      activation_id: id("activation"),
      instances: integer(1),
      unconfirmed_at: instant,
      writer
    }
  ),
  "kill.released": entry(
    "One activation of the kill switch was released. Others for the same target stay active.",
    KILL_ACTIVATION,
    {
      ...activation,
      has_reason: hasReason,
      writer
    }
  ),
  "breaker.armed": entry("A breaker was created, and watches a metric of an agent.", BREAKERS, {
    breaker_id: id("breaker"),
    agent_id: agentId,
    metric,
    mode: oneOf(breakerModes),
    enabled: Schema.Boolean,
    writer
  }),
  "breaker.tripped": entry(
    "A breaker tripped. In mode `enforce` it activated `activation_id`; in mode `warn` it only reports.",
    BREAKERS,
    {
      breaker_id: id("breaker"),
      agent_id: agentId,
      metric,
      mode: oneOf(["warn", "enforce"]),
      value,
      samples: integer(),
      response: Schema.NullOr(oneOf(killResponses)),
      activation_id: Schema.NullOr(id("activation")),
      writer
    }
  ),
  "fairness.flagged": entry(
    "A fairness screen demonstrated a rate below four fifths of the highest one. `agent_id` is null for an org unit.",
    SCREENS,
    {
      screen_id: id("fairnessScreen"),
      agent_id: Schema.NullOr(agentId),
      decisions: integer(),
      groups: integer(),
      writer
    }
  ),
  "breaker.released": entry(
    "A person re-armed a tripped breaker. Its kill activation stays active until it is released.",
    BREAKERS,
    { breaker_id: id("breaker"), agent_id: agentId, metric, writer }
  ),
  "review.opened": entry("An agent's action needs a review by people.", REVIEW, {
    review_id: id("review"),
    agent_id: agentId,
    evaluation_id: id("evaluation"),
    matched_rule: ruleName,
    approvals_needed: integer(1),
    expires_at: instant,
    writer
  }),
  "review.resolved": entry("A review was approved or rejected. `writer` gave the deciding answer.", REVIEW, {
    review_id: id("review"),
    agent_id: agentId,
    evaluation_id: id("evaluation"),
    resolution: oneOf(reviewResolutions),
    approvals_given: integer(),
    has_reason: hasReason,
    writer
  }),
  "review.cancelled": entry(
    "A review is over without an answer: a halt reached its agent, other versions are in force, or its requester " +
      "withdrew it.",
    REVIEW,
    {
      review_id: id("review"),
      agent_id: agentId,
      evaluation_id: id("evaluation"),
      cause: oneOf(reviewCancelCauses),
      activation_id: Schema.NullOr(id("activation")),
      has_reason: hasReason,
      writer
    }
  ),
  "review.expired": entry("A review expired without a final answer, and counts as not approved.", REVIEW, {
    review_id: id("review"),
    agent_id: agentId,
    evaluation_id: id("evaluation"),
    expires_at: instant
  }),
  "drift.alarmed": entry(
    "An agent behaves otherwise than it did. With `activation_id` the response policy activated the kill switch.",
    "/api/v1/behavior/agents/{agent_id}/change",
    {
      agent_id: agentId,
      dimension: oneOf(driftDimensions),
      /** At 20 or more at most one of 20 agents that did not change has an alarm in an epoch. */
      e_value: patterned(/^[0-9.e+]{1,32}$/, 32),
      runs: integer(1),
      epoch_from_seq: integer(),
      as_of_seq: integer(),
      activation_id: Schema.NullOr(id("activation")),
      writer
    }
  ),
  "drill.started": entry(
    "A drill of the kill switch started. `slo_ms` is the time within which every instance should acknowledge.",
    DRILL,
    {
      drill_id: id("drill"),
      activation_id: id("activation"),
      target_type: oneOf(killTargetTypes),
      target_id: foreignName(200),
      mode: oneOf(drillModes),
      slo_ms: integer(1),
      max_duration_ms: integer(1),
      writer
    }
  ),
  "drill.completed": entry(
    "A drill of the kill switch was completed. `met`: all expected instances acknowledged within `slo_ms`.",
    DRILL,
    {
      drill_id: id("drill"),
      activation_id: id("activation"),
      target_type: oneOf(killTargetTypes),
      target_id: foreignName(200),
      mode: oneOf(drillModes),
      expected: integer(),
      acknowledged: integer(),
      missed: integer(),
      p50_ms: Schema.NullOr(integer()),
      p95_ms: Schema.NullOr(integer()),
      max_ms: Schema.NullOr(integer()),
      met: Schema.Boolean,
      writer
    }
  ),
  "drill.attested": entry("A person other than its starter attested the result of a drill.", DRILL, {
    drill_id: id("drill"),
    target_type: oneOf(killTargetTypes),
    target_id: foreignName(200),
    mode: oneOf(drillModes),
    writer
  }),
  "channel.alarmed": entry(
    "The channel of the kill switch failed its check. `not_armed`: the last check did not appear in the status; " +
      "`overdue`: no check ran for twice the period.",
    "/api/v1/bound/safety",
    { cause: oneOf(["not_armed", "overdue"]), checked_at: Schema.NullOr(instant) }
  ),
  mcp_manifest_changed: entry(
    "A tool server lists other tools than those that count as approved. `tools` changed.",
    "/api/v1/fairness/mcp-screen",
    {
      finding_id: id("finding"),
      server_id: id("mcpServer"),
      agent_id: agentId,
      severity: oneOf(findingSeverities),
      tools: integer(),
      manifest_digest: digest,
      writer
    }
  ),
  "evidence.exported": entry(
    "An evidence pack was completely downloaded for the first time. `digest` is the one in its last line.",
    "/api/v1/evidence/packs/{pack_id}",
    {
      pack_id: id("pack"),
      kind: oneOf(packKinds),
      tree_size: integer(1),
      digest,
      writer
    }
  ),
  "webhook.test": entry("A test of the webhook. No change is behind it.", DELIVERIES, {
    webhook_id: id("webhook")
  }),
  "webhook.failed": entry(
    "Another webhook failed: seven attempts at one delivery failed. Nothing is sent to it until it is enabled.",
    DELIVERIES,
    {
      webhook_id: id("webhook"),
      delivery_id: id("delivery"),
      event_id: id("event"),
      event_type: identifier(64),
      failed_at: instant
    }
  )
}

/** A type of event. */
export type EventType = keyof typeof webhookEvents

/** The members of an event that its emitter gives; the rest of its data follows from them. */
export type EventFacts<T extends EventType> = (typeof webhookEvents)[T]["facts"]["Type"]

/** The `data` of an event. */
export type EventData<T extends EventType> = (typeof webhookEvents)[T]["data"]["Type"]

/** The types, in the order of the catalogue. */
export const eventTypes: ReadonlyArray<EventType> = Object.keys(webhookEvents) as ReadonlyArray<EventType>

/**
 * The types that a webhook can subscribe to. A test goes to the webhook under test, whatever its types, and to no
 * other.
 */
export const subscribableTypes: ReadonlyArray<EventType> = eventTypes.filter((type) => type !== "webhook.test")

/** True for the type of an event in the catalogue. */
export const isEventType = (text: string): text is EventType => Object.hasOwn(webhookEvents, text)

/** The path of what an event is about. */
export const eventResource = (type: EventType, facts: { readonly [name: string]: unknown }): string => {
  let pieces = resourcePieces.get(type)
  // With a group in it, split leaves the names between the texts: every second piece is one.
  if (pieces === undefined) resourcePieces.set(type, (pieces = webhookEvents[type].resource.split(/\{(\w+)\}/)))
  let path = pieces[0]!
  for (let index = 1; index < pieces.length; index += 2) path += String(facts[pieces[index]!]) + pieces[index + 1]!
  return path
}

/** By type: every act emits an event. */
const resourcePieces = new Map<EventType, ReadonlyArray<string>>()

/**
 * The head of the chain after the commit that the event comes from: an anchor for receivers that keep it. `checkpoint`
 * is null but in events of `chain.checkpoint`.
 */
export const EventChain = Schema.Struct({
  seq: integer(),
  record_hash: digest,
  checkpoint: Schema.NullOr(Schema.Struct({ tree_size: integer(1), root_hash: digest }))
})

/**
 * Body of a delivery: the envelope, with the data of this event type. Spec: document 2 section 2, "Webhook event
 * envelope".
 */
export const eventEnvelope = <T extends EventType>(type: T) =>
  Schema.Struct({
    id: id("event"),
    type: Schema.Literal(type),
    created_at: instant,
    data: webhookEvents[type].data,
    chain: EventChain
  })
