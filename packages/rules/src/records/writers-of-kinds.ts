/**
 * Lists who may write records of each kind. A writer that is not listed wrote a false record, also under a name that
 * a later version may give to a rule. Spec: format 1 section 8; decision 0068.
 */

/**
 * A class of writers. `person`: `usr_…`, or a host under a `system:` name of its own. `key`: an ingest key.
 * `platform`: a platform key. `breaker`: any breaker. Other words are rules of the service, by their whole name.
 */
export type WriterRule = "person" | "key" | "platform" | "breaker" | `policy:${string}` | `system:${string}`

/** `system:` names under which the service itself writes. No host may take one. Spec: decision 0068. */
export const serviceWriters = [
  "system:channel",
  "system:documents",
  "system:drill",
  "system:gateway",
  "system:kill",
  "system:migration"
] as const

/** The gateway of this service: it witnesses what it passed on. Spec: platform section 8. */
export const GATEWAY_WRITER = "system:gateway"

/** The reader of documents of this service: it witnesses what an agent had it read. Spec: document 2 section 2. */
export const DOCUMENTS_WRITER = "system:documents"

/** True for a writer of the service that passes on what agents do. */
export const isMediator = (writer: string): boolean => writer === GATEWAY_WRITER || writer === DOCUMENTS_WRITER

const person = ["person"] as const
const caller = ["person", "key"] as const
/** And steps of a workflow that a platform key started. */
const actor = ["person", "key", "platform"] as const

/** The writers of each kind whose records name one. Spec: decision 0068. */
export const writersOfKinds: { readonly [kind: string]: ReadonlyArray<WriterRule> } = {
  "evidence.exported": person,
  "agent.registered": actor,
  "agent.updated": ["person", "system:migration"],
  "agent.activated": person,
  "agent.suspended": ["person", "policy:orphan_grace", "policy:recertification"],
  "agent.decommissioned": person,
  "agent.owner_transferred": person,
  "agent.orphaned": ["person", "policy:erased_owner"],
  "agent.recertified": person,
  "agent.identity_attested": caller,
  "agent.provenance_added": person,
  "model.registered": person,
  "model.updated": person,
  "decision.witnessed": [...actor, GATEWAY_WRITER, DOCUMENTS_WRITER],
  "decision.settled": actor,
  "capture.gap": caller,
  "instance.ended": caller,
  "evaluation.made": actor,
  "meter.voided": caller,
  "envelope.drafted": ["person", "platform"],
  "envelope.published": person,
  "envelope.withdrawn": person,
  "waiver.requested": person,
  "waiver.granted": person,
  "review.opened": actor,
  "review.presented": person,
  "review.claimed": person,
  "review.resolved": person,
  "review.expired": ["policy:reviews"],
  "review.cancelled": ["person", "key", "policy:reviews"],
  "review.consumed": actor,
  "response_policy.changed": person,
  "kill.requested": caller,
  "kill.activated": [
    "person",
    "breaker",
    "policy:agent_request",
    "policy:drift",
    "policy:mcp",
    "policy:orphan",
    "policy:recert",
    "system:channel"
  ],
  "kill.acknowledged": caller,
  "kill.stopped": caller,
  "kill.expected": ["system:kill"],
  "kill.unconfirmed": ["system:kill"],
  "kill.released": ["person", "system:channel", "system:drill"],
  "breaker.armed": person,
  "breaker.changed": person,
  "breaker.tripped": ["breaker"],
  "breaker.released": person,
  "drift.alarmed": ["policy:drift"],
  "drill.started": person,
  "drill.completed": ["person", "system:drill"],
  "drill.attested": person,
  "channel.checked": ["system:channel"],
  "standing_approval.proposed": person,
  "standing_approval.granted": person,
  "standing_approval.used": actor,
  "standing_approval.revoked": person,
  "eval.recorded": person,
  "mcp.manifest_seen": caller,
  "mcp.manifest_changed": caller,
  "mcp.pinned": person,
  "finding.resolved": person,
  "fairness.screened": person,
  "ingest_key.minted": person,
  "ingest_key.revoked": person,
  "platform_key.minted": person,
  "platform_key.revoked": person,
  "mapping.changed": person,
  "workflow.changed": ["person", "platform"],
  "execution.started": ["person", "platform"],
  "execution.waiting": ["policy:workflow"],
  "execution.decided": ["person", "platform"],
  "execution.finished": ["person", "platform", "policy:workflow"],
  "analysis.completed": ["person", "platform"],
  "analysis.failed": ["person", "platform", "policy:analysis"],
  "route_plan.completed": ["person", "platform"],
  "route_plan.failed": ["person", "platform", "policy:routes"],
  "route_plan.dispatched": ["person", "platform"],
  "extraction.completed": ["person", "platform"],
  "extraction.failed": ["person", "platform", "policy:extraction"],
  "extraction.revealed": ["person", "platform"],
  "monitor.changed": ["person", "platform"],
  "alert.triggered": ["policy:monitor"],
  "alert.resolved": ["policy:monitor"],
  "positions.recorded": ["policy:tracking"],
  "webhook.created": ["person", "platform"],
  "webhook.changed": ["person", "platform", "policy:seventh_failure"],
  "webhook.revoked": ["person", "platform", "policy:erased_endpoint"]
}

/** True when a writer may write records of a kind. A kind that is not listed names no writer. Spec: decision 0068. */
export const mayWrite = (kind: string, writer: string): boolean => {
  const rules = writersOfKinds[kind]
  return rules === undefined || rules.includes(writer as WriterRule) || rules.includes(classOf(writer))
}

/** The class of a writer; its own name for a rule of the service. */
const classOf = (writer: string): WriterRule => {
  if (writer.startsWith("key_")) return "key"
  if (writer.startsWith("pky_")) return "platform"
  if (writer.startsWith("breaker:")) return "breaker"
  if (writer.startsWith("policy:") || (serviceWriters as ReadonlyArray<string>).includes(writer))
    return writer as WriterRule
  return "person"
}
