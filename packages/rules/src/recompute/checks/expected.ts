/**
 * Judges whom an activation expects to hear from: the record `kill.expected` against the instances that the records
 * before the activation name. Spec: format 1 section 8, `kill.expected`.
 */
import { parseInstant } from "@flyball/evidence"
import { type KillInstance, type KillTarget, MAX_EXPECTED, SEEN_MS } from "../../kill/document.ts"
import { instancesIn } from "../../kill/fold.ts"
import { reaches } from "../../kill/reach.ts"
import { CHANNEL_TARGET } from "../../kill/response.ts"
import type { ReplayRecord } from "../../records/record.ts"
import type { GovernedState } from "../../evaluations/governed-state.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** Instances that are remembered. A hostile pack names a new one in each record; with more nothing is judged. */
const MAX_INSTANCES = 1_000_000
/** New instances between two sweeps. */
const SWEEP_EVERY = 100_000
/** Characters of an instance's name. */
const MAX_NAME = 128

/** The newest records of an instance. */
interface Signs {
  /** The time of the last one that it acted in. */
  atMs: number
  /** The place of the record after it by which it ended; null where it did not. */
  endedSeq: number | null
}

/** An activation that waits for its `kill.expected`. */
interface Awaiting {
  readonly target: KillTarget
  readonly seq: number
  readonly sinceMs: number
  /** The instances in the hour before of the agents that it reached, by name. */
  readonly seen: ReadonlyMap<string, KillInstance>
}

/** The instances up to a record. It grows with those of an hour, and with activations that were not read. */
export class ExpectedJudge {
  readonly #state: Pick<GovernedState, "kills" | "reachOf" | "wasReached">
  readonly #fromGenesis: boolean
  /** By agent and instance. */
  #seen = new Map<string, Map<string, Signs>>()
  #count = 0
  #sinceSweep = 0
  #isFull = false
  readonly #awaiting = new Map<string, Awaiting>()

  /** `state`: what the records before say, kept up to date by the caller. */
  constructor(state: Pick<GovernedState, "kills" | "reachOf" | "wasReached">, fromGenesis: boolean) {
    this.#state = state
    this.#fromGenesis = fromGenesis
  }

  /** Takes the next record of this chain; answers what is wrong with it. Only kinds that it knows change anything. */
  take(record: ReplayRecord, atMs: number): Problem | null {
    const { body, kind, seq } = record
    const id = text(body["activation_id"])
    switch (kind) {
      case "decision.witnessed":
      case "evaluation.made":
        this.#note(text(body["agent_id"]), body["instance_id"], atMs)
        return null
      case "instance.ended": {
        // Of an instance that never acted nothing is kept.
        const signs = this.#seen.get(text(body["agent_id"]))?.get(text(body["instance_id"]))
        if (signs !== undefined) signs.endedSeq = seq
        return null
      }
      case "kill.activated":
        if (body["target_id"] !== CHANNEL_TARGET)
          this.#activated(id, seq, (parseInstant(text(body["activated_at"])) ?? atMs) - SEEN_MS, {
            type: text(body["target_type"]) as KillTarget["type"],
            id: text(body["target_id"])
          })
        return null
      case "kill.expected":
        return this.#judge(id, record)
    }
    return null
  }

  #note(agentId: string, instanceId: unknown, atMs: number): void {
    if (typeof instanceId !== "string" || instanceId.length > MAX_NAME || this.#isFull) return
    const own = this.#seen.get(agentId) ?? new Map<string, Signs>()
    if (own.size === 0) this.#seen.set(agentId, own)
    if (!own.has(instanceId)) {
      this.#count++
      if (++this.#sinceSweep >= SWEEP_EVERY) this.#sweep(atMs - 2 * SEEN_MS)
    }
    own.set(instanceId, { atMs, endedSeq: null })
  }

  #sweep(beforeMs: number): void {
    this.#sinceSweep = 0
    this.#count = 0
    for (const [agentId, own] of this.#seen) {
      for (const [instanceId, { atMs }] of own) if (atMs < beforeMs) own.delete(instanceId)
      this.#count += own.size
      if (own.size === 0) this.#seen.delete(agentId)
    }
    this.#isFull = this.#count > MAX_INSTANCES
    if (this.#isFull) this.#seen = new Map()
  }

  #activated(id: string, seq: number, sinceMs: number, target: KillTarget): void {
    const seen = new Map<string, KillInstance>()
    for (const [agentId, own] of this.#seen) {
      if (reaches(target, this.#state.reachOf(agentId).reach) === null) continue
      for (const [instanceId, { atMs, endedSeq }] of own)
        if (atMs >= sinceMs && endedSeq === null) seen.set(`${agentId} ${instanceId}`, { agentId, instanceId })
    }
    this.#awaiting.set(id, { target, seq, sinceMs, seen })
  }

  #judge(id: string, { body, parts }: ReplayRecord): Problem | null {
    const found = this.#awaiting.get(id)
    this.#awaiting.delete(id)
    if (found === undefined)
      return this.#state.kills.knows(id)
        ? mismatch(`Whom ${id} expects was recorded before, or it expects nobody.`)
        : this.#fromGenesis
          ? problem("reference_mismatch", `No record before it activates ${id}.`)
          : null
    const listed = instancesIn(parts.get("expected"))
    if (listed === null || (Number(body["expected"]) > 0 && !parts.has("expected")))
      return problem("withheld", `Which instances ${id} expects is not shown.`)
    if (listed.length !== body["expected"]) return mismatch(`${id} lists another number of instances than it states.`)
    if (!this.#fromGenesis || this.#isFull) return null
    return (
      this.#missing(id, found, listed, Number(body["unlisted"] ?? 0), body["cut"] === true) ??
      this.#extra(id, found, listed)
    )
  }

  #missing(
    id: string,
    { seen, target }: Awaiting,
    listed: ReadonlyArray<KillInstance>,
    unlisted: number,
    isCut: boolean
  ): Problem | null {
    const names = new Set(listed.map(nameOf))
    // Whom it reached, and reaches no more, may have been read by then.
    const missing = [...seen].filter(
      ([name, { agentId }]) => !names.has(name) && reaches(target, this.#state.reachOf(agentId).reach) !== null
    )
    if (unlisted > 0 && listed.length < MAX_EXPECTED)
      return mismatch(`${id} counts instances that it could have listed.`)
    if (missing.length <= unlisted) return null
    return isCut
      ? problem(
          "withheld",
          `Only the newest records were read for ${id}; ${missing.length} instances before are not listed.`
        )
      : mismatch(`${missing.length} instances acted in the hour before ${id}, and it does not list them.`)
  }

  #extra(id: string, { seen, seq, sinceMs, target }: Awaiting, listed: ReadonlyArray<KillInstance>): Problem | null {
    const unseen = listed.find((one) => {
      if (seen.has(nameOf(one))) return false
      const signs = this.#seen.get(one.agentId)?.get(one.instanceId)
      if (signs === undefined || signs.atMs < sinceMs) return true
      const hadEnded = signs.endedSeq !== null && signs.endedSeq < seq
      return hadEnded || this.#state.wasReached(one.agentId, target, seq) === false
    })
    return unseen === undefined
      ? null
      : mismatch(`No agent that ${id} reaches acted as ${unseen.instanceId} in the hour before, or it had ended.`)
  }
}

const mismatch = (reason: string): Problem => problem("activation_mismatch", reason)

const nameOf = ({ agentId, instanceId }: KillInstance): string => `${agentId} ${instanceId}`

/** A member of a body that nothing has checked yet: an object in its place may have no text form. */
const text = (value: unknown): string => (typeof value === "string" ? value : "")
