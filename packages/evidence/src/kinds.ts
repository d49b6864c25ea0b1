/**
 * The catalogue of record kinds: every member of every body, every part, with type and bound.
 *
 * Replay and independent verifiers are written from it. Bodies hold ids, enums, integers, digests and names of tools; what a person wrote
 * or a caller sent goes into a part. `SPEC.md` carries the same table, and a test compares the two.
 *
 * Spec: format 1 section 1; design section 4.
 */
import type { JsonValue } from "./json/value.ts"
import { isMember, type MemberType } from "./kinds-members.ts"
import { MAX_PART_BYTES } from "./pack/format.ts"

/** A member of a body. */
export interface BodyMember {
  readonly name: string
  readonly type: MemberType
  /** An optional member is left out when there is nothing to say; it is never null. */
  readonly required: boolean
}

/** A part that records of a kind may carry. */
export interface PartRow {
  readonly name: string
  /** `json`: the RFC 8785 form where the value has one, else the bytes received. */
  readonly format: "json"
  readonly maxBytes: number
  readonly holds: string
}

/** The row of a kind. */
export interface KindRow {
  readonly kind: string
  readonly about: string
  /** In the order of their names. */
  readonly body: ReadonlyArray<BodyMember>
  /** In the order of their names. */
  readonly parts: ReadonlyArray<PartRow>
}

/** Parts that one record can have: storage keys them by `seq * 32 + n`. */
export const MAX_PARTS = 32

const must = (name: string, type: MemberType): BodyMember => ({ name, type, required: true })
const may = (name: string, type: MemberType): BodyMember => ({ name, type, required: false })
const part = (name: string, maxBytes: number, holds: string): PartRow => ({ name, format: "json", maxBytes, holds })

const id = (prefix: string): MemberType => ({ type: "id", prefix })
const choice = (...values: ReadonlyArray<string>): MemberType => ({ type: "enum", values })
const name = (max: number): MemberType => ({ type: "name", max })
const count: MemberType = { type: "integer", min: 0, max: Number.MAX_SAFE_INTEGER }
const instant: MemberType = { type: "instant" }
const hash: MemberType = { type: "hash" }
const writer = must("writer", { type: "writer" })
const tier = choice("L0", "L1", "L2", "L3", "L4")
const riskClass = choice("prohibited", "high", "limited", "minimal", "unclassified")
const agentId = must("agent_id", id("agt_"))
const ownerPart = (holds: string): PartRow => part("owner", 8192, holds)
const profilePart = (more = ""): PartRow =>
  part("profile", MAX_PART_BYTES, `\`{agent_version?, blast_radius, description?, framework?, labels, model_ids, name, org_unit?, purpose?}\`${more}`)
const usage: MemberType = {
  type: "object",
  members: [may("cost_micro_usd", count), may("input_tokens", count), may("output_tokens", count)]
}
const MIB = 1_048_576
const webhookId = must("webhook_id", id("whk_"))
const eventTypes: MemberType = { type: "list", of: name(64), min: 1, max: 100 }
const endpointPart = (more = ""): PartRow => part("endpoint", 16_384, `\`{description?, notify_email?, url}\`${more}`)
const envelopeId = must("envelope_id", id("env_"))
const authors = must("authors", { type: "list", of: { type: "writer" }, min: 1, max: 64 })
const outcome = choice("allow", "allow_with_notice", "require_review", "deny", "halt")
/** Where each rule failed: the axis, -1 where it holds, -2 where it can hold nowhere. Empty where the evaluation ended early. */
const trace = must("trace", { type: "list", of: { type: "integer", min: -2, max: 255 }, min: 0, max: 1_100 })
const layers = must("layers", { type: "list", of: { type: "object", members: [must("digest", hash), envelopeId, must("version", { type: "integer", min: 1, max: 1_000_000 })] }, min: 0, max: 15 })
/** `amount` is there exactly where this evaluation adds to the window. */
const meters = must("meters", { type: "list", of: { type: "object", members: [must("after", count), may("amount", count), must("id", name(64)), must("value", count), must("window", id("mtr_"))] }, min: 0, max: 48 })
const waivers = may("waivers", { type: "list", of: id("wvr_"), min: 1, max: 64 })
const stoppedOn = may("stopped_on", name(64))
const envelopePart = part("envelope", 262_144, "the envelope, `envelope/1`")
const modelBody: ReadonlyArray<BodyMember> = [
  may("hosting", choice("vendor_api", "cloud_tenant", "self_hosted")),
  must("model_id", id("mdl_")),
  must("name", name(200)),
  may("price", { type: "object", members: [may("input_micro_usd_per_mtok", count), may("output_micro_usd_per_mtok", count)] }),
  must("provider", name(200)),
  must("status", choice("allowed", "restricted", "retired")),
  may("version", name(200)),
  writer
]

/** The kinds that are written so far. */
export const recordKinds: ReadonlyArray<KindRow> = [
  {
    kind: "chain.genesis",
    about: "Record 0: which chain this is, and the keys that sign it.",
    body: [must("hash", choice("sha256-rfc6962")), must("origin", { type: "origin" }), must("vkeys", { type: "list", of: { type: "vkey" }, min: 1, max: 16 })],
    parts: [
      part("previous", 16_384, "`{checkpoint, origin, signed_root, signed_size, stored_root, stored_size}`: the chain that this one follows after a recovery; never erased, always disclosed"),
      part("reason", 16_384, "any text as JSON: why a person gave up the chain before")
    ]
  },
  {
    kind: "agent.registered",
    about: "An agent came under governance, as a draft.",
    body: [
      must("agent_id", id("agt_")),
      must("autonomy_tier", tier),
      may("recert_due_at", instant),
      may("risk_class", riskClass),
      writer
    ],
    parts: [ownerPart("`{owner_email?, owner_name?}`; left out when both are absent"), profilePart()]
  },
  {
    kind: "agent.updated",
    about: "What holds for an agent from here on, whole: a member that is absent holds no more. The profile is left out where it stays.",
    body: [agentId, must("autonomy_tier", tier), may("recert_due_at", instant), must("risk_class", riskClass), writer],
    parts: [profilePart("; left out when nothing of it changed")]
  },
  {
    kind: "agent.activated",
    about: "The agent may act by itself, as far as its tier and envelope go.",
    body: [agentId, writer],
    parts: []
  },
  {
    kind: "agent.suspended",
    about: "The agent may not act until it is activated again.",
    body: [agentId, must("reason", choice("manual", "orphan_grace", "recert_overdue", "breaker", "kill")), writer],
    parts: [part("reason", 8192, "any text as JSON: what a person said of it")]
  },
  {
    kind: "agent.decommissioned",
    about: "The agent's end.",
    body: [agentId, must("decommissioned_at", instant), writer],
    parts: []
  },
  {
    kind: "agent.owner_transferred",
    about: "Another person answers for the agent.",
    body: [agentId, writer],
    parts: [ownerPart("`{owner_email, owner_name}`")]
  },
  {
    kind: "agent.orphaned",
    about: "Nobody answers for the agent any more: its owner was taken away, or who it was has been erased.",
    body: [agentId, must("since", instant), writer],
    parts: [part("reason", 8192, "any text as JSON: what a person said of it")]
  },
  {
    kind: "agent.recertified",
    about: "Somebody looked at the agent and named the next date.",
    body: [agentId, must("recert_due_at", instant), writer],
    parts: []
  },
  {
    kind: "agent.identity_attested",
    about: "A signed card was looked at, or an identity was declared. `rejected` leaves the earlier identity standing; `declared` was only said.",
    body: [
      agentId,
      may("alg", choice("EdDSA", "ES256")),
      may("card_digest", hash),
      must("checked_at", instant),
      may("key_id", name(200)),
      must("reason_code", choice("ok", "signature_invalid", "key_unknown", "key_revoked", "key_expired", "alg_not_allowed", "card_malformed", "name_mismatch")),
      must("source", choice("signed_card", "a2a_signed_card", "spiffe", "entra_agent_id", "okta_agent", "oidc_workload", "aws_agent_registry", "did", "other")),
      must("verdict", choice("verified", "declared", "rejected")),
      writer
    ],
    parts: [
      part("claim", 8192, "`{key_id}`: what a rejected card calls its key, where no trusted key is called so"),
      part("identity", 16_384, "`{identity_ref, identity_source?}`: the identity from here on; the source only where the body says `other`; left out when rejected")
    ]
  },
  {
    kind: "agent.provenance_added",
    about: "Somebody says what the agent is made of.",
    body: [
      agentId,
      may("digest", name(200)),
      must("kind", choice("model", "prompt", "tool_server", "dataset", "code", "container", "config", "policy", "skill")),
      must("provenance_id", id("prv_")),
      may("slsa_level", { type: "integer", min: 0, max: 3 }),
      writer
    ],
    parts: [part("profile", 65_536, "`{name, sbom_ref?, supplier?, uri?, version?}`")]
  },
  {
    kind: "model.registered",
    about: "A model that agents may use, or may not.",
    body: modelBody,
    parts: []
  },
  {
    kind: "model.updated",
    about: "What holds for a model from here on, whole.",
    body: modelBody,
    parts: []
  },
  {
    kind: "decision.witnessed",
    about: "What an agent did or intends, as its writer saw it.",
    body: [
      must("action", name(200)),
      must("agent_id", id("agt_")),
      must("agent_status", choice("draft", "active", "suspended", "decommissioned")),
      may("approval_id", name(200)),
      must("client_ref", name(128)),
      may("decided_by", choice("server", "sdk_cache", "fail_open", "fail_closed")),
      may("evaluation_id", name(200)),
      must("kind", choice("tool_call", "model_call", "message", "handoff", "approval", "other")),
      may("latency_ms", count),
      may("mode", choice("enforced", "observed")),
      may("model", name(200)),
      may("observed_at", instant),
      may("run_id", name(200)),
      must("status", choice("intended", "ok", "error", "denied", "unknown")),
      may("step", count),
      may("tool_server", name(200)),
      may("usage", usage),
      writer,
      may("writer_seq", count)
    ],
    parts: [part("args", MIB, "any JSON: what the action was called with"), part("labels", MIB, "any JSON: the caller's own marks"), part("result", MIB, "any JSON: what came of it")]
  },
  {
    kind: "decision.settled",
    about: "The outcome of a decision that was witnessed earlier.",
    body: [
      may("actual", { type: "list", of: { type: "object", members: [must("amount", count), must("meter", name(64))] }, min: 1, max: 16 }),
      must("agent_id", id("agt_")),
      must("decision_seq", count),
      may("evaluation_seq", count),
      may("latency_ms", count),
      must("status", choice("ok", "error", "denied", "unknown")),
      may("usage", usage),
      writer
    ],
    parts: [part("result", MIB, "any JSON: what came of it")]
  },
  {
    kind: "capture.gap",
    about: "Decisions are missing from the chain, and the writer says so.",
    body: [
      must("agent_id", id("agt_")),
      must("count", count),
      must("from", instant),
      must("reason", choice("server_unreachable", "spool_full", "crash", "clock")),
      must("to", instant),
      writer
    ],
    parts: []
  },
  {
    kind: "evaluation.made",
    about: "Our verdict on what an agent intends, under the envelopes in force just before this record. `shadow` is what versions on trial would have said; nobody is bound by it.",
    body: [
      may("action_digest", hash),
      agentId,
      must("agent_status", choice("draft", "active", "suspended", "decommissioned")),
      may("approval_id", name(200)),
      must("as_of_ms", count),
      must("as_of_seq", count),
      must("client_ref", name(128)),
      must("decided_by", choice("server", "sdk_cache", "fail_open", "fail_closed")),
      must("evaluation_id", id("evl_")),
      may("latches", { type: "list", of: name(64), min: 1, max: 64 }),
      layers,
      must("matched_rule", name(128)),
      meters,
      must("mode", choice("enforced", "shadow")),
      must("outcome", outcome),
      may("review_id", id("rev_")),
      may("run_id", name(200)),
      may("shadow", { type: "object", members: [layers, must("matched_rule", name(128)), meters, must("outcome", outcome), stoppedOn, trace] }),
      stoppedOn,
      must("tier", tier),
      trace,
      waivers,
      writer
    ],
    parts: [
      part("action", 1024, "what the agent is about to do, as it calls it"),
      part("advice", 262_144, "`{notice_ms?, obligations, retry_after_ms?, suggestion?}`; left out where there is nothing of it"),
      part("signals", 65_536, "what the agent says of it: any JSON object")
    ]
  },
  {
    kind: "meter.voided",
    about: "What an evaluation added to meters is taken away: its action was not taken.",
    body: [agentId, must("evaluation_id", id("evl_")), must("evaluation_seq", count), writer],
    parts: [part("reason", 8192, "any text as JSON: what a person said of it")]
  },
  {
    kind: "envelope.drafted",
    about: "A draft was written, or written anew; `revision` counts them. With `agent_id` it is for that agent, else for the org unit in the profile.",
    body: [may("agent_id", id("agt_")), authors, must("digest", hash), envelopeId, must("revision", count), must("version", { type: "integer", min: 1, max: 1_000_000 }), writer],
    parts: [envelopePart, part("profile", 8192, "`{name, org_unit?}`, in the first record alone; the org unit only where there is no `agent_id`")]
  },
  {
    kind: "envelope.published",
    about: "A version is in force from here on, or on trial where `mode` is `shadow`. The digests are those of the parts. `approver` is who published what is newly allowed: none of its authors.",
    body: [
      may("agent_id", id("agt_")),
      may("approver", { type: "writer" }),
      authors,
      must("backtest_digest", hash),
      must("change", choice("equal", "tightening_only", "loosens", "unknown")),
      must("diff_digest", hash),
      must("digest", hash),
      envelopeId,
      must("lint_digest", hash),
      must("mode", choice("enforced", "shadow")),
      must("version", { type: "integer", min: 1, max: 1_000_000 }),
      writer
    ],
    parts: [
      part("backtest", MIB, "what recorded evaluations come to under this version"),
      part("diff", MIB, "what it changes against the version before it, with examples"),
      envelopePart,
      part("lint", MIB, "what was found about it")
    ]
  },
  {
    kind: "envelope.withdrawn",
    about: "Nothing is in force for whom this envelope is, and every evaluation is denied, until a version is published.",
    body: [envelopeId, writer],
    parts: [part("reason", 8192, "any text as JSON: what a person said of it")]
  },
  {
    kind: "waiver.requested",
    about: "Somebody asks for an exception to one rule of the version in force.",
    body: [envelopeId, must("expires_at", instant), must("rule_id", name(64)), must("version", { type: "integer", min: 1, max: 1_000_000 }), must("waiver_id", id("wvr_")), writer],
    parts: [part("waiver", 65_536, "`{reason, unless}`")]
  },
  {
    kind: "waiver.granted",
    about: "Somebody else grants it. It holds for evaluations whose `as_of_ms` is before `expires_at`, while that version is in force.",
    body: [envelopeId, must("expires_at", instant), must("requested_by", { type: "writer" }), must("rule_id", name(64)), must("version", { type: "integer", min: 1, max: 1_000_000 }), must("waiver_id", id("wvr_")), writer],
    parts: [part("waiver", 65_536, "`{reason, unless}`, as in the request")]
  },
  {
    kind: "part.erased",
    about: "The content and salt of a part were deleted. `seq` is the record whose part it was.",
    body: [
      must("name", { type: "part_name" }),
      must("reason", choice("subject_request", "legal_order", "retention", "captured_by_mistake", "security")),
      must("seq", count)
    ],
    parts: [part("authority", 256, "`{writer}`: who erased it; this part is never erased")]
  },
  {
    kind: "evidence.exported",
    about: "An evidence pack left the house. `digest` is the one in its Z line.",
    body: [must("digest", hash), must("pack_id", id("pck_")), must("pack_kind", choice("full", "range", "sparse")), must("tree_size", count), writer],
    parts: []
  },
  {
    kind: "ingest_key.minted",
    about: "A key for agents was made. `key_digest` is its SHA-256.",
    body: [may("expires_at", instant), may("key_digest", hash), must("key_id", id("key_")), must("max_autonomy_tier", tier), writer],
    parts: [part("profile", 8192, "`{name, org_unit, prefix}`")]
  },
  {
    kind: "ingest_key.revoked",
    about: "A key for agents counts no more.",
    body: [must("key_id", id("key_")), writer],
    parts: []
  },
  {
    kind: "mapping.changed",
    about: "Who becomes what here was set anew, all of it. `rules` is how many rules there are.",
    body: [must("rules", { type: "integer", min: 0, max: 1000 }), writer],
    parts: [part("mapping", MAX_PART_BYTES, "`{rules: [{id, match: {claim, value}, org_unit, role}], trust_canonical}`")]
  },
  {
    kind: "webhook.created",
    about: "A receiver asked to be told of events of these types.",
    body: [must("events", eventTypes), webhookId, writer],
    parts: [endpointPart()]
  },
  {
    kind: "webhook.changed",
    about: "What holds for a webhook from here on: `events` and `status` where they changed. After `seventh_failure` nothing is sent until it is enabled.",
    body: [
      must("cause", choice("owner", "seventh_failure", "secret_rotated", "enabled")),
      may("events", eventTypes),
      may("status", choice("active", "failed", "disabled")),
      webhookId,
      writer
    ],
    parts: [endpointPart("; left out where nothing of it changed")]
  },
  {
    kind: "webhook.revoked",
    about: "A webhook's end: nothing is sent to it any more.",
    body: [webhookId, writer],
    parts: []
  },
  {
    kind: "delivery.finished",
    about: "What became of an event owed to a webhook. Deliveries of `chain.checkpoint` and of `webhook.failed` have no such record. `status_code` and `error_code` are of its last attempt.",
    body: [
      must("attempts", { type: "integer", min: 0, max: 7 }),
      must("delivery_id", id("dlv_")),
      may("error_code", choice("timeout", "connect", "dns", "tls", "ssrf_blocked", "redirect", "http_status", "body_too_large", "crashed")),
      must("event_id", id("evt_")),
      must("event_type", name(64)),
      must("outcome", choice("succeeded", "failed", "cancelled")),
      may("status_code", { type: "integer", min: 100, max: 999 }),
      webhookId
    ],
    parts: []
  },
  {
    kind: "principal.seen",
    about: "A person was given a pseudonym, which records carry in place of a name.",
    body: [must("kind", choice("user")), must("principal_id", id("usr_"))],
    parts: [part("identity", 16_384, "`{issuer, subject}`")]
  },
  {
    kind: "key.rotated",
    about: "Another key signs from here on. The first checkpoint that covers this record carries both signatures.",
    body: [must("from_key_id", { type: "key_id" }), must("to_vkey", { type: "vkey" })],
    parts: []
  }
]

const rows: ReadonlyMap<string, KindRow> = new Map(recordKinds.map((row) => [row.kind, row]))

/** The row of a kind; null when nobody writes it yet. */
export const kindRow = (kind: string): KindRow | null => rows.get(kind) ?? null

/**
 * What is wrong with a body of this kind, as a sentence; null when it is as the catalogue says.
 *
 * The sentence names members and bounds, never a value: it may reach a log.
 */
export const checkBody = (kind: string, body: unknown): string | null => {
  const row = rows.get(kind)
  if (row === undefined) return `Kind ${kind} is not in the catalogue. Add its row before writing it.`
  return checkMembers(row.body, body, `The body of ${kind}`)
}

/** What is wrong with an object that should have these members. */
const checkMembers = (members: ReadonlyArray<BodyMember>, value: unknown, what: string): string | null => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${what} is not an object.`
  const object = value as { readonly [name: string]: JsonValue | undefined }
  let found = 0
  for (const member of members) {
    if (!Object.hasOwn(object, member.name)) {
      if (member.required) return `${what} lacks ${member.name}.`
      continue
    }
    found++
    const { type } = member
    const problem = checkMember(type, object[member.name], member.name, what)
    if (problem !== null) return problem
  }
  return found === Object.keys(object).length ? null : `${what} has a member that the catalogue does not name.`
}

const checkMember = (type: MemberType, value: unknown, name: string, what: string): string | null => {
  if (type.type === "object") return checkMembers(type.members, value, `${what}, ${name},`)
  if (type.type !== "list" || type.of.type !== "object") return isMember(type, value) ? null : `${what} has a ${name} out of its bounds.`
  if (!Array.isArray(value) || value.length < type.min || value.length > type.max) return `${what} has a ${name} out of its bounds.`
  for (const item of value) {
    const problem = checkMember(type.of, item, name, what)
    if (problem !== null) return problem
  }
  return null
}

/** Every kind that format 1's writers may come to use: a closed list that only grows. */
export const allRecordKinds: ReadonlyArray<string> = (
  "chain.genesis agent.registered agent.updated agent.activated agent.suspended agent.decommissioned agent.owner_transferred agent.orphaned " +
  "agent.recertified agent.identity_attested agent.provenance_added model.registered model.updated decision.witnessed decision.settled capture.gap " +
  "evaluation.made envelope.drafted envelope.published envelope.withdrawn breaker.armed breaker.changed breaker.tripped breaker.released " +
  "kill.activated kill.acknowledged kill.released drill.started drill.completed drill.attested review.opened review.claimed review.resolved " +
  "review.expired review.consumed response_policy.changed mcp.manifest_seen mcp.manifest_changed finding.resolved drift.alarmed fairness.screened " +
  "eval.recorded ingest_key.minted ingest_key.revoked platform_key.minted platform_key.revoked mapping.changed waiver.requested waiver.granted meter.voided " +
  "monitor.changed workflow.changed webhook.created webhook.changed webhook.revoked delivery.finished part.erased key.rotated key.revoked " +
  "channel.checked chain.trimmed chain.sealed evidence.exported principal.seen analysis.completed analysis.failed alert.triggered alert.resolved " +
  "execution.started execution.waiting execution.decided execution.finished"
).split(" ")
