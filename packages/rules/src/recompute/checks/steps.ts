/**
 * Checks what a record of any kind says of its own time and of the objects that it names: an id is given once, by one
 * kind; a later record names one that was given, of the same agent, and that has not ended. Spec: decision 0069.
 */
import { parseInstant } from "@flyball/evidence"
import { partMembers } from "../../records/part-json.ts"
import type { Json, JsonMap, ReplayRecord } from "../../records/record.ts"
import type { Judged } from "../judges.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { CLOCK_STEP_MS, ID_LENGTH, LATE_MS } from "../tolerances.ts"

/** The members of a kind's records by their role. Each text is the name of a member of the body. */
interface Step {
  /** The id that this record gives. */
  readonly gives?: string
  /** True when the id belongs to an org unit even beside an agent: later records do not name that agent. */
  readonly isOfUnit?: boolean
  /** Ids that an earlier record gave. */
  readonly of?: ReadonlyArray<string>
  /** The id that this record ends: nothing names it again. */
  readonly ends?: string
  /** Members that say again what the record that gave the id said. */
  readonly same?: ReadonlyArray<string>
  /** The time at which this was planned: that of the record, or a little before. */
  readonly at?: string
  /** Times that are to come. */
  readonly ahead?: ReadonlyArray<string>
  /** A count, the part that holds what is counted, and its member that is the list. */
  readonly counts?: readonly [member: string, part: string, list: string]
}

const ofBreaker = { of: ["agent_id", "breaker_id"] }
const ofStandingApproval = { of: ["agent_id", "standing_approval_id"] }

/** The steps that are checked. Other members of a kind have checks of their own, or none. Spec: decision 0069. */
const recordSteps: { readonly [kind: string]: Step } = {
  "agent.registered": { gives: "agent_id" },
  "agent.decommissioned": { at: "decommissioned_at" },
  "agent.recertified": { ahead: ["recert_due_at"] },
  "agent.provenance_added": { gives: "provenance_id" },
  "model.registered": { gives: "model_id" },
  "model.updated": { of: ["model_id"], same: ["name", "provider", "version"] },
  "waiver.requested": { gives: "waiver_id", ahead: ["expires_at"] },
  "waiver.granted": { ends: "waiver_id" },
  "review.cancelled": { at: "cancelled_at_ms" },
  "review.claimed": { ahead: ["lease_until_ms"] },
  "review.consumed": { at: "consumed_at_ms" },
  "review.opened": { gives: "review_id", at: "opened_at_ms" },
  "review.presented": { of: ["review_id"] },
  "review.resolved": { at: "resolved_at_ms" },
  "response_policy.changed": { counts: ["rows", "policy", "rows"] },
  "kill.requested": { of: ["agent_id"], at: "requested_at" },
  "breaker.armed": { gives: "breaker_id", of: ["agent_id"], at: "as_of_ms" },
  "breaker.changed": { ...ofBreaker, at: "as_of_ms" },
  "breaker.tripped": ofBreaker,
  "breaker.released": { ...ofBreaker, at: "as_of_ms" },
  "drift.alarmed": { of: ["agent_id"] },
  "drill.started": { gives: "drill_id", of: ["agent_id"], at: "started_at" },
  "drill.completed": { of: ["drill_id"], at: "completed_at" },
  "drill.attested": { of: ["drill_id"], at: "attested_at" },
  "channel.checked": { at: "checked_at" },
  "standing_approval.proposed": {
    gives: "standing_approval_id",
    of: ["agent_id", "review_id"],
    same: ["review_id"],
    ahead: ["expires_at"]
  },
  "standing_approval.granted": ofStandingApproval,
  "standing_approval.used": ofStandingApproval,
  "standing_approval.revoked": { ...ofStandingApproval, ends: "standing_approval_id" },
  "eval.recorded": { gives: "eval_run_id" },
  "mcp.manifest_seen": { of: ["agent_id"], at: "seen_at" },
  "mcp.manifest_changed": { gives: "finding_id", of: ["agent_id"] },
  "finding.resolved": { of: ["finding_id"], ends: "finding_id" },
  "fairness.screened": { gives: "screen_id", of: ["agent_id"] },
  "ingest_key.minted": { gives: "key_id" },
  "ingest_key.revoked": { of: ["key_id"], ends: "key_id" },
  "platform_key.minted": { gives: "key_id", of: ["agent_id"], isOfUnit: true },
  "platform_key.revoked": { of: ["key_id"], ends: "key_id" },
  "mapping.changed": { counts: ["rules", "mapping", "rules"] },
  "principal.seen": { gives: "principal_id" },
  "workflow.changed": { gives: "workflow_id" },
  "execution.started": { gives: "execution_id", of: ["workflow_id"] },
  "execution.waiting": { gives: "approval_id", of: ["execution_id"], at: "opened_at_ms" },
  "execution.decided": { of: ["execution_id"], ends: "approval_id", at: "decided_at_ms" },
  "execution.finished": { ends: "execution_id", at: "finished_at_ms" },
  "analysis.completed": { gives: "analysis_id" },
  "analysis.failed": { gives: "analysis_id" },
  "route_plan.completed": { gives: "plan_id", same: ["plan_digest"] },
  "route_plan.failed": { gives: "plan_id" },
  "route_plan.dispatched": { of: ["agent_id", "plan_id"], ends: "plan_id" },
  "extraction.completed": { gives: "extraction_id", of: ["agent_id"], isOfUnit: true },
  "extraction.failed": { gives: "extraction_id", of: ["agent_id"], isOfUnit: true },
  "extraction.revealed": { of: ["extraction_id"] },
  "alert.triggered": { gives: "alert_id", at: "to_ms" },
  "alert.resolved": { ends: "alert_id", at: "to_ms" },
  "webhook.created": { gives: "webhook_id" },
  "webhook.changed": { of: ["webhook_id"] },
  "webhook.revoked": { of: ["webhook_id"], ends: "webhook_id" }
}

interface Given {
  /** Seq of the record that gave the id; below zero in a chain before this one. */
  readonly seq: number
  readonly agentId: Json | undefined
  /** The members that later records repeat. */
  readonly said: JsonMap
  /** Seq of the record that ended it. */
  ended: number | null
}

/** The ids that records gave. It grows with what people make and with reviews, not with decisions or evaluations. */
export class Steps {
  readonly #given = new Map<string, Given>()

  /** Takes the next record; answers what contradicts it. An id that no record gave is wrong where all were read. */
  take({ atMs, isWhole, record: { body, kind, parts, seq } }: Judged): Problem | null {
    const step = recordSteps[kind]
    if (step === undefined) return null
    const found = this.#named(step, body, isWhole)
    const again = this.#give(step, { body, seq })
    const ended = this.#of(step.ends, body)
    if (ended !== undefined) ended.ended ??= seq
    return (
      found ??
      again ??
      beyond(body, seq) ??
      counted(step, body, parts) ??
      (atMs === null ? null : timed(step, body, atMs))
    )
  }

  #give(
    { gives, isOfUnit = false, same = [] }: Step,
    { body, seq }: { readonly body: JsonMap; readonly seq: number }
  ): Problem | null {
    const id = gives === undefined ? undefined : body[gives]
    if (typeof id !== "string" || id.length !== ID_LENGTH) return null
    const before = this.#given.get(id)
    if (before !== undefined)
      return before.seq < 0 ? null : problem("reference_mismatch", `${id} is given by record ${before.seq} as well.`)
    const said = Object.fromEntries(same.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))
    this.#given.set(id, { seq, agentId: isOfUnit ? undefined : body["agent_id"], said, ended: null })
    return null
  }

  #of(member: string | undefined, body: JsonMap): Given | undefined {
    const id = member === undefined ? undefined : body[member]
    return typeof id === "string" ? this.#given.get(id) : undefined
  }

  #named({ ends, of = [] }: Step, body: JsonMap, isWhole: boolean): Problem | null {
    const end = this.#of(ends, body)?.ended ?? -1
    if (end >= 0) return problem("ended_twice", `${String(body[ends!])} was ended by record ${end}.`)
    for (const member of of) {
      const id = body[member]
      if (typeof id !== "string" || id.length !== ID_LENGTH) continue
      const given = this.#given.get(id)
      if (given === undefined) {
        if (isWhole) return problem("reference_mismatch", `No record before it has ${member} ${id}.`)
        continue
      }
      if (given.ended !== null && given.ended >= 0)
        return problem("ended_twice", `${id} was ended by record ${given.ended}.`)
      if (member !== "agent_id" && typeof given.agentId === "string" && given.agentId !== body["agent_id"])
        return problem("reference_mismatch", `${id} belongs to ${given.agentId}; the record says another agent.`)
      for (const [name, value] of Object.entries(given.said))
        if (body[name] !== undefined && body[name] !== value)
          return problem("reference_mismatch", `${name} of ${id} was another.`)
    }
    return null
  }
}

/** Nothing is planned as of a record that is not there yet. */
const beyond = ({ as_of_seq: asOf }: JsonMap, seq: number): Problem | null =>
  typeof asOf === "number" && asOf >= seq
    ? problem("time_mismatch", `The record is as of record ${asOf}, which is not before it.`)
    : null

const timed = ({ ahead = [], at = "" }: Step, body: JsonMap, atMs: number): Problem | null => {
  const ms = msOf(body[at])
  if (ms !== null && ms > atMs + CLOCK_STEP_MS) return problem("time_mismatch", `${at} is after the record.`)
  if (ms !== null && atMs - ms > LATE_MS)
    return { ...problem("withheld", `${at} is more than ${LATE_MS} ms before the record.`), because: "late" }
  const past = ahead.find((member) => (msOf(body[member]) ?? atMs) < atMs - LATE_MS)
  return past === undefined ? null : problem("time_mismatch", `${past} is before the record.`)
}

/** Unit of an answer: milliseconds. */
const msOf = (value: Json | undefined): number | null =>
  typeof value === "number" ? value : typeof value === "string" ? parseInstant(value) : null

const counted = ({ counts }: Step, body: JsonMap, parts: ReplayRecord["parts"]): Problem | null => {
  if (counts === undefined) return null
  const [member, part, list] = counts
  const read = partMembers(parts.get(part))
  if (read.state !== "known") return null
  const listed = read.members[list]
  return Array.isArray(listed) && listed.length === body[member]
    ? null
    : problem("part_mismatch", `The part ${part} holds another number than ${member} says.`)
}
