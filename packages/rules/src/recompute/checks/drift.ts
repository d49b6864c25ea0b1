/** Recomputes `drift.alarmed` from the agent's decisions before it. Spec: decision 0073. */
import { type Crypto, type DriftAlarmedBody, inOneGo } from "@flyball/evidence"
import { type DriftAlarm, DriftFollower, EPOCH_DECISIONS, type FollowedRecord } from "../../drift/follower.ts"
import type { JsonMap, ReplayRecord } from "../../records/record.ts"
import { foldResponsePolicyChanged } from "../../response-policy/fold.ts"
import type { Judged } from "../judges.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** Records of one agent that are kept: those of an epoch with their settlements, and as many before. */
const MAX_OF_AGENT = 4 * EPOCH_DECISIONS
/** Records of all agents that are kept. Above it all are dropped, and alarms that reach back behind are not judged. */
const MAX_KEPT = 400_000
/** Blocks that are tested again, of all alarms: some minutes of work. */
const MAX_BLOCKS = 10_000
/** Members of bodies that drift reads. */
const members = ["run_id", "action", "tool_server", "kind", "status", "latency_ms", "usage", "decision_seq"]

interface Log {
  records: Array<FollowedRecord>
  /** The first record that would be kept. */
  since: number
}

/**
 * The decisions of agents up to a record. Nothing is kept before a response policy, or a breaker, makes somebody follow
 * agents.
 */
export class DriftJudge {
  readonly #sha256: Crypto["sha256"]
  readonly #fromGenesis: boolean
  readonly #logs = new Map<string, Log>()
  /** Where the last epoch of an agent ended. */
  readonly #ended = new Map<string, number>()
  #kept = 0
  #blocks = 0
  /** Records from this one on are kept; null: nobody is followed. */
  #since: number | null = null
  #wasDropped = false

  constructor(sha256: Crypto["sha256"], fromGenesis: boolean) {
    this.#sha256 = sha256
    this.#fromGenesis = fromGenesis
  }

  /** Takes the next record; answers the problem of an alarm. */
  take({ first, isOfThisChain, record }: Judged): Problem | null {
    const { body, kind, seq } = record
    // Before a range nobody knows who was followed.
    if (!this.#fromGenesis) this.#since ??= first
    if (kind === "drift.alarmed") return isOfThisChain ? this.#judge(body as unknown as DriftAlarmedBody) : null
    if (kind.startsWith("decision.")) {
      if (isOfThisChain && this.#since !== null) this.#keep(record, this.#since)
    } else if (follows(record)) this.#since ??= isOfThisChain ? seq : 0
    return null
  }

  #keep({ body, kind, seq }: ReplayRecord, since: number): void {
    const agentId = String(body["agent_id"])
    const log = this.#logs.get(agentId) ?? { records: [], since }
    if (kind === "decision.witnessed" && typeof body["run_id"] !== "string") return
    this.#logs.set(agentId, log)
    log.records.push({ seq, kind, body: picked(body) })
    this.#kept++
    if (log.records.length > MAX_OF_AGENT) {
      const kept = log.records.slice(-MAX_OF_AGENT / 2)
      this.#kept -= log.records.length - kept.length
      log.records = kept
      log.since = kept[0]!.seq
    }
    if (this.#kept <= MAX_KEPT) return
    this.#logs.clear()
    this.#kept = 0
    this.#since = seq + 1
    this.#wasDropped = true
  }

  #judge(body: DriftAlarmedBody): Problem | null {
    const { agent_id: agentId, as_of_seq: asOf, epoch_from_seq: from } = body
    const ended = this.#ended.get(agentId) ?? -1
    this.#ended.set(agentId, Math.max(ended, asOf))
    if (from <= ended) return mismatch(`The epoch before it ended with record ${ended}; the record says ${from}.`)
    const log = this.#logs.get(agentId)
    const since = log?.since ?? this.#since
    if (since === null || from < since)
      return this.#fromGenesis && !this.#wasDropped && (log === undefined || log.since === this.#since)
        ? mismatch(`Nobody followed the agent from record ${from} on.`)
        : notKept
    const found = this.#alarmOf(agentId, from, log?.records ?? [])
    if (found === "budget") return notKept
    if (found === null) return mismatch("No alarm follows from the agent's decisions in this epoch.")
    const expected = { as_of_seq: found.asOfSeq, e_value: found.eValue, dimension: found.dimension, runs: found.runs }
    for (const [name, value] of Object.entries(expected))
      if (body[name as keyof typeof expected] !== value)
        return mismatch(`${name} is ${value}; the record says ${body[name as keyof typeof expected]}.`)
    return null
  }

  #alarmOf(agentId: string, from: number, records: ReadonlyArray<FollowedRecord>): DriftAlarm | "budget" | null {
    const follower = new DriftFollower(agentId, from, this.#sha256)
    for (const record of records) {
      follower.take(record)
      if (!follower.isDue) continue
      if (++this.#blocks > MAX_BLOCKS) return "budget"
      const alarm = inOneGo(follower.test())
      if (alarm !== null) return alarm
      if (follower.isOver) return null
    }
    return null
  }
}

/** True when agents may be followed from a record on. Which ones, a policy that is not shown does not say. */
const follows = (record: ReplayRecord): boolean => {
  if (record.kind !== "response_policy.changed") return record.body["metric"] === "drift_score"
  const { body, unknown } = foldResponsePolicyChanged(record)
  const { rows } = body as { readonly rows: ReadonlyArray<JsonMap> }
  return unknown.length > 0 || rows.some(({ trigger }) => trigger === "drift")
}

const picked = (body: JsonMap): JsonMap =>
  Object.fromEntries(members.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))

const mismatch = (reason: string): Problem => problem("drift_mismatch", reason)

const notKept: Problem = {
  ...problem("withheld", "The decisions that the alarm follows from are not here, or were too many to keep."),
  because: "budget"
}
