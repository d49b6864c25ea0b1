/**
 * Judges whether an agent was there, and in the status, for what its records say. Spec: document 1 section 3; decisions
 * 0013 and 0061.
 */
import { type AgentAct, type AgentStatus, statusAfter } from "../../agents/transitions.ts"
import type { KnownAgent } from "../../evaluations/known-agents.ts"
import type { ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** The act of a record, by kind. */
const acts: { readonly [kind: string]: AgentAct | undefined } = {
  "agent.activated": "activate",
  "agent.decommissioned": "decommission",
  "agent.identity_attested": "attach-identity",
  "agent.owner_transferred": "transfer-ownership",
  "agent.provenance_added": "add-provenance",
  "agent.recertified": "recertify",
  "agent.suspended": "suspend",
  "agent.updated": "update"
}

/** Kinds that are of an agent, whichever status it is in. */
const ofAgents: ReadonlySet<string> = new Set(["agent.orphaned", "capture.gap", "decision.witnessed", "instance.ended"])

/** Rules, and the job that adds members to agents of the chain before, take an agent in any status. */
const isByItself = (writer: string): boolean => writer.startsWith("policy:") || writer === "system:migration"

/**
 * Judges a record before it is folded. `isWhole`: all records before it were read, from record 0 on.
 */
export const judgeLifecycle = (
  agents: ReadonlyMap<string, KnownAgent>,
  { body, kind }: ReplayRecord,
  isWhole: boolean
): Problem | null => {
  const { agent_id: id, agent_status: said, writer } = body
  const act = acts[kind]
  if (typeof id !== "string" || !(act !== undefined || ofAgents.has(kind) || kind === "agent.registered")) return null
  const agent = agents.get(id)
  if (kind === "agent.registered")
    return agent === undefined ? null : problem("reference_mismatch", `${id} was registered before.`)
  if (agent === undefined) return isWhole ? problem("reference_mismatch", `No record before it registers ${id}.`) : null
  const status = agent.document.body["status"] as AgentStatus
  if (kind === "decision.witnessed")
    return said === status ? null : problem("tier_mismatch", `${id} was ${status}; the record says ${String(said)}.`)
  return act === undefined || isByItself(String(writer)) || statusAfter(act, status) !== null
    ? null
    : problem("tier_mismatch", `${id} was ${status}: that allows no ${kind}.`)
}
