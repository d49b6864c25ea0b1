/**
 * Places of the record kinds in the auditor's report: one value for each kind of the catalogue, and a test that none
 * is missing. A record of a kind without a row is counted in the section `other`.
 *
 * Bodies and parts are as a pack has them: nothing here relies on their form.
 */
import type { JsonObject } from "@flyball/evidence"
import { memberOf, textOf, textOrNull } from "./bounded.ts"

/** The sections of the report, in their order, with their titles. */
export const sections = {
  agents: "Agents: status, tier, owner, identity and components",
  rules: "Rules: drafts, versions and exceptions",
  approvals: "Reviews and approvals",
  halts: "Halts and releases",
  drills: "Drills of the kill switch",
  breakers: "Circuit breakers and alarms of behaviour",
  access: "Keys, people, access mapping and response policy",
  models: "Models, eval runs, fairness screens and analyses",
  servers: "Tool servers and findings",
  workflows: "Workflows and their executions",
  monitors: "Monitors and their alerts",
  fleet: "Routes and positions of vehicles",
  decisions: "Decisions and verdicts",
  gaps: "Gaps in capture",
  webhooks: "Webhooks",
  chain: "The chain: its keys, exports",
  erasures: "Erasures",
  other: "Records of kinds that this version does not know"
} as const

/** Name of a section in JSON. */
export type SectionName = keyof typeof sections

/** An earlier record that a later one answers. `by`: the writer's id. */
export interface Earlier {
  readonly atMs: number
  readonly about: string
  readonly by: unknown
}

/** A record as a row reads it. */
export interface RowInput {
  readonly body: JsonObject
  /** The JSON of a disclosed part; undefined for another one. */
  readonly part: (name: string) => unknown
  /** The record that this one answers; null where it is not in the pack, or too far back. */
  readonly earlier: Earlier | null
  /** The agent's tier before this record; null where no record of the pack states it. */
  readonly tierBefore: string | null
  readonly names: Names
}

/** Names for ids, from disclosed parts; an id without one stands for itself. */
export interface Names {
  readonly agent: (id: unknown) => string
  readonly envelope: (id: unknown) => string
  readonly person: (id: unknown) => string
  readonly earlier: (id: unknown) => Earlier | null
}

/** The row of a kind. */
export interface ReportRow {
  readonly kind: string
  readonly section: SectionName
  /** The section lists such records; it counts the others. */
  readonly listed?: true
  /** Default: {@link subjectOf}. */
  readonly about?: (input: RowInput) => string
  /** The facts, before the reason that a person gave. */
  readonly note?: (input: RowInput) => string | null
  /** Ids of those who began it. Default: the writer. */
  readonly by?: (input: RowInput) => ReadonlyArray<unknown>
  /** Id of the second person; undefined where the record names none. */
  readonly approver?: (input: RowInput) => unknown
  /** Id of the key or person whose request was approved. */
  readonly requester?: (input: RowInput) => unknown
  /** Id under which a later record names this one. */
  readonly begins?: (body: JsonObject) => unknown
  /** Id of the record that this one answers; the time between them is stated. */
  readonly answers?: (body: JsonObject) => unknown
}

const of =
  (member: string) =>
  (body: JsonObject): unknown =>
    body[member]
/** Members of a body with their values, as `tier L1`. */
const stated =
  (...members: ReadonlyArray<string>) =>
  ({ body }: RowInput): string | null => {
    const found = members.filter((member) => body[member] !== undefined)
    return found.length === 0 ? null : found.map((member) => `${words(member)} ${textOf(body[member])}`).join(", ")
  }
const words = (member: string): string => member.replaceAll("_", " ")
const value =
  (member: string) =>
  ({ body }: RowInput): string =>
    textOf(body[member])
const earlierAbout = (input: RowInput): string => input.earlier?.about ?? subjectOf(input)
const earlierBy = ({ earlier }: RowInput): ReadonlyArray<unknown> => [earlier?.by]
const writer = ({ body }: RowInput): unknown => body["writer"]
const isApproval = ({ body }: RowInput): boolean => body["resolution"] === "approve"
const reviewed = { section: "approvals", about: earlierAbout, answers: of("review_id") } as const
const listOf = (part: unknown): ReadonlyArray<unknown> => (Array.isArray(part) ? part : [])

const tierNote = ({ body, tierBefore }: RowInput): string => {
  const tier = textOf(body["autonomy_tier"])
  return tierBefore === null || tierBefore === tier ? `tier ${tier}` : `tier ${tierBefore} to ${tier}`
}

const ownerNote = ({ part }: RowInput): string | null => {
  const owner = ownerOf(part("owner"))
  return owner === null ? null : `owner ${owner}`
}

/** An owner as text: name, e-mail address, or both. */
export const ownerOf = (owner: unknown): string | null => {
  const [name, email] = [textOrNull(memberOf(owner, "owner_name")), textOrNull(memberOf(owner, "owner_email"))]
  return name === null ? email : email === null ? name : `${name} <${email}>`
}

const mappingNote = ({ body, part }: RowInput): string => {
  const rules = listOf(memberOf(part("mapping"), "rules")).slice(0, MAX_RULES)
  const trusts = memberOf(part("mapping"), "trust_canonical") === true ? "; role names of tokens are trusted" : ""
  const shown = rules.map((rule) => {
    const match = memberOf(rule, "match")
    const claim = `${textOf(memberOf(match, "claim"))} ${textOf(memberOf(match, "value"))}`
    return `${textOf(memberOf(rule, "role"))} in ${textOf(memberOf(rule, "org_unit"))} for ${claim}`
  })
  return `${textOf(body["rules"])} rules${shown.length === 0 ? "" : `, among them: ${shown.join("; ")}`}${trusts}`
}
const MAX_RULES = 20

const noteOfKey =
  (...members: ReadonlyArray<string>) =>
  (input: RowInput): string | null => {
    const [name, unit] = ["name", "org_unit"].map((member) => textOrNull(memberOf(input.part("profile"), member)))
    const facts = stated(...members)(input)
    return [name, unit === null ? null : `org unit ${unit}`, facts].filter((one) => one !== null).join(", ") || null
  }

const keyNote = noteOfKey("max_autonomy_tier", "expires_at", "capture")

const target = ({ body, names }: RowInput): string => {
  const [type, id] = [textOf(body["target_type"]), body["target_id"]]
  return type === "agent" ? names.agent(id) : type === "deployment" ? "the deployment" : `${words(type)} ${textOf(id)}`
}

const action = ({ body, names, part }: RowInput): string => {
  const named = textOrNull(part("action"))
  return `${named === null ? "an action" : JSON.stringify(named)} of ${names.agent(body["agent_id"])}`
}

/** Subject of a record: an agent, an envelope, or the first id that names what the record is about. */
export const subjectOf = ({ body, names }: Pick<RowInput, "body" | "names">): string => {
  const envelope = body["envelope_id"]
  if (envelope === undefined && body["agent_id"] !== undefined) return names.agent(body["agent_id"])
  if (envelope === undefined) {
    const id = subjects.find((member) => body[member] !== undefined)
    return id === undefined ? "the deployment" : textOf(body[id])
  }
  const version = body["version"] === undefined ? "" : ` version ${textOf(body["version"])}`
  const agent = body["agent_id"] === undefined ? "" : ` for ${names.agent(body["agent_id"])}`
  return `${names.envelope(envelope)}${version}${agent}`
}
const subjects = ["key_id", "principal_id", "model_id", "webhook_id", "drill_id", "activation_id", "breaker_id"]

const waivedRule = (input: RowInput): string => `rule ${textOf(input.body["rule_id"])} of ${subjectOf(input)}`
const waiverNote = (input: RowInput): string => {
  const reason = textOrNull(memberOf(input.part("waiver"), "reason"))
  return `until ${textOf(input.body["expires_at"])}${reason === null ? "" : `: ${reason}`}`
}

/** The rows, in the order of the catalogue. */
export const reportRows: ReadonlyArray<ReportRow> = [
  { kind: "chain.genesis", section: "chain", listed: true, about: value("origin") },
  {
    kind: "part.erased",
    section: "erasures",
    listed: true,
    about: ({ body }) => `the part ${textOf(body["name"])} of record ${textOf(body["seq"])}`,
    by: ({ part }) => [memberOf(part("authority"), "writer")],
    note: value("reason")
  },
  { kind: "evidence.exported", section: "chain", listed: true, about: value("pack_id"), note: stated("pack_kind") },
  { kind: "key.rotated", section: "chain", listed: true, about: value("from_key_id"), note: stated("to_vkey") },

  { kind: "agent.registered", section: "agents", listed: true, note: tierNote },
  { kind: "agent.updated", section: "agents", listed: true, note: tierNote },
  { kind: "agent.activated", section: "agents", listed: true },
  { kind: "agent.suspended", section: "agents", listed: true, note: value("reason") },
  { kind: "agent.decommissioned", section: "agents", listed: true },
  { kind: "agent.owner_transferred", section: "agents", listed: true, note: ownerNote },
  { kind: "agent.orphaned", section: "agents", listed: true, note: stated("cause", "since") },
  { kind: "agent.recertified", section: "agents", listed: true, note: stated("recert_due_at") },
  {
    kind: "agent.identity_attested",
    section: "agents",
    listed: true,
    note: stated("verdict", "reason_code", "source")
  },
  { kind: "agent.provenance_added", section: "agents", listed: true, note: stated("kind", "model") },
  {
    kind: "eval.recorded",
    section: "models",
    listed: true,
    note: stated("verdict", "passed", "failed", "errored", "p")
  },
  {
    kind: "mcp.manifest_seen",
    section: "servers",
    listed: true,
    note: stated("state", "trusted", "tools", "transport", "tool_server")
  },
  {
    kind: "mcp.manifest_changed",
    section: "servers",
    listed: true,
    note: stated("severity", "tools", "against", "finding_id")
  },
  { kind: "mcp.pinned", section: "servers", listed: true, note: stated("server_id") },
  { kind: "finding.resolved", section: "servers", listed: true, note: stated("finding_id", "resolution") },
  {
    kind: "fairness.screened",
    section: "models",
    listed: true,
    note: stated("verdict", "undefined_reason", "decisions")
  },
  { kind: "workflow.changed", section: "workflows", listed: true, note: stated("workflow_id", "steps", "four_eyes") },
  { kind: "execution.started", section: "workflows", listed: true, note: stated("execution_id", "workflow_id") },
  { kind: "execution.waiting", section: "workflows", listed: true, note: stated("execution_id", "step_id") },
  { kind: "execution.decided", section: "workflows", listed: true, note: stated("execution_id", "approved") },
  {
    kind: "execution.finished",
    section: "workflows",
    listed: true,
    note: stated("execution_id", "status", "code", "step_id")
  },
  { kind: "analysis.completed", section: "models", listed: true, note: stated("analysis_id", "rows", "bias_detected") },
  { kind: "analysis.failed", section: "models", listed: true, note: stated("analysis_id", "code") },
  { kind: "route_plan.completed", section: "models", listed: true, note: stated("plan_id", "routes", "unassigned") },
  { kind: "route_plan.failed", section: "models", listed: true, note: stated("plan_id", "code") },
  { kind: "route_plan.dispatched", section: "models", listed: true, note: stated("plan_id", "agent_id") },
  {
    kind: "extraction.completed",
    section: "models",
    listed: true,
    note: stated("extraction_id", "document_type", "confidence")
  },
  { kind: "extraction.failed", section: "models", listed: true, note: stated("extraction_id", "code") },
  { kind: "extraction.revealed", section: "models", listed: true, note: stated("extraction_id") },
  { kind: "monitor.changed", section: "monitors", listed: true, note: stated("monitor_id", "metric", "status") },
  {
    kind: "alert.triggered",
    section: "monitors",
    listed: true,
    note: stated("alert_id", "monitor_id", "cause", "value")
  },
  {
    kind: "alert.resolved",
    section: "monitors",
    listed: true,
    note: stated("alert_id", "monitor_id", "reason", "value")
  },
  { kind: "positions.recorded", section: "fleet" },
  { kind: "model.registered", section: "models", listed: true, note: stated("provider", "name", "version", "status") },
  { kind: "model.updated", section: "models", listed: true, note: stated("provider", "name", "version", "status") },

  { kind: "decision.witnessed", section: "decisions" },
  { kind: "decision.settled", section: "decisions" },
  {
    kind: "capture.gap",
    section: "gaps",
    listed: true,
    note: ({ body }) => {
      const [from, to] = [textOf(body["from"]), textOf(body["to"])]
      return `${textOf(body["count"])} decisions missing, ${from} to ${to} (${textOf(body["reason"])})`
    }
  },
  { kind: "instance.ended", section: "decisions" },

  {
    kind: "evaluation.made",
    section: "decisions",
    about: action,
    begins: (body) => (body["review_id"] === undefined ? undefined : body["evaluation_id"])
  },
  { kind: "meter.voided", section: "decisions" },
  { kind: "envelope.drafted", section: "rules", begins: of("envelope_id"), note: stated("revision") },
  {
    kind: "envelope.published",
    section: "rules",
    listed: true,
    by: ({ body }) => {
      const authors = listOf(body["authors"])
      return body["approver"] === undefined || authors.length === 0 ? [body["writer"]] : authors
    },
    approver: ({ body }) => body["approver"],
    answers: of("envelope_id"),
    note: ({ body }) => `${textOf(body["change"])}, ${textOf(body["mode"])}`
  },
  { kind: "envelope.withdrawn", section: "rules", listed: true },
  {
    kind: "waiver.requested",
    section: "rules",
    listed: true,
    about: waivedRule,
    begins: of("waiver_id"),
    note: waiverNote
  },
  {
    kind: "waiver.granted",
    section: "rules",
    listed: true,
    about: waivedRule,
    by: ({ body }) => [body["requested_by"]],
    approver: writer,
    answers: of("waiver_id"),
    note: waiverNote
  },

  {
    kind: "review.opened",
    section: "approvals",
    about: ({ body, names }) => names.earlier(body["evaluation_id"])?.about ?? names.agent(body["agent_id"]),
    begins: of("review_id")
  },
  { kind: "review.presented", ...reviewed },
  { kind: "review.claimed", ...reviewed },
  {
    kind: "review.resolved",
    ...reviewed,
    listed: true,
    by: (input) => (isApproval(input) ? earlierBy(input) : [writer(input)]),
    approver: (input) => (isApproval(input) ? writer(input) : undefined),
    requester: ({ earlier }) => earlier?.by,
    note: ({ body }) =>
      `${textOf(body["resolution"])}, ${textOf(body["approvals_given"])} of ${textOf(body["approvals_needed"])} given`
  },
  { kind: "review.expired", ...reviewed, listed: true },
  { kind: "review.cancelled", ...reviewed, listed: true, note: value("cause") },
  { kind: "review.consumed", ...reviewed, note: value("result") },
  { kind: "response_policy.changed", section: "access", listed: true, note: stated("rows") },

  {
    kind: "kill.requested",
    section: "halts",
    listed: true,
    note: ({ body }) => (body["activation_id"] === undefined ? "nothing was stopped" : textOf(body["activation_id"]))
  },
  {
    kind: "kill.activated",
    section: "halts",
    listed: true,
    about: target,
    begins: of("activation_id"),
    note: (input) => {
      const drill =
        input.body["drill"] === undefined ? "" : `, a ${textOf(memberOf(input.body["drill"], "mode"))} drill`
      return `${stated("response", "breaker_id", "requested_by")(input)}${drill}`
    }
  },
  {
    kind: "kill.expected",
    section: "halts",
    answers: of("activation_id"),
    note: stated("expected", "unlisted", "cut")
  },
  {
    kind: "kill.acknowledged",
    section: "halts",
    answers: of("activation_id"),
    note: stated("instance_id", "in_flight")
  },
  { kind: "kill.stopped", section: "halts", answers: of("activation_id"), note: stated("instance_id") },
  {
    kind: "kill.unconfirmed",
    section: "halts",
    listed: true,
    about: earlierAbout,
    answers: of("activation_id"),
    note: stated("instances")
  },
  { kind: "kill.released", section: "halts", listed: true, about: earlierAbout, answers: of("activation_id") },

  { kind: "breaker.armed", section: "breakers", listed: true, note: stated("name", "metric", "mode", "response") },
  { kind: "breaker.changed", section: "breakers", listed: true, note: stated("name", "metric", "mode", "enabled") },
  {
    kind: "breaker.tripped",
    section: "breakers",
    listed: true,
    begins: of("breaker_id"),
    note: stated("metric", "value", "mode", "activation_id")
  },
  {
    kind: "drift.alarmed",
    section: "breakers",
    listed: true,
    note: stated("dimension", "e_value", "runs", "activation_id")
  },
  { kind: "breaker.released", section: "breakers", listed: true, answers: of("breaker_id") },

  {
    kind: "drill.started",
    section: "drills",
    listed: true,
    about: target,
    begins: of("drill_id"),
    note: stated("mode", "slo_ms")
  },
  {
    kind: "drill.completed",
    section: "drills",
    listed: true,
    about: earlierAbout,
    answers: of("drill_id"),
    note: stated("met", "acknowledged", "expected")
  },
  {
    kind: "drill.attested",
    section: "drills",
    listed: true,
    about: earlierAbout,
    by: earlierBy,
    approver: writer,
    answers: of("drill_id")
  },
  { kind: "channel.checked", section: "drills", note: stated("armed", "latency_ms") },

  {
    kind: "standing_approval.proposed",
    section: "approvals",
    listed: true,
    begins: of("standing_approval_id"),
    note: stated("count", "expires_at")
  },
  {
    kind: "standing_approval.granted",
    section: "approvals",
    listed: true,
    by: ({ body }) => [body["proposed_by"]],
    approver: writer,
    requester: ({ body, names }) => names.earlier(body["review_id"])?.by,
    answers: of("standing_approval_id")
  },
  { kind: "standing_approval.used", section: "approvals", note: stated("left") },
  { kind: "standing_approval.revoked", section: "approvals", listed: true },

  { kind: "ingest_key.minted", section: "access", listed: true, note: keyNote },
  { kind: "ingest_key.revoked", section: "access", listed: true },
  { kind: "platform_key.minted", section: "access", listed: true, note: noteOfKey("plan", "scopes", "expires_at") },
  { kind: "platform_key.revoked", section: "access", listed: true },
  { kind: "mapping.changed", section: "access", listed: true, about: () => "the access mapping", note: mappingNote },
  { kind: "principal.seen", section: "access", about: ({ body, names }) => names.person(body["principal_id"]) },

  {
    kind: "webhook.created",
    section: "webhooks",
    listed: true,
    note: ({ part }) => textOrNull(memberOf(part("endpoint"), "url"))
  },
  { kind: "webhook.changed", section: "webhooks", listed: true, note: stated("cause", "status") },
  { kind: "webhook.revoked", section: "webhooks", listed: true },
  { kind: "delivery.finished", section: "webhooks", note: stated("event_type", "outcome") }
]

const byKind: ReadonlyMap<string, ReportRow> = new Map(reportRows.map((row) => [row.kind, row]))

/** The row of a kind; for one that this version does not know, a row of the section `other`. */
export const reportRow = (kind: string): ReportRow => byKind.get(kind) ?? { kind, section: "other", listed: true }

/** Parts that rows read, by name. Those of decisions and evaluations are read for `action` alone. */
export const isRead = (part: string, kind: string): boolean =>
  part === "action" ? kind === "evaluation.made" : readParts.has(part)

const readParts: ReadonlySet<string> = new Set(
  "authority endpoint envelope identity mapping owner profile reason waiver".split(" ")
)
