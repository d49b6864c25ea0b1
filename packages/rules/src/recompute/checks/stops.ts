/**
 * Judges what instances said of a stop, and the record of those who said nothing, by the records before them.
 * Spec: envelopes.md 3.10; decision 0061.
 */
import { parseInstant } from "@flyball/evidence"
import { CONFIRM_MS, type KillInstance, type KillTarget } from "../../kill/document.ts"
import { instancesIn } from "../../kill/fold.ts"
import { reaches } from "../../kill/reach.ts"
import type { JsonMap, ReplayRecord } from "../../records/record.ts"
import type { GovernedState } from "../../evaluations/governed-state.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { CLOCK_STEP_MS, LATE_MS } from "../tolerances.ts"

/** An activation that holds, and what instances said of it. */
interface Held {
  readonly target: KillTarget
  readonly activatedAtMs: number
  /** Seq of its record, as all chains count; below zero in a chain before this one. */
  readonly seq: number
  /** Null where the part is not shown; undefined until `kill.expected`. */
  expected: ReadonlyArray<KillInstance> | null | undefined
  /** By instance: whether it said that it stopped. */
  readonly answered: Map<string, boolean>
  isUnconfirmed: boolean
}

/** The kinds that a {@link StopJudge} takes, besides the activation. */
const members: { readonly [kind: string]: string | undefined } = {
  "kill.acknowledged": "acknowledged_at",
  "kill.stopped": "stopped_at",
  "kill.unconfirmed": "unconfirmed_at"
}

/** Stops up to a record. It grows with activations that hold and what is said of them, and not with those released. */
export class StopJudge {
  readonly #state: Pick<GovernedState, "agents" | "kills" | "reachOf" | "wasReached">
  readonly #fromGenesis: boolean
  readonly #held = new Map<string, Held>()

  /** `state`: what the records before say, kept up to date by the caller. */
  constructor(state: Pick<GovernedState, "agents" | "kills" | "reachOf" | "wasReached">, fromGenesis: boolean) {
    this.#state = state
    this.#fromGenesis = fromGenesis
  }

  /**
   * Takes a record of the kill switch, in order and numbered as all chains count; answers what is wrong with it. An
   * activation is judged elsewhere. `atMs`: the record's own time; null: not known.
   */
  take(record: ReplayRecord, atMs: number | null): Problem | null {
    const { body, kind, seq } = record
    const id = String(body["activation_id"])
    if (kind === "kill.activated")
      this.#held.set(id, {
        target: { type: String(body["target_type"]) as KillTarget["type"], id: String(body["target_id"]) },
        activatedAtMs: instant(body["activated_at"]),
        seq,
        expected: undefined,
        answered: new Map(),
        isUnconfirmed: false
      })
    if (kind === "kill.expected") {
      const held = this.#held.get(id)
      if (held !== undefined) held.expected = expectedIn(record)
      return null
    }
    if (kind === "kill.released") this.#held.delete(id)
    const member = members[kind]
    if (member === undefined) return null
    const held = this.#held.get(id)
    if (held === undefined) return this.#unheld(id)
    const found = kind === "kill.unconfirmed" ? this.#unconfirmed(id, held, record) : this.#answered(id, held, record)
    if (found !== null) return found
    const statedMs = instant(body[member])
    return statedMs < held.activatedAtMs - CLOCK_STEP_MS
      ? mismatch(`The record states a time before ${id}.`)
      : wrongTime("acknowledgement_mismatch", statedMs, atMs)
  }

  #unheld(id: string): Problem | null {
    if (this.#state.kills.knows(id)) return mismatch(`${id} was released before.`)
    return this.#fromGenesis ? problem("reference_mismatch", `No record before it activates ${id}.`) : null
  }

  #answered(id: string, held: Held, { body, kind }: ReplayRecord): Problem | null {
    const one = { agentId: String(body["agent_id"]), instanceId: String(body["instance_id"]) }
    const [name, isStop] = [nameOf(one), kind === "kill.stopped"]
    const before = held.answered.get(name)
    held.answered.set(name, isStop || before === true)
    if (isStop && before === undefined) return mismatch(`${name} stopped without having acknowledged ${id}.`)
    if (isStop ? before === true : before !== undefined)
      return mismatch(`${name} had ${isStop ? "reported its stop under" : "acknowledged"} ${id} before.`)
    const isReached = this.#isReached(held, one.agentId)
    return isReached === null
      ? problem("withheld", `Whether ${id} reaches ${one.agentId} is not shown.`)
      : isReached
        ? null
        : mismatch(`${id} does not reach ${one.agentId}.`)
  }

  /** Null: not known. An agent that was reached a moment ago may have been read by then. */
  #isReached({ seq, target }: Held, agentId: string): boolean | null {
    const { isKnown, reach } = this.#state.reachOf(agentId)
    if (reaches(target, reach) !== null) return true
    if (!this.#state.agents.has(agentId)) return this.#fromGenesis ? false : null
    if (!this.#fromGenesis) return null
    switch (target.type) {
      case "model":
        return isKnown ? this.#state.wasReached(agentId, target, seq) : null
      case "org_unit":
        // By the digest of a chain before only the unit's name would show it.
        return seq < 0 || reach.orgUnitDigest === null ? null : false
      default:
        return false
    }
  }

  #unconfirmed(id: string, held: Held, { body, parts }: ReplayRecord): Problem | null {
    const again = held.isUnconfirmed
    held.isUnconfirmed = true
    if (again) return mismatch(`The missing acknowledgements of ${id} were recorded before.`)
    const waited = instant(body["unconfirmed_at"]) - held.activatedAtMs
    if (waited < CONFIRM_MS)
      return mismatch(`Instances have ${CONFIRM_MS} ms to acknowledge ${id}; the record waited ${waited}.`)
    if (held.expected === undefined) return mismatch(`No record before it states whom ${id} expects.`)
    if (held.expected === null) return problem("withheld", `Which instances ${id} expects is not shown.`)
    const silent = held.expected.filter((one) => !held.answered.has(nameOf(one)))
    const listed = instancesIn(parts.get("instances"))
    if (body["instances"] !== silent.length || (listed !== null && listText(listed) !== listText(silent)))
      return mismatch(
        `${silent.length} instances had not acknowledged ${id}; ` +
          `the record says ${Number(body["instances"])}, or others.`
      )
    return silent.length === 0
      ? mismatch(`Every instance that ${id} expects had acknowledged.`)
      : listed === null
        ? problem("withheld", `Which instances had not acknowledged ${id} is not shown.`)
        : null
  }
}

/** Checks the time that an activation or a release states. */
export const judgeStateTime = ({ body, kind }: ReplayRecord, atMs: number | null): Problem | null =>
  wrongTime("activation_mismatch", instant(body[kind === "kill.activated" ? "activated_at" : "released_at"]), atMs)

/** A time that the record's own contradicts. A host that slept between the two has an old one. */
const wrongTime = (verdict: Problem["verdict"], statedMs: number, atMs: number | null): Problem | null => {
  if (atMs === null) return null
  if (statedMs > atMs + CLOCK_STEP_MS) return problem(verdict, "The record states a time after its own.")
  return statedMs < atMs - LATE_MS
    ? { ...problem("withheld", `The record states a time more than ${LATE_MS} ms before its own.`), because: "late" }
    : null
}

/** The instances that a record states an activation to expect; null where they are not shown. */
const expectedIn = ({ body, parts }: ReplayRecord): ReadonlyArray<KillInstance> | null =>
  Number(body["expected"]) > 0 && !parts.has("expected") ? null : instancesIn(parts.get("expected"))

const mismatch = (reason: string): Problem => problem("acknowledgement_mismatch", reason)

const nameOf = ({ agentId, instanceId }: KillInstance): string => `${agentId}/${instanceId}`

const listText = (instances: ReadonlyArray<KillInstance>): string => JSON.stringify(instances.map(nameOf))

const instant = (value: JsonMap[string] | undefined): number => parseInstant(String(value)) ?? 0
