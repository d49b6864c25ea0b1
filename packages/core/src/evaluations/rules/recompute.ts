/**
 * Makes every evaluation of a chain again, out of its records alone, and compares. What the offline verifier runs; plain, and without any memory but the chain's prefix.
 *
 * Spec: envelopes.md 3.8; `envelope/1`; decisions 0025 and 0026.
 */
import { checkBody, portableCrypto } from "@flyball/evidence"
import { type Action, decide, type Situation } from "../../envelopes/rules/decide.ts"
import { foldLatches, latchesSetBy } from "../../envelopes/rules/latches.ts"
import type { JsonMap, ReplayRecord } from "../../replay/rules/types.ts"
import { foldMeters } from "./fold-meters.ts"
import { agentOf, GovernedState, type InForce, type KnownAgent } from "./governed-state.ts"
import { bind, type Binding, hasLatches, type Layer } from "./layers.ts"
import { isRecomputed } from "./recomputed-records.ts"
import { differingMeter, differs, problem, type Problem, type Recomputed } from "./recompute-verdict.ts"
import { letsThrough, readSide, type RecordedSide, recordedSide } from "./recorded-side.ts"
import { serverSignals } from "./server-signals.ts"
import { signalsOf } from "./signals-part.ts"
import { isActive, madeAtMs } from "./standing.ts"
import { WindowBook } from "./window-book.ts"

export type { Recomputed } from "./recompute-verdict.ts"

/** How records are given. */
export interface RecomputeOptions {
  /** Whether the first record given is the chain's first. If not, what lies before is unknown and nothing that depends on it is called wrong. */
  readonly fromGenesis: boolean
  /** A faster one than the portable one. */
  readonly sha256?: (bytes: Uint8Array) => Uint8Array
  /** The longest window that any meter of the chain has: what lies farther back is let go of. Left out, nothing is. Unit: milliseconds. */
  readonly longestWindowMs?: number
}

/** How far the time of an evaluation may lie before or behind that of its record, where a clock was set back in between. Unit: milliseconds. */
const CLOCK_STEP_MS = 60_000
/** Evaluations between two times that what is past is let go of. */
const SWEEP_EVERY = 10_000

/** A chain being evaluated again. Feed it every record, in order, with parts whose commitments were checked. */
export class Recomputation {
  readonly #state: GovernedState
  readonly #book = new WindowBook()
  readonly #latches = new Map<string, ReadonlySet<string>>()
  /** Which meter and key a window is of, and back: a window that is shared or split would count wrong. */
  readonly #windowOfKey = new Map<string, string>()
  readonly #keyOfWindow = new Map<string, string>()
  readonly #bindings = new Map<string, Binding>()
  readonly #bindingOf = new WeakMap<ReadonlyArray<Layer>, Binding>()
  readonly #agents = new WeakMap<KnownAgent, Told>()
  /** By window, the time of the last evaluation that may have added to it and was not made again. Unit: milliseconds. */
  readonly #unprovedMs = new Map<string, number>()
  readonly #fromGenesis: boolean
  readonly #longestWindowMs: number
  /** Time of the first record; null where nobody said it. */
  #beginMs: number | null = null
  #sinceSweep = 0
  #unreadable = 0

  constructor({ fromGenesis, longestWindowMs = Number.POSITIVE_INFINITY, sha256 = portableCrypto.sha256 }: RecomputeOptions) {
    this.#fromGenesis = fromGenesis
    this.#longestWindowMs = longestWindowMs
    this.#state = new GovernedState(sha256)
  }

  /** Records that are not as the catalogue describes their kind. They changed nothing. */
  get unreadable(): number {
    return this.#unreadable
  }

  /**
   * Takes one record; answers for `evaluation.made`, null for all others. Never throws, whatever a record says.
   *
   * - Unit: `atMs` is the record's own time, milliseconds since 1970 UTC. Without it nothing is said of the times that evaluations name.
   */
  take(record: ReplayRecord, atMs: number | null = null): Recomputed | null {
    const { body, kind, seq } = record
    this.#beginMs ??= atMs
    if (!isRecomputed(kind)) return null
    const unlike = checkBody(kind, body)
    if (unlike !== null) {
      this.#unreadable++
      return kind === "evaluation.made" ? { seq, evaluationId: String(body["evaluation_id"]).slice(0, 200), agentId: String(body["agent_id"]).slice(0, 200), verdict: "trace_mismatch", reason: unlike } : null
    }
    if (kind === "evaluation.made") {
      const found = this.#judge(record, atMs)
      if (found?.verdict === "withheld" && found.amountsHold !== true) this.#noteUnproved(body)
      foldMeters(this.#book, record)
      this.#foldLatches(body)
      if (atMs !== null && ++this.#sinceSweep >= SWEEP_EVERY) this.#sweep(atMs)
      return { seq, evaluationId: String(body["evaluation_id"]), agentId: String(body["agent_id"]), verdict: found?.verdict ?? "ok", reason: found?.reason ?? null }
    }
    foldMeters(this.#book, record)
    if (kind.startsWith("agent.")) this.#state.fold(record)
    else if (kind.startsWith("envelope.") || kind.startsWith("waiver.") || kind === "part.erased") {
      // A waiver that is told again under its id may except something else.
      if (kind.startsWith("waiver.")) this.#bindings.clear()
      this.#state.fold(record)
    }
    return null
  }

  /** An amount that nobody could make again proves no sum that it is in, even though the record says it. */
  #noteUnproved(body: JsonMap): void {
    const sides = [readSide(body), ...(body["shadow"] === undefined ? [] : [readSide(body["shadow"] as JsonMap)])]
    for (const { meters, outcome } of sides) if (letsThrough(outcome)) for (const { window } of meters) this.#unprovedMs.set(window, Math.max(Number(body["as_of_ms"]), this.#book.latestMs(window)))
  }

  /** Lets go of what no window reaches any more. By the records' own time: that of an evaluation is what it says itself. */
  #sweep(atMs: number): void {
    this.#sinceSweep = 0
    const beforeMs = atMs - this.#longestWindowMs - 2 * CLOCK_STEP_MS
    this.#book.forget(beforeMs)
    for (const [window, ms] of this.#unprovedMs) if (ms <= beforeMs) this.#unprovedMs.delete(window)
  }

  #judge({ body, parts, seq }: ReplayRecord, recordMs: number | null): Problem | null {
    const agentId = String(body["agent_id"])
    const atMs = Number(body["as_of_ms"])
    const agent = this.#state.agents.get(agentId)
    if (agent === undefined) return this.#fromGenesis ? problem("tier_mismatch", "No record registers the agent.") : problem("withheld", "The agent was registered before the first record here.")
    const { document, madeMs, server } = this.#told(agentId, agent)
    if (document.autonomyTier !== body["tier"]) return problem("tier_mismatch", `The agent's tier was ${document.autonomyTier}; the record says ${String(body["tier"])}.`)
    if (document.status !== body["agent_status"]) return problem("tier_mismatch", `The agent was ${document.status}; the record says ${String(body["agent_status"])}.`)
    if (Number(body["as_of_seq"]) >= seq) return problem("meter_mismatch", "The record says that it knew of records after it.")
    if (recordMs !== null && atMs > recordMs + CLOCK_STEP_MS) return problem("meter_mismatch", `The evaluation was made at ${recordMs} ms; the record says ${atMs}.`)
    const live = readSide(body)
    const shadow = body["shadow"] === undefined ? null : readSide(body["shadow"] as JsonMap)
    const inForce = this.#state.inForce(agentId, atMs)
    const layers = this.#judgeLayers(body, live, shadow, inForce)
    if (layers !== null && layers.verdict !== "withheld") return layers
    const meters = this.#judgeSums(live, seq) ?? (shadow === null ? null : this.#judgeSums(shadow, seq))
    if (meters !== null) return meters
    if (layers !== null) return layers
    const signals = parts.get("signals")
    if (inForce === null) return problem("withheld", "Which org unit the agent, or an envelope, belongs to is not shown.")
    if (signals?.state !== "present") return problem("withheld", "The signals are not shown.")
    if (agent.document.unknown.length > 0 && agent.document.unknown.includes("blastRadius")) return problem("withheld", "The agent's profile is not shown.")
    const hidden = [...inForce.live, ...inForce.shadow ?? []].find(({ envelope, envelopeId, version }) => envelope === null && this.#state.version(envelopeId, version)?.gone !== true)
    if (hidden !== undefined) return problem("withheld", `Version ${hidden.version} of ${hidden.envelopeId} is not shown.`)
    const action: Action = { signals: signalsOf(signals.bytes), runId: typeof body["run_id"] === "string" ? body["run_id"] : null }
    const situation: Omit<Situation, "windows"> = {
      kill: "none",
      agent: { id: agentId, orgUnit: document.orgUnit ?? "", isActive: isActive(agentId, document, atMs, madeMs) },
      server,
      latches: this.#latches.get(runOf(body)) ?? none,
      approved: false
    }
    return this.#judgeSide("", live, inForce.live, action, situation, atMs) ?? (shadow === null || inForce.shadow === null ? null : this.#judgeSide("shadow:", shadow, inForce.shadow, action, situation, atMs)) ??
      this.#judgeLatches(body, inForce, action, situation)
  }

  #judgeLayers(body: JsonMap, live: RecordedSide, shadow: RecordedSide | null, inForce: InForce): Problem | null {
    for (const [side, trial] of [[live, false], ...(shadow === null ? [] : [[shadow, true] as const])] as const) {
      for (const { digest, envelopeId, version } of side.layers) {
        const known = this.#state.version(envelopeId, version)
        if (known === null && !this.#fromGenesis) continue
        if (known === null || known.digest !== digest || known.content === "not an envelope") return problem("envelope_unknown", `Version ${version} of ${envelopeId} was not published with this content.`)
        if (!this.#state.isInForce(envelopeId, version, trial)) return problem("envelope_not_in_force", `Version ${version} of ${envelopeId} was published, and was not in force here.`)
      }
    }
    if (inForce === null) return null
    const waivers = inForce.live.flatMap((layer) => layer.waivers.map(({ id }) => id))
    const named = (body["waivers"] ?? []) as ReadonlyArray<string>
    if (!this.#fromGenesis) {
      const isOther = differs(live, inForce.live) || (shadow !== null && differs(shadow, inForce.shadow)) || waivers.join() !== named.join()
      if (isOther) return problem("withheld", "An envelope or waiver that was in force comes from before the first record here.")
    }
    if (differs(live, inForce.live)) return problem("envelope_not_in_force", `${inForce.live.length} envelopes were in force for the agent; the record names ${live.layers.length}, or others.`)
    if (differs(shadow, inForce.shadow)) return problem("envelope_not_in_force", "The record tells of other versions on trial than there were.")
    if (waivers.join() !== named.join()) return problem("envelope_not_in_force", `${waivers.length} waivers held; the record names ${named.length}, or others.`)
    const hidden = waivers.find((id) => this.#state.isWithheld(id))
    return hidden === undefined ? null : problem("withheld", `What the waiver ${hidden} excepts is not shown.`)
  }

  /** What can be said of meters without any signal: the amounts are in the records. */
  #judgeSums({ meters, outcome }: RecordedSide, seq: number): Problem | null {
    const windows = new Set(meters.map(({ window }) => window))
    if (windows.size !== meters.length) return problem("meter_mismatch", `The record at ${seq} counts two meters in one window.`)
    for (const { after, amount, id, value } of meters) {
      if (amount !== null && (!letsThrough(outcome) || after !== Math.min(value + amount, Number.MAX_SAFE_INTEGER))) return problem("meter_mismatch", `The meter ${id} adds what its own numbers do not say.`)
    }
    return null
  }

  #judgeSide(prefix: string, recorded: RecordedSide, layers: ReadonlyArray<Layer>, action: Action, situation: Omit<Situation, "windows">, atMs: number): Problem | null {
    const binding = this.#bound(layers)
    const unknown = this.#unknownSum(binding, recorded, atMs)
    let wrong: Problem | null = null
    const windowOf = (meter: string, key: string): string => {
      const name = `${prefix}${binding.owners.get(meter) ?? ""} ${meter} ${key}`
      const claimed = recorded.meters.find(({ id }) => id === meter)?.window
      const window = this.#windowOfKey.get(name) ?? claimed ?? ""
      if (claimed !== window || (this.#keyOfWindow.get(window) ?? name) !== name) wrong ??= problem("meter_mismatch", `The meter ${meter} is counted in another window than before, or in somebody else's.`)
      else {
        this.#windowOfKey.set(name, window)
        this.#keyOfWindow.set(window, name)
      }
      return window
    }
    const decision = decide(binding.ready, action, {
      ...situation,
      windows: (meter, key) => {
        const window = windowOf(meter.id, key)
        if (unknown !== null) return { value: recorded.meters.find(({ id }) => id === meter.id)?.value ?? 0, count: 0 }
        if (atMs < this.#book.latestMs(window)) {
          wrong ??= problem("meter_mismatch", `The meter ${meter.id} is asked at a time before its last.`)
          return { value: 0, count: 0 }
        }
        return this.#book.state(window, meter.windowMs, atMs)
      }
    })
    if (!this.#fromGenesis && hasLatches(binding.ready) && action.runId !== null) return problem("withheld", "What was set in the run before the first record here is not known.")
    const differs = this.#compare(recorded, recordedSide(decision, layers, windowOf), wrong)
    if (unknown === null || decision.meters.length === 0) return differs
    // With what the record says that the meters held, the rest must follow all the same; whether one was full is not known either.
    return differs !== null && !recorded.matchedRule.startsWith("@budget:") ? differs : { ...unknown, amountsHold: true }
  }

  /** Why what the meters held cannot be told: records before the first one here, or evaluations that were not made again. Null where it can. */
  #unknownSum({ ready }: Binding, { meters }: RecordedSide, atMs: number): Problem | null {
    for (const { id, windowMs } of ready?.combination.meters ?? []) {
      const window = meters.find((meter) => meter.id === id)?.window ?? ""
      const sinceMs = atMs - windowMs
      if (!this.#fromGenesis && (this.#beginMs === null || sinceMs < this.#beginMs + CLOCK_STEP_MS)) return problem("withheld", `The meter ${id} reaches back before the first record here.`)
      if ((this.#unprovedMs.get(window) ?? Number.NEGATIVE_INFINITY) > sinceMs) return problem("withheld", `The meter ${id} holds amounts of evaluations that could not be made again.`)
    }
    return null
  }

  #compare(recorded: RecordedSide, again: RecordedSide, wrong: Problem | null): Problem | null {
    const isSignal = (rule: string): boolean => rule === "@invalid_signal" || rule === "@missing_signal"
    if (isSignal(recorded.matchedRule) !== isSignal(again.matchedRule)) return problem("signal_invalid", `The signals give ${again.matchedRule}; the record says ${recorded.matchedRule}.`)
    const meters = wrong ?? differingMeter(recorded.meters, again.meters)
    if (meters !== null) return meters
    if (recorded.outcome !== again.outcome) return problem("outcome_mismatch", `The outcome is ${again.outcome}; the record says ${recorded.outcome}.`)
    if (recorded.matchedRule !== again.matchedRule) return problem("rule_mismatch", `The rule is ${again.matchedRule}; the record says ${recorded.matchedRule}.`)
    const unlike = again.meters.findIndex(({ amount }, place) => amount !== recorded.meters[place]?.amount)
    if (unlike >= 0) return problem("meter_mismatch", `What the action adds to the meter ${again.meters[unlike]!.id} is told wrong.`)
    if (recorded.stoppedOn !== again.stoppedOn || recorded.trace.length !== again.trace.length || recorded.trace.some((failed, place) => failed !== again.trace[place])) return problem("trace_mismatch", "Other rules held or failed than the record says.")
    return null
  }

  #judgeLatches(body: JsonMap, inForce: NonNullable<InForce>, action: Action, { server }: Omit<Situation, "windows">): Problem | null {
    const set = latchesOf([this.#bound(inForce.live), ...(inForce.shadow === null ? [] : [this.#bound(inForce.shadow)])], action, server)
    const said = (body["latches"] ?? []) as ReadonlyArray<string>
    return set.join() === said.join() ? null : problem("trace_mismatch", "Other latches were set than the record says.")
  }

  /** What an agent's records tell, as long as they tell the same. */
  #told(agentId: string, agent: KnownAgent): Told {
    const known = this.#agents.get(agent)
    if (known !== undefined) return known
    const document = agentOf(agent)
    const told = { document, madeMs: madeAtMs(agentId), server: serverSignals(document) }
    this.#agents.set(agent, told)
    return told
  }

  #bound(layers: ReadonlyArray<Layer>): Binding {
    const same = this.#bindingOf.get(layers)
    if (same !== undefined) return same
    const binding = this.#boundAnew(layers)
    this.#bindingOf.set(layers, binding)
    return binding
  }

  #boundAnew(layers: ReadonlyArray<Layer>): Binding {
    // A version's digest is that of its content. What was erased is another content.
    const key = layers.map(({ digest, envelope, envelopeId, waivers }) => `${envelopeId} ${envelope === null ? "" : digest}${waivers.map(({ id, waiver }) => `+${waiver === null ? "" : id}`).join("")}`).join(" ")
    const known = this.#bindings.get(key)
    if (known !== undefined) return known
    if (this.#bindings.size >= 1_000) this.#bindings.clear()
    const binding = bind(layers)
    this.#bindings.set(key, binding)
    return binding
  }

  #foldLatches(body: JsonMap): void {
    const sets = (body["latches"] ?? []) as ReadonlyArray<string>
    if (sets.length > 0) this.#latches.set(runOf(body), foldLatches(this.#latches.get(runOf(body)) ?? none, { sets, clears: [] }))
  }
}

const none: ReadonlySet<string> = new Set()

interface Told {
  readonly document: ReturnType<typeof agentOf>
  readonly madeMs: number
  readonly server: ReturnType<typeof serverSignals>
}

/** Latches belong to one run of one agent. */
const runOf = (body: JsonMap): string => `${String(body["agent_id"])} ${String(body["run_id"] ?? "")}`

/** The latches that an evaluation sets in its run, in the order of their names. */
export const latchesOf = (bindings: ReadonlyArray<Binding>, { runId, signals }: Action, server: Situation["server"]): ReadonlyArray<string> =>
  runId === null ? [] : [...new Set(bindings.flatMap(({ ready }) => (ready === null || !hasLatches(ready) ? [] : latchesSetBy(ready.combination.signals, signals, server))))].sort()
