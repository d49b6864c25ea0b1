/** Agents as they travel. Spec: document 1 sections 2 and 4; api.md "agents and registry". */
import { agentStatuses } from "@flyball/evidence/words"
import { Schema } from "effect"
import { ahead } from "./foundation/ahead.ts"
import {
  email,
  id,
  foreignName,
  instant,
  integer,
  integerParam,
  jsonObject,
  leftOut,
  line,
  list,
  name,
  oneOf,
  optional,
  orgUnit,
  reason,
  text
} from "./foundation/fields.ts"
import type { Filter, Info, Input } from "./foundation/plain.ts"
import { DEFAULT_PAGE, MAX_PAGE } from "./foundation/limits.ts"
import { pageOf } from "./foundation/page.ts"
import { becomesRecord, computed, inBody, inDocument, inPart, showsRecords, wholePart } from "./foundation/place.ts"

export { agentStatuses }

/** Autonomy tiers, least autonomy first. Spec: document 1 section 3. */
export const autonomyTiers = ["L0", "L1", "L2", "L3", "L4"] as const

/** One of {@link autonomyTiers}. */
export type AutonomyTier = (typeof autonomyTiers)[number]

/** Conditions that a tier can need. Spec: decision 0038. */
export const tierConditions = [
  "owner",
  "recertification",
  "published_envelope",
  "verified_identity",
  "attested_drill"
] as const

/** The conditions in words. Refusals and traces use the names. */
export const tierConditionWords: { readonly [condition: string]: string } = {
  owner: "an owner with a name and an e-mail address",
  recertification: "a recertification date that has not passed",
  published_envelope: "a published envelope",
  verified_identity: "a verified identity",
  attested_drill: "a drill attested within the last 30 days"
}

/** One of {@link agentStatuses}. */
export type AgentStatus = (typeof agentStatuses)[number]

/** Risk classes; what was not said is `unclassified`. */
export const riskClasses = ["prohibited", "high", "limited", "minimal", "unclassified"] as const

/** One of {@link riskClasses}. */
export type RiskClass = (typeof riskClasses)[number]

/**
 * Body of POST /agents. An ingest key may leave `org_unit` out; then it is the key's. Spec: document 1 section 4, POST
 * /agents; its members are a gap: api.md "agents and registry".
 */
export const AgentCreate = Schema.Struct({
  /** Unique, 1 to 200 characters. */
  name: inPart("profile", name(200)),
  description: inPart("profile", optional(text(0, 4_000))),
  owner_name: inPart("owner", optional(name(200))),
  owner_email: inPart("owner", optional(email)),
  org_unit: inPart("profile", Schema.optionalKey(orgUnit)),
  /** Default `L0`. */
  autonomy_tier: inBody(optional(oneOf(autonomyTiers))),
  blast_radius: inPart("profile", optional(jsonObject)),
  /** RFC 3339, any offset. */
  recert_due_at: inBody(optional(instant)),
  purpose: inPart("profile", optional(text(0, 4_000))),
  agent_version: inPart("profile", optional(line(200))),
  framework: inPart("profile", optional(line(200))),
  model_ids: inPart("profile", optional(list(foreignName(200), 0, 64))),
  risk_class: inBody(optional(oneOf(riskClasses))),
  labels: inPart("profile", optional(jsonObject)),
  /**
   * The agent that this one works for, of the same org unit: a halt of it reaches this agent too. Never changed. An
   * agent has at most 8 ancestors.
   */
  parent_agent_id: inBody(optional(id("agent")))
}).annotate(becomesRecord("agent.registered"))
export type AgentCreate = typeof AgentCreate.Type

/** {@link AgentCreate} for a caller with several org units, so that a missing one is listed beside all other errors. */
export const AgentCreateOfUnit = Schema.Struct({ ...AgentCreate.fields, org_unit: orgUnit })

/**
 * An agent to be registered. Absent and null mean the same. Spec: document 1 section 4, POST /agents; its members are a
 * gap: decision 0013.
 */
export interface AgentInput extends Input<typeof AgentCreateOfUnit> {}

// What only registration or an act of its own may set; the rest is a description, which may be given again.
const {
  name: _name,
  owner_name: _ownerName,
  owner_email: _ownerEmail,
  org_unit: _orgUnit,
  parent_agent_id: _parentAgentId,
  ...description
} = AgentCreate.fields

/**
 * Body of PATCH /agents/{agent_id}. Left out stays as it is; null empties what may be empty. Name, org unit, parent and
 * owner have acts of their own, or none. Spec: document 1 section 4, PATCH /agents/{agent_id}; its members are a gap:
 * api.md "agents and registry".
 */
export const AgentUpdate = Schema.Struct({
  ...description,
  /** The version that was read; another one there is refused. */
  if_version: optional(integer(1))
})
export type AgentUpdate = typeof AgentUpdate.Type

/** Change of an agent. A member left out keeps its value; null clears a member that may be empty. */
export interface AgentChange extends Input<typeof AgentUpdate> {}

/** Body of POST /agents/{agent_id}/suspend, which may be left out. */
export const SuspendIn = Schema.Struct({ reason: wholePart("reason", optional(text(0, 1_000))) }).annotate(
  becomesRecord("agent.suspended")
)
export type SuspendIn = typeof SuspendIn.Type

/** Body of POST /agents/{agent_id}/transfer-ownership. Spec: document 1 section 2, "Ownership transfer". */
export const OwnershipTransfer = Schema.Struct({
  owner_name: inPart("owner", name(200)),
  owner_email: inPart("owner", email)
}).annotate(becomesRecord("agent.owner_transferred"))
export type OwnershipTransfer = typeof OwnershipTransfer.Type

/** The new owner of an agent. */
export interface OwnerInput extends Input<typeof OwnershipTransfer> {}

/** Body of POST /agents/{agent_id}/disown. */
export const DisownIn = Schema.Struct({ reason: wholePart("reason", reason(1_000)) }).annotate(
  becomesRecord("agent.orphaned")
)
export type DisownIn = typeof DisownIn.Type

/** Body of POST /agents/{agent_id}/recertify. */
export const RecertifyIn = Schema.Struct({ recert_due_at: ahead(inBody(instant)) }).annotate(
  becomesRecord("agent.recertified")
)
export type RecertifyIn = typeof RecertifyIn.Type

/**
 * An agent: the specification's `AgentOut` and what this service adds. Texts are null once their part was erased.
 * `effective_tier` is the tier at which an active agent acts: below `autonomy_tier` while it lacks a condition of that.
 * Spec: document 1 section 2, "Agent".
 */
export const Agent = Schema.Struct({
  id: inBody(Schema.String, "agent_id"),
  tenant_id: computed(Schema.String),
  name: inPart("profile", Schema.String),
  description: inPart("profile", Schema.NullOr(Schema.String)),
  owner_name: inPart("owner", Schema.NullOr(Schema.String)),
  owner_email: inPart("owner", Schema.NullOr(Schema.String)),
  org_unit: inPart("profile", Schema.NullOr(Schema.String)),
  autonomy_tier: inBody(oneOf(autonomyTiers)),
  /** The tier at which an active agent acts: below `autonomy_tier` while it lacks a condition of that. */
  effective_tier: computed(oneOf(autonomyTiers)),
  /** The conditions of `autonomy_tier` that it does not meet, in any status; none at its end. */
  tier_unmet: computed(Schema.Array(oneOf(tierConditions))),
  blast_radius: inPart("profile", Schema.Record(Schema.String, Schema.Unknown)),
  status: inDocument(oneOf(agentStatuses)),
  recert_due_at: inBody(Schema.NullOr(instant)),
  decommissioned_at: inBody(Schema.NullOr(instant)),
  created_at: computed(instant),
  identity_verified: inBody(Schema.Boolean, "verdict"),
  identity_source: inPart("identity", Schema.NullOr(Schema.String)),
  identity_ref: inPart("identity", Schema.NullOr(Schema.String)),
  version: inDocument(Schema.Int),
  purpose: inPart("profile", Schema.NullOr(Schema.String)),
  agent_version: inPart("profile", Schema.NullOr(Schema.String)),
  framework: inPart("profile", Schema.NullOr(Schema.String)),
  model_ids: inPart("profile", Schema.Array(Schema.String)),
  risk_class: inBody(Schema.String),
  labels: inPart("profile", Schema.Record(Schema.String, Schema.Unknown)),
  suspended_reason: inBody(Schema.NullOr(Schema.String), "reason"),
  /** The reason that the suspending person gave; null where none was given, and once it was erased. */
  suspension_reason: wholePart("reason", Schema.NullOr(Schema.String)),
  orphaned_since: inBody(Schema.NullOr(instant), "since"),
  /** The agent whose halt reaches this one too. */
  parent_agent_id: inBody(Schema.NullOr(Schema.String))
}).annotate(
  showsRecords(
    [
      "agent.registered",
      "agent.updated",
      "agent.activated",
      "agent.suspended",
      "agent.decommissioned",
      "agent.owner_transferred",
      "agent.orphaned",
      "agent.recertified",
      "agent.identity_attested"
    ],
    {
      body: [
        "alg",
        "card_digest",
        "checked_at",
        "key_id",
        "model_ids",
        "org_unit_digest",
        "owner_complete",
        "reason_code",
        "rules",
        "source",
        "writer"
      ],
      parts: ["claim"]
    }
  )
)
export type Agent = typeof Agent.Type

/** A registered agent. Texts are null once their part was erased. Spec: document 1 section 2, "Agent". */
export interface AgentInfo extends Info<typeof Agent> {}

/** An agent without an owner. It is suspended at `suspend_at`. Spec: document 1 section 4, GET /agents/orphans. */
export const Orphan = Schema.Struct({ ...Agent.fields, orphaned_since: instant, suspend_at: instant })
export type Orphan = typeof Orphan.Type

/**
 * An agent without an owner. It is suspended at `suspend_at`. Spec: document 1 section 1, policy rule, and section 4,
 * GET /agents/orphans.
 */
export interface OrphanInfo extends Info<typeof Orphan> {}

/**
 * Query of GET /agents. `name` is exact, `q` a prefix; `after` is the id of the last agent seen. Spec: document 1
 * section 4, GET /agents, and section 8.
 */
export const AgentListQuery = Schema.Struct({
  status: Schema.optionalKey(oneOf(agentStatuses)),
  autonomy_tier: Schema.optionalKey(oneOf(autonomyTiers)),
  /** Exactly this name. */
  name: Schema.optionalKey(text(0, 200)),
  /** A name that begins so. */
  q: Schema.optionalKey(text(0, 200)),
  ...pageOf("agent")
})
export type AgentListQuery = typeof AgentListQuery.Type

/** Which agents to list, oldest first. */
export interface AgentFilter extends Filter<typeof AgentListQuery> {}

/** Query of GET /agents/{agent_id}/timeline. `before` is the seq of the last entry seen; newest come first. */
export const TimelineQuery = Schema.Struct({
  /** 1 to 1,000, default 100. */
  limit: leftOut(integerParam(1, MAX_PAGE), DEFAULT_PAGE),
  /** Seq of the last entry seen. */
  before: Schema.optionalKey(integerParam()),
  /** Recorded at this time or later. */
  from: Schema.optionalKey(instant),
  /** Recorded at this time or earlier. */
  to: Schema.optionalKey(instant)
})
export type TimelineQuery = typeof TimelineQuery.Type

/** Which entries of a timeline to list, newest first. */
export interface TimelineFilter extends Filter<typeof TimelineQuery> {}

/** Types of the references in a timeline. A record is named by its seq. */
export const timelineReferences = [
  "activation",
  "decision",
  "envelope",
  "eval_run",
  "evaluation",
  "provenance",
  "record",
  "review",
  "run",
  "waiver"
] as const

/**
 * One record about an agent. `kind` is the record's, `actor` the id of the principal that wrote it; null where the
 * record names none. `summary` is a sentence for people: match on `kind` instead. Spec: api.md "agents and registry",
 * GET /agents/{agent_id}/timeline.
 */
export const TimelineEntry = Schema.Struct({
  seq: Schema.Int,
  record_hash: Schema.String,
  recorded_at: instant,
  kind: Schema.String,
  /** Id of the principal that wrote the record; null where it names none. */
  actor: Schema.NullOr(Schema.String),
  summary: Schema.String,
  /** References of the record. A record is named by its seq. */
  references: Schema.Array(Schema.Struct({ type: oneOf(timelineReferences), id: Schema.String }))
})
export type TimelineEntry = typeof TimelineEntry.Type

/** One record about an agent. `summary` is a sentence for people: match on `kind` instead. */
export interface TimelineEntryInfo extends Info<typeof TimelineEntry> {}
