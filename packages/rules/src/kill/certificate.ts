/**
 * The stop certificate: what the records say of one activation, from its request to its release. Pure: the exporter
 * and the verifier both run it. Memory holds one entry for each instance, and a bounded list of refusals.
 */
import { formatInstant, parseInstant } from "@flyball/evidence"
import type { Json, JsonMap, ReplayRecord } from "../records/record.ts"
import { instancesIn } from "./fold.ts"
import { CHANNEL_TARGET, halts, type KillResponse } from "./response.ts"

/**
 * Time within which no new side effect may begin after a halt. Unit: milliseconds. Spec: envelopes.md 3.10, max_stale.
 */
export const STOP_BOUND_MS = 15_000

/** Most refusals that a certificate lists. The rest are counted. Spec: format 1 section 11. */
export const MAX_REFUSALS = 1_000

/** Maximum number of instances. With more, the certificate states that it is incomplete. */
export const MAX_FOLLOWED = 10_000

/**
 * The reading of the bound. `unknown`: the records do not say. `none`: nothing had to stop. Spec: format 1 section 11.
 */
export type BoundMet = "met" | "missed" | "unknown" | "none"

/** One instance in a certificate. Decisions are side effects: those that were not denied. Spec: format 1 section 11. */
export interface CertifiedInstance {
  readonly agent_id: string
  /** Null for records that name no instance. */
  readonly instance_id: string | null
  readonly expected: boolean
  readonly observed_at: string | null
  readonly acknowledged_at: string | null
  readonly in_flight: number | null
  readonly stopped_at: string | null
  /** The last side effect while the activation held; null where no record has one. */
  readonly last_side_effect: { readonly seq: number; readonly at: string; readonly action: string } | null
  readonly side_effects: number
  /** It was expected, and never acknowledged. */
  readonly is_silent: boolean
  readonly bound: BoundMet
}

/** Finding: a side effect of an instance after it reported that it had stopped. Spec: format 1 section 11. */
export interface CertifiedFinding {
  readonly code: "acted_after_stop"
  readonly agent_id: string
  readonly instance_id: string | null
  readonly stopped_at: string
  readonly seq: number
  readonly at: string
  readonly action: string
}

/** A refusal that names the activation. Spec: format 1 section 11. */
export interface CertifiedRefusal {
  readonly seq: number
  readonly at: string
  readonly agent_id: string
  readonly instance_id: string | null
  readonly epoch: number
  readonly outcome: string
}

/** A stop certificate. Times are RFC 3339. Spec: format 1 section 11. */
export interface StopCertificate {
  readonly activation_id: string
  /** Gaps in what the records show; empty where they show everything. */
  readonly incomplete: ReadonlyArray<string>
  readonly target: { readonly type: string; readonly id: string }
  readonly response: string
  readonly drill: string | null
  readonly breaker_id: string | null
  readonly epoch: number
  readonly activated: { readonly seq: number; readonly at: string; readonly writer: string }
  /** The request of an ingest key, where one was made. */
  readonly requested: { readonly by: string; readonly at: string | null } | null
  /** Null while it holds at the end of the records. */
  readonly released: {
    readonly seq: number
    readonly at: string
    readonly writer: string
    readonly epoch: number
  } | null
  readonly instances: ReadonlyArray<CertifiedInstance>
  /** The first of each instance that acted after it reported its stop. */
  readonly findings: ReadonlyArray<CertifiedFinding>
  readonly unlisted: number
  readonly refusals: ReadonlyArray<CertifiedRefusal>
  readonly refusal_count: number
  readonly silent: number
  readonly bound_ms: number
  readonly bound: BoundMet
}

/** Kinds of records that a certificate reads. Spec: format 1 section 11. */
export const certifiedKinds: ReadonlySet<string> = new Set([
  "decision.witnessed",
  "evaluation.made",
  "kill.acknowledged",
  "kill.activated",
  "kill.expected",
  "kill.released",
  "kill.requested",
  "kill.stopped"
])

/** Parts that a certificate reads. Spec: format 1 section 11. */
export const certifiedParts: ReadonlySet<string> = new Set(["expected"])

interface Followed {
  readonly agentId: string
  readonly instanceId: string | null
  expected: boolean
  observedMs: number | null
  acknowledgedMs: number | null
  inFlight: number | null
  stoppedMs: number | null
  last: { readonly seq: number; readonly atMs: number; readonly action: string } | null
  latestMs: number
  /** The first side effect after `stoppedMs`. */
  afterStop: Followed["last"]
  count: number
}

type Head = Omit<
  StopCertificate,
  | "bound"
  | "bound_ms"
  | "findings"
  | "incomplete"
  | "instances"
  | "refusal_count"
  | "refusals"
  | "released"
  | "requested"
  | "silent"
  | "unlisted"
>

/** Collects a certificate while records stream by, in order. It takes any body. Spec: format 1 section 11. */
export class StopCertifier {
  readonly #id: string
  readonly #followed = new Map<string, Followed>()
  readonly #reached = new Set<string>()
  readonly #refusals: Array<CertifiedRefusal> = []
  readonly #incomplete: Array<string> = []
  #refusalCount = 0
  #head: Head | null = null
  #activatedMs = 0
  #requested: StopCertificate["requested"] = null
  #released: StopCertificate["released"] = null
  #isFull = false
  #unlisted = 0
  /** True once a record states whom the activation expects. */
  #isRead = false

  /** A certificate of one activation `kil_…`. */
  constructor(activationId: string) {
    this.#id = activationId
  }

  /** Unit: `atMs`, milliseconds since 1970 UTC, when the record was sealed. */
  take({ body, kind, parts, seq }: ReplayRecord, atMs: number): void {
    const isOurs = body["activation_id"] === this.#id
    if (kind === "kill.requested" && isOurs)
      this.#requested = { by: text(body["writer"]), at: textOrNull(body["requested_at"]) }
    else if (kind === "kill.activated" && isOurs && this.#head === null) this.#activate(seq, body)
    else if (this.#head === null) return
    else if (kind === "kill.expected" && isOurs && !this.#isRead) this.#expects(body, parts)
    else if (kind === "kill.released" && isOurs)
      this.#released ??= {
        seq,
        at: text(body["released_at"]),
        writer: text(body["writer"]),
        epoch: numberOf(body["epoch"])
      }
    else if ((kind === "kill.acknowledged" || kind === "kill.stopped") && isOurs) this.#answered(kind, body)
    // What is sealed behind the release is under another state.
    else if (this.#released !== null) return
    else if (kind === "decision.witnessed") this.#decision(seq, body, atMs)
    else if (kind === "evaluation.made") this.#evaluation(seq, body, atMs)
  }

  /** The certificate; null where no record activates it. */
  report(): StopCertificate | null {
    if (this.#head === null) return null
    const { drill, response } = this.#head
    const mustStop = drill !== "shadow" && halts(response as KillResponse)
    const instances = [...this.#followed.values()]
      .filter(({ agentId, expected }) => expected || this.#reached.has(agentId))
      .toSorted((a, b) => order(a.agentId, b.agentId) || order(a.instanceId ?? "", b.instanceId ?? ""))
    const shown = instances.map((one) => this.#instance(one, mustStop))
    const bounds = new Set(shown.map(({ bound }) => bound))
    const incomplete = [
      ...this.#incomplete,
      ...(this.#isRead ? [] : ["Which instances the activation expects was not read yet."]),
      ...(this.#isFull ? [`More than ${MAX_FOLLOWED} instances act in these records: the others are left out.`] : [])
    ]
    return {
      ...this.#head,
      unlisted: this.#unlisted,
      incomplete,
      requested: this.#requested,
      released: this.#released,
      instances: shown,
      findings: instances.flatMap(findingOf),
      refusals: this.#refusals,
      refusal_count: this.#refusalCount,
      silent: shown.filter((one) => one.is_silent).length,
      bound_ms: STOP_BOUND_MS,
      bound: !mustStop
        ? "none"
        : bounds.has("missed")
          ? "missed"
          : bounds.has("unknown") ||
              incomplete.length > 0 ||
              this.#unlisted > 0 ||
              !instances.some((one) => one.expected)
            ? "unknown"
            : "met"
    }
  }

  #activate(seq: number, body: JsonMap): void {
    const drill = body["drill"] as JsonMap | undefined
    this.#activatedMs = parseInstant(text(body["activated_at"])) ?? 0
    this.#head = {
      activation_id: this.#id,
      target: { type: text(body["target_type"]), id: text(body["target_id"]) },
      response: text(body["response"]),
      drill: textOrNull(drill?.["mode"]),
      breaker_id: textOrNull(body["breaker_id"]),
      epoch: numberOf(body["epoch"]),
      activated: { seq, at: text(body["activated_at"]), writer: text(body["writer"]) }
    }
    if (body["target_type"] === "agent") this.#reached.add(text(body["target_id"]))
    // The check of the channel expects nobody, and no record says so.
    this.#isRead = body["target_id"] === CHANNEL_TARGET
  }

  #expects(body: JsonMap, parts: ReplayRecord["parts"]): void {
    const expected = instancesIn(parts.get("expected"))
    this.#isRead = true
    this.#unlisted = numberOf(body["unlisted"])
    if (body["cut"] === true)
      this.#incomplete.push("Only the newest records before the activation were read for the instances it expects.")
    if (expected === null || (!parts.has("expected") && numberOf(body["expected"]) > 0))
      this.#incomplete.push("The pack does not disclose the part expected: which instances are silent is unknown.")
    for (const one of expected ?? []) {
      const followed = this.#follow(one.agentId, one.instanceId)
      if (followed !== null) followed.expected = true
      this.#reached.add(one.agentId)
    }
  }

  #answered(kind: string, body: JsonMap): void {
    const one = this.#follow(text(body["agent_id"]), textOrNull(body["instance_id"]))
    this.#reached.add(text(body["agent_id"]))
    if (one === null) return
    if (kind === "kill.stopped") one.stoppedMs ??= instant(body["stopped_at"])
    else if (one.acknowledgedMs === null) {
      one.acknowledgedMs = instant(body["acknowledged_at"])
      one.observedMs = instant(body["observed_at"])
      one.inFlight = numberOf(body["in_flight"])
    }
  }

  #decision(seq: number, body: JsonMap, atMs: number): void {
    const happenedMs = instant(body["observed_at"]) ?? atMs
    if (body["status"] === "denied" || happenedMs < this.#activatedMs) return
    const one = this.#follow(text(body["agent_id"]), textOrNull(body["instance_id"]))
    if (one === null) return
    const effect = { seq, atMs: happenedMs, action: text(body["action"]) }
    if (one.stoppedMs !== null && happenedMs > one.stoppedMs) one.afterStop ??= effect
    one.count++
    one.latestMs = Math.max(one.latestMs, happenedMs)
    if (one.last === null || happenedMs >= one.last.atMs) one.last = effect
  }

  #evaluation(seq: number, body: JsonMap, atMs: number): void {
    const list = body["activations"]
    const named = (Array.isArray(list) ? (list as ReadonlyArray<JsonMap | null>) : []).find(
      (one) => one?.["id"] === this.#id
    )
    if (named === undefined || named === null) return
    const agentId = text(body["agent_id"])
    if (this.#reached.size < MAX_FOLLOWED) this.#reached.add(agentId)
    if (body["outcome"] !== "deny" && body["outcome"] !== "halt") return
    if (this.#refusalCount++ < MAX_REFUSALS)
      this.#refusals.push({
        seq,
        at: formatInstant(atMs),
        agent_id: agentId,
        instance_id: textOrNull(body["instance_id"]),
        epoch: numberOf(named["epoch"]),
        outcome: text(body["outcome"])
      })
  }

  #follow(agentId: string, instanceId: string | null): Followed | null {
    const key = JSON.stringify([agentId, instanceId])
    const known = this.#followed.get(key)
    if (known !== undefined) return known
    if (this.#followed.size >= MAX_FOLLOWED) {
      this.#isFull = true
      return null
    }
    const made: Followed = {
      agentId,
      instanceId,
      expected: false,
      observedMs: null,
      acknowledgedMs: null,
      inFlight: null,
      stoppedMs: null,
      last: null,
      latestMs: 0,
      afterStop: null,
      count: 0
    }
    this.#followed.set(key, made)
    return made
  }

  #instance(one: Followed, mustStop: boolean): CertifiedInstance {
    const end = this.#activatedMs + STOP_BOUND_MS
    const isStopped = one.stoppedMs !== null && one.stoppedMs <= end && one.afterStop === null
    return {
      agent_id: one.agentId,
      instance_id: one.instanceId,
      expected: one.expected,
      observed_at: instantText(one.observedMs),
      acknowledged_at: instantText(one.acknowledgedMs),
      in_flight: one.inFlight,
      stopped_at: instantText(one.stoppedMs),
      last_side_effect:
        one.last === null ? null : { seq: one.last.seq, at: formatInstant(one.last.atMs), action: one.last.action },
      side_effects: one.count,
      is_silent: one.expected && one.acknowledgedMs === null,
      bound: !mustStop ? "none" : one.latestMs > end ? "missed" : isStopped ? "met" : "unknown"
    }
  }
}

const findingOf = ({ afterStop, agentId, instanceId, stoppedMs }: Followed): ReadonlyArray<CertifiedFinding> =>
  afterStop === null
    ? []
    : [
        {
          code: "acted_after_stop",
          agent_id: agentId,
          instance_id: instanceId,
          stopped_at: formatInstant(stoppedMs!),
          seq: afterStop.seq,
          at: formatInstant(afterStop.atMs),
          action: afterStop.action
        }
      ]

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const text = (value: Json | undefined): string => (typeof value === "string" ? value.slice(0, 200) : "unknown")
const textOrNull = (value: Json | undefined): string | null => (typeof value === "string" ? value.slice(0, 200) : null)
const numberOf = (value: Json | undefined): number => (typeof value === "number" ? value : 0)
const instant = (value: Json | undefined): number | null => (typeof value === "string" ? parseInstant(value) : null)
const instantText = (atMs: number | null): string | null => (atMs === null ? null : formatInstant(atMs))
