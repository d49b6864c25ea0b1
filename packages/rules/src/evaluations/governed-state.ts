/**
 * State of agents, envelopes and waivers at an evaluation, folded from the records before it. Like the fold of replay,
 * but it also tracks which facts are unknown.
 */
import type { Envelope } from "@flyball/envelope"
import { readWaiver } from "@flyball/envelope"
import type { ReplayRecord } from "../records/record.ts"
import { KnownKills } from "../kill/known-kills.ts"
import type { KillTarget } from "../kill/document.ts"
import { reaches } from "../kill/reach.ts"
import { FOUR_EYES_TIER } from "../kill/release.ts"
import type { WaiverDocument } from "../waivers/document.ts"
import { foldWaiver } from "../waivers/fold.ts"
import type { Bound } from "./bindings.ts"
import { gateView, type KnownGateView } from "./gate-view.ts"
import { type KnownAgent, KnownAgents, type KnownReach } from "./known-agents.ts"
import { KnownEnvelopes, type KnownVersion } from "./known-envelopes.ts"
import type { Layer } from "./layers.ts"

/** Parts whose erasure changes which envelopes are in force, or for whom. */
export const erasing: ReadonlySet<string> = new Set(["envelope", "profile", "waiver"])

/** Agents whose envelopes in force are cached. */
const MAX_KEPT = 100_000

/** The envelopes in force for an agent. Null: unknown, because the org units of agents are not shown. */
export type InForce = InForceThen | null

/** The envelopes in force in a span of time, valid until the next record is folded. Waivers expire by time alone. */
export interface InForceThen {
  readonly live: ReadonlyArray<Layer>
  readonly shadow: ReadonlyArray<Layer> | null
  readonly fromMs: number
  /** The first time at which it is not valid. */
  readonly untilMs: number
  /** The compiled binding of these, after its first use. */
  bound: { readonly live: Bound; readonly shadow: Bound | null } | null
}

/** State of agents, envelopes and waivers that evaluations are recomputed with. Spec: decision 0026. */
export class GovernedState {
  readonly #agents = new KnownAgents()
  /** The activations of the kill switch. */
  readonly kills = new KnownKills()
  readonly #envelopes: KnownEnvelopes
  readonly #waivers = new Map<
    string,
    ReadonlyArray<{ readonly id: string; readonly waiver: WaiverDocument; readonly seq: number }>
  >()
  /** The cached envelopes in force for an agent. */
  readonly #inForce = new Map<string, InForceThen>()

  constructor(sha256: (bytes: Uint8Array) => Uint8Array) {
    this.#envelopes = new KnownEnvelopes(sha256)
  }

  /** Agents by id. */
  get agents(): ReadonlyMap<string, KnownAgent> {
    return this.#agents.byId
  }

  /** The facts by which activations reach an agent, and whether all of them are known. */
  reachOf(agentId: string, seq?: number): KnownReach {
    return this.#agents.reachOf(agentId, seq)
  }

  /** True when a target reached an agent after this record or a later one; null: unknown. */
  wasReached(agentId: string, target: KillTarget, seq: number): boolean | null {
    return this.#agents.wasReached(agentId, target, seq)
  }

  /** True when an agent is of the org unit with this digest; null: its own, or that of the other, is not known. */
  isOfUnit(agentId: string, digest: string): boolean | null {
    const digests = this.#agents.unitDigestsOf(agentId)
    return digests === null ? null : digests.includes(digest)
  }

  /** The state of an agent after a record; null where there was none, undefined where it is unknown. */
  agentAt(agentId: string, seq: number): KnownAgent | null | undefined {
    return this.#agents.at(agentId, seq)
  }

  /** The layers in force for an agent after a record, without waivers; null where they are unknown. */
  layersAt(agentId: string, seq: number, atMs: number): ReadonlyArray<Layer> | null {
    const document = this.#agents.at(agentId, seq)?.document
    if (document === undefined || document.unknown.includes("orgUnit")) return null
    const orgUnit = document.body["orgUnit"]
    if (typeof orgUnit !== "string") return []
    const [units, own] = [this.#envelopes.ofUnits(), this.#envelopes.ofAgent(agentId)].map((all) =>
      all.map(({ id }) => this.#envelopes.at(id, seq))
    )
    const all = [...units!, ...own!].filter((envelope) => envelope !== null)
    const layers: Array<Layer> = []
    for (const envelope of all) {
      if (envelope === undefined || (envelope.orgUnit === undefined && envelope.live !== null)) return null
      const binds = envelope.agentId === agentId || envelope.orgUnit === orgUnit
      if (binds && envelope.withdrawn) return []
      if (binds && envelope.live !== null) layers.push({ ...this.layer(envelope.id, envelope.live, atMs), waivers: [] })
    }
    return layers
  }

  /** True when a waiver of this version, granted by a record up to this one, held at a time. */
  isWaived(envelopeId: string, version: number, seq: number, atMs: number): boolean {
    return (this.#waivers.get(envelopeId) ?? []).some(
      (one) =>
        one.seq <= seq &&
        one.waiver.status === "granted" &&
        one.waiver.version === version &&
        one.waiver.expiresAtMs > atMs
    )
  }

  /** The agents at a tier at which a release needs a second person, among those that a target reaches. */
  highReachedBy(target: KillTarget): ReadonlySet<string> {
    const found = new Set<string>()
    for (const [id, { document }] of this.agents)
      if (String(document.body["autonomyTier"]) >= FOUR_EYES_TIER && reaches(target, this.reachOf(id).reach) !== null)
        found.add(id)
    return found
  }

  /** The version that was published under this number; null where no record here publishes it. */
  version(envelopeId: string, version: number): KnownVersion | null {
    return this.#envelopes.version(envelopeId, version)
  }

  /** Finds the published version with this digest under any name; null where there is none or it is not disclosed. */
  textByDigest(digest: string): Envelope | null {
    return this.#envelopes.textByDigest(digest)
  }

  /** True when an envelope has this version in force, or on trial. */
  isInForce(envelopeId: string, version: number, trial: boolean): boolean {
    const known = this.#envelopes.get(envelopeId)
    return known !== undefined && !known.withdrawn && (known.live === version || (trial && known.shadow === version))
  }

  /** True when the first draft of an envelope is among the records here. */
  beganHere(envelopeId: string): boolean {
    return this.#envelopes.get(envelopeId)?.beganHere === true
  }

  /** The layers in force for an agent at a time. Answers the same object while they do not change. */
  inForce(agentId: string, atMs: number): InForce {
    const known = this.#inForce.get(agentId)
    if (known !== undefined && known.fromMs <= atMs && atMs < known.untilMs) return known
    const found = this.#inForceAt(agentId, atMs)
    if (this.#inForce.size >= MAX_KEPT) this.#inForce.clear()
    if (found !== null) this.#inForce.set(agentId, found)
    return found
  }

  #inForceAt(agentId: string, atMs: number): InForce {
    const document = this.agents.get(agentId)?.document
    if (document === undefined || document.unknown.includes("orgUnit")) return null
    const orgUnit = document.body["orgUnit"]
    if (typeof orgUnit !== "string") return nothing()
    const own = this.#envelopes.ofAgent(agentId)
    const ofUnits = this.#envelopes.ofUnits()
    if (
      ofUnits.some((envelope) => envelope.orgUnit === undefined && (envelope.live !== null || envelope.shadow !== null))
    )
      return null
    const all = [...ofUnits.filter((envelope) => envelope.orgUnit === orgUnit), ...own]
    if (all.some(({ withdrawn }) => withdrawn)) return nothing()
    const live = all.flatMap((envelope) =>
      envelope.live === null ? [] : [this.layer(envelope.id, envelope.live, atMs)]
    )
    const shadow = all.some((envelope) => envelope.shadow !== null)
      ? all.flatMap((envelope) =>
          envelope.shadow === null && envelope.live === null
            ? []
            : [this.layer(envelope.id, envelope.shadow ?? envelope.live!, atMs)]
        )
      : null
    return { live, shadow, ...this.#lasts([...live, ...(shadow ?? [])], atMs), bound: null }
  }

  /** The time until which the same waivers are active. */
  #lasts(layers: ReadonlyArray<Layer>, atMs: number): { readonly fromMs: number; readonly untilMs: number } {
    const ends = layers.flatMap(({ envelopeId }) =>
      (this.#waivers.get(envelopeId) ?? []).map(({ waiver }) => waiver.expiresAtMs)
    )
    return {
      fromMs: Math.max(Number.NEGATIVE_INFINITY, ...ends.filter((ms) => ms <= atMs)),
      untilMs: Math.min(Number.POSITIVE_INFINITY, ...ends.filter((ms) => ms > atMs))
    }
  }

  /** A version as a layer, with the waivers that hold at a time. */
  layer(envelopeId: string, version: number, atMs: number): Layer {
    const known = this.version(envelopeId, version)
    const envelope =
      known === null || known.gone || known.content === null || known.content === "not an envelope"
        ? null
        : known.content
    const waivers = (this.#waivers.get(envelopeId) ?? []).filter(
      ({ waiver }) => waiver.status === "granted" && waiver.version === version && waiver.expiresAtMs > atMs
    )
    return {
      envelopeId,
      version,
      digest: known?.digest ?? "",
      envelope,
      waivers: waivers.map(({ id, waiver }) => ({
        id,
        waiver:
          envelope === null || waiver.unless === null ? null : readWaiver(envelope, waiver.ruleId, waiver.unless).waiver
      }))
    }
  }

  /** True when the exception of a waiver is not shown here. */
  isWithheld(waiverId: string): boolean {
    for (const all of this.#waivers.values())
      for (const { id, waiver } of all) if (id === waiverId) return waiver.unless === null
    return true
  }

  /** The text that a publication discloses; null where it does not. */
  textOf(record: ReplayRecord): KnownVersion["content"] {
    return this.#envelopes.textOf(record)
  }

  /**
   * Answers the gate's inputs at the publication of a version. Call it before that record is folded. Null: the versions
   * in force before are unknown.
   */
  gateView(record: ReplayRecord): KnownGateView | null {
    return gateView(this.#agents, this.#envelopes, record)
  }

  /** Adds one record, in order. Records of other kinds change nothing. */
  fold(record: ReplayRecord): void {
    const { body, kind } = record
    if (kind.startsWith("agent.") || kind.startsWith("drill.")) {
      this.#inForce.delete(String(body["agent_id"]))
      return this.#agents.fold(record)
    }
    if (kind === "model.registered") return this.#agents.modelRegistered(record)
    if (kind === "part.erased") return this.#foldErased(Number(body["seq"]), String(body["name"]))
    if (kind.startsWith("kill.")) return this.kills.fold(record)
    this.#inForce.clear()
    if (kind.startsWith("waiver.")) return this.#foldWaiver(record)
    this.#envelopes.fold(record)
  }

  #foldErased(seq: number, name: string): void {
    if (!erasing.has(name)) return
    this.#inForce.clear()
    if (name === "envelope") this.#envelopes.erase(seq)
    if (name === "waiver") {
      for (const [id, all] of this.#waivers)
        this.#waivers.set(
          id,
          all.map((one) => (one.seq === seq ? { ...one, waiver: { ...one.waiver, unless: null } } : one))
        )
    }
    if (name === "profile") this.#agents.erase(seq)
  }

  #foldWaiver(record: ReplayRecord): void {
    const { body, id } = foldWaiver(record)
    const waiver = body as unknown as WaiverDocument
    const others = (this.#waivers.get(waiver.envelopeId) ?? []).filter((one) => one.id !== id)
    this.#waivers.set(
      waiver.envelopeId,
      [...others, { id, waiver, seq: record.seq }].sort((a, b) => (a.id < b.id ? -1 : 1))
    )
  }
}

const nothing = (): InForceThen => ({
  live: [],
  shadow: null,
  fromMs: Number.NEGATIVE_INFINITY,
  untilMs: Number.POSITIVE_INFINITY,
  bound: null
})
