/**
 * Checks that breakers tripped when they had to, with the correct readings. Their windows are folded again from the
 * records. Spec: envelopes.md 3.9; decision 0044.
 */
import { parseInstant } from "@flyball/evidence"
import type { AgentDocument } from "../../agents/document.ts"
import { orphanedSinceMs } from "../../agents/owner.ts"
import type { BreakerDocument } from "../../breakers/document.ts"
import { type AgentFacts, haltKinds, type MetricRecord } from "../../breakers/metric.ts"
import { metricOf } from "../../breakers/metrics.ts"
import { AgentBreakers } from "../../breakers/watch.ts"
import { instancesIn } from "../../kill/fold.ts"
import { DEPLOYMENT_TARGET } from "../../kill/response.ts"
import { instancesByAgent, type KillInstance } from "../../kill/document.ts"
import type { JsonMap } from "../../records/record.ts"
import type { KnownAgent } from "../../evaluations/known-agents.ts"
import type { FiringBreaker } from "./responses.ts"
import type { Judged } from "../judges.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { madeAtMs } from "../../evaluations/may-act.ts"

/** A reading that is older than this when it is recorded is not judged: windows keep no more. Unit: milliseconds. */
const LATE_MS = 300_000

/** The breakers of a chain. */
export class BreakerJudge {
  readonly #byAgent = new Map<string, AgentBreakers>()
  readonly #agents: ReadonlyMap<string, KnownAgent>
  readonly #fromGenesis: boolean
  /** The expected instances by agent, for each activation in force. */
  readonly #expected = new Map<string, ReadonlyMap<string, ReadonlyArray<string>>>()
  /** Activations of which `kill.expected` is still to come. */
  readonly #unread = new Map<string, { readonly atMs: number; readonly body: JsonMap }>()
  /** True when an activation does not show which instances it expects. */
  #isExpectedHidden = false
  #isWithinChain = false
  /** The activation that the next record must contain after a trip. */
  #fired: Fired | null = null

  /** `agents`: their state up to the current record, kept up to date by the caller. */
  constructor(agents: ReadonlyMap<string, KnownAgent>, fromGenesis: boolean) {
    this.#agents = agents
    this.#fromGenesis = fromGenesis
  }

  /**
   * Takes the next record, and checks trips, activations by breakers, and evaluations before which a breaker had to
   * trip. Answers the problem, or null. `isOfThisChain` false: the record is of a retired chain. Without times no
   * window can be folded.
   */
  take({ atMs, isOfThisChain, record: { body, kind, parts, seq } }: Judged): Problem | null {
    if (atMs === null) return null
    const part = parts.get("expected")
    const isHidden = part === undefined && kind === "kill.expected" && body["expected"] !== 0
    return this.#take({ seq, atMs, kind, body }, isOfThisChain, isHidden ? null : instancesIn(part))
  }

  #take(record: MetricRecord, isOfThisChain: boolean, expected: ReadonlyArray<KillInstance> | null): Problem | null {
    if (isOfThisChain && !this.#isWithinChain) {
      this.#isWithinChain = true
      // Numbers restart with each chain, and windows with them.
      for (const watched of this.#byAgent.values()) watched.restart()
    }
    const { body, kind } = record
    const fired = this.#fired
    this.#fired = null
    if (fired !== null && (kind !== "kill.activated" || body["activation_id"] !== fired.activationId)) {
      const found = this.#take(record, isOfThisChain, expected)
      return (
        found ??
        problem("breaker_value_mismatch", `${fired.breakerId} fires ${fired.activationId}, which no record activates.`)
      )
    }
    const id = body["agent_id"]
    if (kind === "kill.activated" || haltKinds.includes(kind)) {
      if (!isOfThisChain) return null
      this.#halted(record, expected)
      return kind === "kill.activated" ? this.#activated(body, fired) : null
    }
    if (typeof id !== "string") return null
    let watched = this.#byAgent.get(id)
    if (watched === undefined) {
      if (!kind.startsWith("breaker.")) return null
      this.#byAgent.set(id, (watched = new AgentBreakers()))
    }
    const found = !isOfThisChain
      ? null
      : kind === "breaker.tripped"
        ? this.#tripped(watched, record, id)
        : kind === "evaluation.made"
          ? this.#missing(watched, record, id)
          : null
    if (isOfThisChain && kind === "breaker.tripped") this.#fired = firedBy(watched, body, id)
    if (isOfThisChain || kind.startsWith("breaker.")) watched.take(record)
    return found
  }

  #halted(record: MetricRecord, expected: ReadonlyArray<KillInstance> | null): void {
    const id = String(record.body["activation_id"])
    const { body, kind } = record
    if (kind === "kill.activated") {
      this.#unread.set(id, { atMs: parseInstant(String(body["activated_at"])) ?? record.atMs, body })
      return
    }
    const activation = this.#unread.get(id)
    this.#unread.delete(id)
    if (kind === "kill.expected") {
      // What is read after the release concerns no window.
      if (activation === undefined) return
      if (expected === null) this.#isExpectedHidden = true
      else if (expected.length > 0) this.#expected.set(id, instancesByAgent(expected))
    }
    for (const [agentId, instances] of this.#expected.get(id) ?? [])
      this.#byAgent.get(agentId)?.take({ ...record, ...activation, instances })
    if (kind === "kill.released") this.#expected.delete(id)
  }

  #tripped(watched: AgentBreakers, { atMs, body, seq }: MetricRecord, agentId: string): Problem | null {
    const id = String(body["breaker_id"])
    const breaker = watched.documentOf(id)
    if (breaker === null)
      return this.#fromGenesis ? problem("reference_mismatch", `No record before it arms ${id}.`) : null
    if (body["writer"] !== `breaker:${breaker.name}`)
      return problem(
        "writer_mismatch",
        `A trip of ${id} is written by breaker:${breaker.name}; the record says ${String(body["writer"])}.`
      )
    const wrong = wrongTrip(breaker, body)
    if (wrong !== null) return problem("breaker_value_mismatch", `${id} ${wrong}`)
    const metric = metricOf(breaker.metric)
    if (metric === null) return problem("withheld", `This version does not know the metric ${breaker.metric}.`)
    if (metric.isLocal === true) return null
    if (this.#isExpectedHidden && metric.kinds.includes("kill.expected"))
      return problem("withheld", "The instances that an earlier activation expects are not shown.")
    const at = { ms: Number(body["as_of_ms"]), seq: Number(body["as_of_seq"]) }
    if (at.seq >= seq || watched.startOf(id)!.seq > at.seq)
      return problem(
        "breaker_value_mismatch",
        `The window of ${id} begins with record ${watched.startOf(id)!.seq}; the record reads it as of ${at.seq}.`
      )
    if (atMs - at.ms > LATE_MS) return problem("withheld", `${id} was read more than ${LATE_MS} ms before its record.`)
    const facts = this.#factsOf(agentId, breaker)
    if (facts === null) return problem("withheld", `Whether ${agentId} has an owner is not shown.`)
    const reading = watched.read(id, at, facts)!
    if (!reading.tripped)
      return problem("breaker_value_mismatch", `${id} reads ${reading.value}, at which it does not trip.`)
    const expected = [reading.value, reading.samples, reading.fromSeq, reading.toSeq]
    const recorded = [body["value"], body["samples"], body["from_seq"] ?? null, body["to_seq"] ?? null]
    return expected.every((one, place) => one === recorded[place])
      ? null
      : problem(
          "breaker_value_mismatch",
          `${id} reads ${shown(expected)}; the record says ${shown(recorded as typeof expected)}.`
        )
  }

  #missing(watched: AgentBreakers, { atMs, body }: MetricRecord, agentId: string): Problem | null {
    const at = { ms: Number(body["as_of_ms"]), seq: Number(body["as_of_seq"]) }
    if (!(atMs - at.ms <= LATE_MS)) return null
    const facts = this.#factsOf(agentId, null)
    for (const { breaker, breakerId, reading } of watched.due(at, facts ?? unknownOwner(this.#isActive(agentId))))
      if (metricOf(breaker.metric)?.isLocal !== true)
        return problem(
          "trip_missing",
          `${breakerId} had to trip before: ${breaker.metric} reads ${reading.value} as of record ${at.seq}.`
        )
    return null
  }

  #activated(body: JsonMap, fired: Fired | null): Problem | null {
    const id = body["breaker_id"]
    if (fired !== null) {
      const wrong = wronglyFired(fired, body)
      if (wrong !== null) return problem("breaker_value_mismatch", `${fired.breakerId} fires ${wrong}`)
    }
    if (typeof id !== "string" || !this.#fromGenesis) return null
    for (const watched of this.#byAgent.values()) {
      const breaker = watched.documentOf(id)
      if (breaker !== null)
        return breaker.trip?.activationId === body["activation_id"]
          ? null
          : problem("reference_mismatch", `No trip of ${id} names ${String(body["activation_id"])}.`)
    }
    return problem("reference_mismatch", `No record before it arms ${id}.`)
  }

  /** A breaker as the records before say it; null where none is known. */
  documentOf(id: string): BreakerDocument | null {
    for (const watched of this.#byAgent.values()) {
      const breaker = watched.documentOf(id)
      if (breaker !== null) return breaker
    }
    return null
  }

  /** Finds the act of a breaker that fires; null where none is known. */
  firing(id: string): FiringBreaker | null {
    const breaker = this.documentOf(id)
    return breaker === null
      ? null
      : { agentId: breaker.agentId, response: breaker.response, stopsAll: stopsAll(breaker.metric) }
  }

  #isActive(agentId: string): boolean {
    return this.#agents.get(agentId)?.document.body["status"] === "active"
  }

  /** Forgets the activation expected after a trip: a record after it cannot be read. */
  forgetFired(): void {
    this.#fired = null
  }

  /** Facts about an agent; null where its owner is unknown and the breaker needs one. */
  #factsOf(agentId: string, breaker: BreakerDocument | null): AgentFacts | null {
    const agent = this.#agents.get(agentId)
    const isActive = this.#isActive(agentId)
    if (agent === undefined || agent.document.unknown.includes("ownerName"))
      return breaker?.metric === "owner_orphaned" || breaker === null ? null : unknownOwner(isActive)
    const document = agent.document.body as unknown as AgentDocument
    return { isActive, orphanedSinceMs: orphanedSinceMs(document, madeAtMs(agentId)), firstBadSeq: null }
  }
}

const unknownOwner = (isActive: boolean): AgentFacts => ({ isActive, orphanedSinceMs: null, firstBadSeq: null })

/** Contradiction between a trip and its breaker, as the end of a sentence; null where there is none. */
const wrongTrip = ({ enabled, metric, mode, response, trip }: BreakerDocument, body: JsonMap): string | null => {
  if (!enabled) return "was switched off."
  if (response !== null && mode === "enforce" && !stopsAll(metric) && body["response"] !== response)
    return `responds with ${response}; the record says ${String(body["response"])}.`
  if (trip !== null) return "had tripped before and was not released."
  if (body["metric"] !== metric) return `watches ${metric}; the record says ${String(body["metric"])}.`
  if (body["mode"] !== mode) return `is in mode ${mode}; the record says ${String(body["mode"])}.`
  if ((mode === "enforce") !== (body["activation_id"] !== undefined))
    return mode === "enforce" ? "fires the kill path; the record names no activation." : `activates nothing in ${mode}.`
  return null
}

/** The activation that a trip must cause. */
interface Fired {
  readonly breakerId: string
  readonly activationId: string
  readonly writer: string
  readonly response: unknown
  readonly target: string
}

const stopsAll = (metric: string): boolean => metricOf(metric)?.stopsDeployment === true

/** The activation that a trip must cause; null where it causes none, or its breaker is unknown. */
const firedBy = (watched: AgentBreakers, body: JsonMap, agentId: string): Fired | null => {
  const breakerId = String(body["breaker_id"])
  const breaker = watched.documentOf(breakerId)
  const { activation_id: activationId, response } = body
  return breaker === null || typeof activationId !== "string" || metricOf(breaker.metric) === null
    ? null
    : {
        breakerId,
        activationId,
        writer: `breaker:${breaker.name}`,
        response,
        target: stopsAll(breaker.metric) ? `deployment ${DEPLOYMENT_TARGET}` : `agent ${agentId}`
      }
}

/**
 * How an activation differs from the one that the trip before it must cause, as the end of a sentence; null if it does
 * not.
 */
const wronglyFired = ({ breakerId, response, target, writer }: Fired, body: JsonMap): string | null =>
  body["breaker_id"] !== breakerId || body["writer"] !== writer
    ? "an activation of its own; the record belongs to another."
    : body["response"] !== response
      ? `${String(response)}; the record says ${String(body["response"])}.`
      : `${String(body["target_type"])} ${String(body["target_id"])}` !== target
        ? `at ${target}; the record is aimed at something else.`
        : body["drill"] !== undefined
          ? "no exercise."
          : null

const shown = ([value, samples, from, to]: ReadonlyArray<unknown>): string =>
  `${String(value)} of ${String(samples)} samples, records ${String(from)} to ${String(to)}`
