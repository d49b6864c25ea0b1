/**
 * Lists what happened to one agent, newest first: one entry for each of its records, made of the record's body alone.
 * Parts are never read, so that nothing erasable or withheld can appear. Spec: api.md, GET /agents/{agent_id}/timeline.
 */
import { DEFAULT_PAGE, type TimelineEntry, type TimelineQuery } from "@flyball/contract"
import { decisionId, readRecord, type RecordView } from "@flyball/evidence"
import { Effect } from "effect"
import { recordHash } from "../../foundation/ids.ts"
import { inSlices } from "../../foundation/in-slices.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { JsonObject, StorageApi, StoredRecord } from "../../storage/port.ts"

/** Records that are read in one turn of the event loop. */
const SLICE = 100

/**
 * A lister over one store. A page is one read along the store's index of an agent's records: its cost grows with the
 * page, not with the chain.
 */
export const timelineLister = (storage: StorageApi, originTag: Uint8Array) =>
  Effect.fnUntraced(function* (agentId: string, query: TimelineQuery) {
    const { before = Number.MAX_SAFE_INTEGER, limit = DEFAULT_PAGE } = query
    const from = query.from === undefined ? 0 : yield* firstSeqFrom(storage, Date.parse(query.from))
    const end = query.to === undefined ? before : yield* firstSeqFrom(storage, Date.parse(query.to) + 1)
    const to = Math.min(before, end) - 1
    if (to < from) return [] as ReadonlyArray<TimelineEntry>
    const range = { ...(from === 0 ? {} : { from }), ...(to < Number.MAX_SAFE_INTEGER - 1 ? { to } : {}) }
    const page = yield* storage.records({ agentId, order: "desc", limit, ...range })
    const entries = yield* inSlices(read(page, originTag))
    return entries instanceof StorageCorrupt ? yield* entries : entries
  })

/** The first record of a time or later, past the head where there is none: times never decrease along the chain. */
export const firstSeqFrom = Effect.fnUntraced(function* (storage: StorageApi, ms: number) {
  let low = 0
  let high = ((yield* storage.head)?.seq ?? -1) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [record] = yield* storage.records({ from: middle, limit: 1 })
    if (record === undefined || record.atMs >= ms) high = middle
    else low = record.seq + 1
  }
  return low
})

function* read(
  page: ReadonlyArray<StoredRecord>,
  originTag: Uint8Array
): Generator<void, ReadonlyArray<TimelineEntry> | StorageCorrupt, void> {
  const entries: Array<TimelineEntry> = []
  for (const [index, record] of page.entries()) {
    if (index > 0 && index % SLICE === 0) yield
    const found = readRecord(record.bytes)
    if (!found.ok) return new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${found.code})` })
    entries.push(entryOf(record, found.record, originTag))
  }
  return entries
}

const entryOf = (record: StoredRecord, { at, body, kind }: RecordView, originTag: Uint8Array): TimelineEntry => {
  const own = kind === "decision.witnessed" ? [decisionId(record.atMs, record.seq, originTag)] : []
  return {
    seq: record.seq,
    record_hash: recordHash(record.hash),
    recorded_at: at,
    kind,
    actor: typeof body["writer"] === "string" ? body["writer"] : null,
    summary: summaryOf(kind, body),
    references: [...own.map((id) => ({ type: "decision", id }) as const), ...referencesOf(kind, body)]
  }
}

/** Members of bodies that name something, and what. A seq names a record. */
const named = [
  ["activation_id", "activation"],
  ["decision_seq", "record"],
  ["envelope_id", "envelope"],
  ["eval_run_id", "eval_run"],
  ["evaluation_id", "evaluation"],
  ["provenance_id", "provenance"],
  ["review_id", "review"],
  ["run_id", "run"],
  ["waiver_id", "waiver"]
] as const

const referencesOf = (kind: string, body: JsonObject): TimelineEntry["references"] => [
  ...named.flatMap(([member, type]) => (body[member] === undefined ? [] : [{ type, id: String(body[member]) }])),
  ...(kind === "part.erased" ? [{ type: "record" as const, id: String(body["seq"]) }] : [])
]

/** Summarizes a record in one sentence. A kind without a sentence is named. */
export const summaryOf = (kind: string, body: JsonObject): string =>
  sentences[kind]?.(body) ?? `Record of kind ${kind}.`

const suspensions: { readonly [reason: string]: string } = {
  manual: "on request",
  orphan_grace: "it had no owner for a week",
  recert_overdue: "its recertification is overdue",
  breaker: "a breaker tripped",
  kill: "a halt is in force"
}

/**
 * A sentence for each kind of record that is about an agent. Names and values are those of the catalogue of records.
 */
const sentences: { readonly [kind: string]: (body: JsonObject) => string } = {
  "agent.registered": (body) => `Registered as a draft at tier ${body["autonomy_tier"]}.`,
  "agent.updated": (body) => `Updated: tier ${body["autonomy_tier"]}, risk class ${body["risk_class"]}.`,
  "agent.activated": () => "Activated.",
  "agent.suspended": (body) => `Suspended: ${suspensions[String(body["reason"])] ?? body["reason"]}.`,
  "agent.decommissioned": () => "Decommissioned.",
  "agent.owner_transferred": () => "Ownership transferred.",
  "agent.orphaned": () => "Left without an owner.",
  "agent.recertified": (body) => `Recertified until ${body["recert_due_at"]}.`,
  "agent.identity_attested": ({ reason_code, source, verdict }) =>
    `Identity ${verdict} from ${source}${verdict === "rejected" ? ` (${reason_code})` : ""}.`,
  "agent.provenance_added": (body) => `Provenance recorded: ${body["kind"]}.`,
  "decision.witnessed": ({ action, kind, status }) => `Decision recorded: ${kind} ${action}, ${status}.`,
  "decision.settled": ({ decision_seq, status }) => `Decision of record ${decision_seq} settled: ${status}.`,
  "capture.gap": ({ count, from, reason, to }) =>
    `Capture gap from ${from} to ${to}: ${count} decisions missing (${reason}).`,
  "instance.ended": ({ instance_id }) => `Instance ${instance_id} ended.`,
  "evaluation.made": ({ matched_rule, mode, outcome }) =>
    `Evaluated: ${outcome} by rule ${matched_rule}${mode === "shadow" ? " (shadow)" : ""}.`,
  "kill.requested": ({ activation_id }) =>
    activation_id === undefined ? "Halt requested; nothing was stopped." : "Halt requested, and activated by policy.",
  "kill.activated": ({ drill, response, target_type }) =>
    `Kill switch: ${response} of the ${target_type}${drill === undefined ? "" : " (drill)"}.`,
  "kill.acknowledged": ({ in_flight, instance_id }) =>
    `Kill switch acknowledged by instance ${instance_id}, ${in_flight} in flight.`,
  "kill.stopped": ({ instance_id }) => `Instance ${instance_id} stopped.`,
  "kill.released": () => "Kill switch released.",
  "drill.started": ({ mode, slo_ms }) => `Drill started: ${mode}, every instance within ${slo_ms} ms.`,
  "drill.completed": ({ acknowledged, expected }) => `Drill completed: ${acknowledged} of ${expected} acknowledged.`,
  "drill.attested": () => "Drill attested by a second person.",
  "review.opened": ({ matched_rule }) => `Review opened: rule ${matched_rule} requires it.`,
  "review.presented": () => "Review shown to a person.",
  "review.claimed": ({ given_back }) => (given_back === true ? "Review given back." : "Review claimed."),
  "review.resolved": ({ approvals_given, approvals_needed, ends, resolution }) =>
    `Review answered: ${resolution}${ends === true ? "" : `, ${approvals_given} of ${approvals_needed} approvals`}.`,
  "review.expired": () => "Review expired: nobody answered in time.",
  "review.cancelled": ({ cause }) => `Review cancelled: ${cause}.`,
  "review.consumed": ({ result }) => `Approval ${result}.`,
  "meter.voided": () => "Evaluation voided: its amounts are removed from meters.",
  "envelope.drafted": ({ revision, version }) => `Envelope version ${version} drafted, revision ${revision}.`,
  "envelope.published": ({ mode, version }) => `Envelope version ${version} published, ${mode}.`,
  "envelope.withdrawn": () => "Envelope withdrawn.",
  "platform_key.minted": () => "Got a platform key, with which it calls the gateway.",
  "eval.recorded": ({ failed, passed, verdict }) =>
    `Eval run recorded: ${passed} passed, ${failed} failed${verdict === undefined ? "" : `, ${verdict}`}.`,
  "mcp.manifest_seen": ({ state, tool_server, tools }) =>
    `List of ${tools} tools of ${tool_server ?? "a server"} seen: ${state}.`,
  "mcp.manifest_changed": ({ severity, tools }) => `Tool list changed: ${tools} tools, severity ${severity}.`,
  "finding.resolved": ({ resolution }) => `Finding ${resolution}.`,
  "fairness.screened": ({ decisions, undefined_reason, verdict }) =>
    `Fairness of ${decisions} decisions screened: ${verdict ?? undefined_reason}.`,
  "extraction.completed": ({ confidence, document_type: type }) =>
    `Fields of a document extracted: ${type}, confidence ${confidence} of 1000.`,
  "extraction.failed": ({ code }) => `A document was not read: ${code}.`,
  "standing_approval.proposed": ({ count, expires_at }) =>
    `Standing approval of up to ${count} evaluations proposed, until ${expires_at}.`,
  "standing_approval.granted": () => "Standing approval granted.",
  "standing_approval.used": ({ left }) => `Standing approval used; ${left} left.`,
  "standing_approval.revoked": () => "Standing approval revoked.",
  "waiver.requested": ({ expires_at, rule_id }) => `Waiver of rule ${rule_id} requested until ${expires_at}.`,
  "waiver.granted": ({ expires_at, rule_id }) => `Waiver of rule ${rule_id} granted until ${expires_at}.`,
  "breaker.armed": ({ metric, mode, name }) => `Breaker ${name} armed on ${metric}, ${mode}.`,
  "breaker.changed": ({ metric, mode, name }) => `Breaker ${name} on ${metric} changed, ${mode}.`,
  "breaker.tripped": ({ metric, mode, response, value }) =>
    `Breaker on ${metric} tripped at ${value}: ${response === undefined ? `recorded (${mode})` : response}.`,
  "breaker.released": () => "Breaker released: it is armed again.",
  "drift.alarmed": ({ activation_id: activation, dimension, e_value: value }) =>
    `Its ${dimension} changed (e-value ${value}): ${activation === undefined ? "reported" : "the kill switch is on"}.`,
  "route_plan.dispatched": ({ plan_id }) => `Dispatched the plan of routes ${plan_id}.`,
  "part.erased": ({ name, reason, seq }) => `Part ${name} of record ${seq} erased (${reason}).`
}
