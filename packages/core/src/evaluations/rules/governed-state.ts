/** What the records before an evaluation say of agents, envelopes and waivers: the state it was made in. A fold, as replay's is, that also knows what it cannot know. */
import type { AgentDocument } from "../../agents/rules/document.ts"
import { erasedProfile } from "../../agents/rules/document.ts"
import { agentFolds, foldAgentRegistered } from "../../agents/rules/fold.ts"
import { readEnvelope } from "../../envelopes/rules/read-envelope.ts"
import { envelopeDigest } from "../../envelopes/rules/digest.ts"
import type { Envelope } from "../../envelopes/rules/envelope.ts"
import { readWaiver } from "../../envelopes/rules/waive.ts"
import { partMembers } from "../../replay/rules/part-json.ts"
import type { ExpectedDocument, PartContent, ReplayRecord } from "../../replay/rules/types.ts"
import { foldWaiver } from "../../waivers/rules/fold.ts"
import type { WaiverDocument } from "../../waivers/rules/document.ts"
import type { Bound } from "./bindings.ts"
import type { GateView, PublishedLayer } from "./judge-publication.ts"
import type { Layer } from "./layers.ts"
import { serverSignals } from "./server-signals.ts"
import { madeAtMs } from "./standing.ts"

/** A published version. `content` is null where its part is not shown; `gone` once a record says that it was erased, from when on nothing was decided under it. */
export interface KnownVersion {
  readonly envelopeId: string
  readonly version: number
  readonly digest: string
  readonly content: Envelope | "not an envelope" | null
  readonly gone: boolean
}

interface KnownEnvelope {
  readonly id: string
  readonly agentId: string | null
  /** Undefined where the part is not shown. */
  readonly orgUnit: string | null | undefined
  /** Whether its first draft is among the records here: then nothing was decided under it before them. */
  readonly beganHere: boolean
  live: number | null
  shadow: number | null
  withdrawn: boolean
}

/** An agent as the records tell it. */
export interface KnownAgent {
  readonly document: ExpectedDocument
  /** Seq of the record that told its profile last. */
  readonly profileSeq: number
  /** What follows from the document, once it was asked for. */
  told: ToldAgent | null
}

/** What evaluations need of an agent, as long as its records tell the same. */
export interface ToldAgent {
  readonly document: AgentDocument
  readonly madeMs: number
  readonly server: ReturnType<typeof serverSignals>
}

/** What the gate of publication looked at; `isWhole` false where an envelope of an agent may be missing from it. */
export interface KnownGateView extends GateView {
  readonly isWhole: boolean
}

/** Parts whose erasure changes what is in force, or whom it is for. */
export const erasing: ReadonlySet<string> = new Set(["envelope", "profile", "waiver"])

/** Agents whose bounds are remembered. */
const MAX_KEPT = 100_000

/** What is in force for an agent. Null: that cannot be told, because who belongs to which org unit is not shown. */
export type InForce = InForceThen | null

/** What is in force from a time until another, until another record is folded. Waivers end by themselves. */
export interface InForceThen {
  readonly live: ReadonlyArray<Layer>
  readonly shadow: ReadonlyArray<Layer> | null
  readonly fromMs: number
  /** The first time at which it is not. */
  readonly untilMs: number
  /** What evaluations are made with under these, once it was asked for. */
  bound: { readonly live: Bound; readonly shadow: Bound | null } | null
}

/** The state. */
export class GovernedState {
  readonly agents = new Map<string, KnownAgent>()
  readonly #envelopes = new Map<string, KnownEnvelope>()
  /** Those of agents by agent, and those of org units: of many agents each is bound by few. */
  readonly #ofAgents = new Map<string, Set<string>>()
  readonly #ofUnits = new Set<string>()
  readonly #versions = new Map<string, KnownVersion>()
  readonly #versionAt = new Map<number, string>()
  /** One text for all versions that say the same. */
  readonly #texts = new Map<string, Envelope>()
  readonly #waivers = new Map<string, ReadonlyArray<{ readonly id: string; readonly waiver: WaiverDocument; readonly seq: number }>>()
  readonly #sha256: (bytes: Uint8Array) => Uint8Array
  /** What was in force last for an agent. */
  readonly #inForce = new Map<string, InForceThen>()

  constructor(sha256: (bytes: Uint8Array) => Uint8Array) {
    this.#sha256 = sha256
  }

  /** The version that was published under this number; null where no record here tells of it. */
  version(envelopeId: string, version: number): KnownVersion | null {
    return this.#versions.get(`${envelopeId} ${version}`) ?? null
  }

  /** What was published here with this digest, under whatever name; null where nothing was, or it is not shown. */
  textByDigest(digest: string): Envelope | null {
    return this.#texts.get(digest) ?? null
  }

  /** Whether an envelope has this version in force, or on trial. */
  isInForce(envelopeId: string, version: number, trial: boolean): boolean {
    const known = this.#envelopes.get(envelopeId)
    return known !== undefined && !known.withdrawn && (known.live === version || (trial && known.shadow === version))
  }

  /** Whether the first draft of an envelope is among the records here. */
  beganHere(envelopeId: string): boolean {
    return this.#envelopes.get(envelopeId)?.beganHere === true
  }

  /** What binds an agent at a time. The same object as long as it is the same. */
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
    const own = [...this.#ofAgents.get(agentId) ?? []].map((id) => this.#envelopes.get(id)!)
    const ofUnits = [...this.#ofUnits].map((id) => this.#envelopes.get(id)!)
    if (ofUnits.some((envelope) => envelope.orgUnit === undefined && (envelope.live !== null || envelope.shadow !== null))) return null
    const all = [...ofUnits.filter((envelope) => envelope.orgUnit === orgUnit), ...own]
    if (all.some(({ withdrawn }) => withdrawn)) return nothing()
    const live = all.flatMap((envelope) => (envelope.live === null ? [] : [this.layer(envelope.id, envelope.live, atMs)]))
    const shadow = all.some((envelope) => envelope.shadow !== null)
      ? all.flatMap((envelope) => (envelope.shadow === null && envelope.live === null ? [] : [this.layer(envelope.id, envelope.shadow ?? envelope.live!, atMs)]))
      : null
    return { live, shadow, ...this.#lasts([...live, ...shadow ?? []], atMs), bound: null }
  }

  /** How long the same waivers hold. */
  #lasts(layers: ReadonlyArray<Layer>, atMs: number): { readonly fromMs: number; readonly untilMs: number } {
    const ends = layers.flatMap(({ envelopeId }) => (this.#waivers.get(envelopeId) ?? []).map(({ waiver }) => waiver.expiresAtMs))
    return { fromMs: Math.max(Number.NEGATIVE_INFINITY, ...ends.filter((ms) => ms <= atMs)), untilMs: Math.min(Number.POSITIVE_INFINITY, ...ends.filter((ms) => ms > atMs)) }
  }

  /** A version as a layer, with the waivers that hold at a time. */
  layer(envelopeId: string, version: number, atMs: number): Layer {
    const known = this.version(envelopeId, version)
    const envelope = known === null || known.gone || known.content === null || known.content === "not an envelope" ? null : known.content
    const waivers = (this.#waivers.get(envelopeId) ?? []).filter(({ waiver }) => waiver.status === "granted" && waiver.version === version && waiver.expiresAtMs > atMs)
    return {
      envelopeId, version, digest: known?.digest ?? "", envelope,
      waivers: waivers.map(({ id, waiver }) => ({ id, waiver: envelope === null || waiver.unless === null ? null : readWaiver(envelope, waiver.ruleId, waiver.unless).waiver }))
    }
  }

  /** Whether what a waiver excepts is not shown here. */
  isWithheld(waiverId: string): boolean {
    for (const all of this.#waivers.values()) for (const { id, waiver } of all) if (id === waiverId) return waiver.unless === null
    return true
  }

  /** The text that a publication shows; null where it does not. */
  textOf(record: ReplayRecord): KnownVersion["content"] {
    return this.#content(record)
  }

  /** What the gate looked at when a version was published, to be asked before that record is folded. Null: what bound before cannot be told. */
  gateView({ body }: ReplayRecord): KnownGateView | null {
    const id = String(body["envelope_id"])
    const known = this.#envelopes.get(id)
    const agentId = known === undefined ? body["agent_id"] : known.agentId
    const own = known === undefined ? [] : this.#liveOf([known])
    const outer = typeof agentId === "string" ? this.#unitLayers(agentId) : []
    if (own === null || outer === null) return null
    const inner = typeof agentId === "string" ? { layers: [], isWhole: true } : this.#agentLayers(known?.orgUnit)
    return { outer, own: own[0] ?? null, isWithdrawn: known?.withdrawn === true, inner: inner.layers, isWhole: inner.isWhole }
  }

  /** What is in force for an agent's org unit by itself; null where that is not shown. */
  #unitLayers(agentId: string): ReadonlyArray<PublishedLayer> | null {
    const document = this.agents.get(agentId)?.document
    if (document?.unknown.includes("orgUnit") === true) return null
    const orgUnit = document?.body["orgUnit"]
    if (typeof orgUnit !== "string") return []
    const units = [...this.#ofUnits].map((id) => this.#envelopes.get(id)!).filter((envelope) => envelope.live !== null)
    return units.some((envelope) => envelope.orgUnit === undefined) ? null : this.#liveOf(units.filter((envelope) => envelope.orgUnit === orgUnit))
  }

  /** What is in force for the agents of an org unit, as far as it is shown. */
  #agentLayers(orgUnit: string | null | undefined): { readonly layers: ReadonlyArray<PublishedLayer>; readonly isWhole: boolean } {
    const layers: Array<PublishedLayer> = []
    let isWhole = orgUnit !== undefined
    for (const [agentId, ids] of this.#ofAgents) {
      const document = this.agents.get(agentId)?.document
      const isUnknown = document?.unknown.includes("orgUnit") === true
      if (!isUnknown && (typeof orgUnit !== "string" || document?.body["orgUnit"] !== orgUnit)) continue
      const live = isUnknown ? null : this.#liveOf([...ids].map((id) => this.#envelopes.get(id)!))
      if (live === null) isWhole = false
      else layers.push(...live)
    }
    return { layers, isWhole }
  }

  /** The versions that envelopes have in force; null where the text of one is not shown. */
  #liveOf(envelopes: ReadonlyArray<KnownEnvelope>): ReadonlyArray<PublishedLayer> | null {
    const layers: Array<PublishedLayer> = []
    for (const { id, live, withdrawn } of envelopes) {
      if (live === null || withdrawn) continue
      const version = this.version(id, live)
      if (version === null || (version.content === null && !version.gone)) return null
      const { content, digest, gone } = version
      layers.push({ envelopeId: id, digest, envelope: gone || content === "not an envelope" ? null : content })
    }
    return layers
  }

  /** Adds one record, in order. Records of other kinds change nothing. */
  fold(record: ReplayRecord): void {
    const { body, kind, seq } = record
    if (kind.startsWith("agent.")) return this.#foldAgent(record)
    if (kind === "part.erased") return this.#foldErased(Number(body["seq"]), String(body["name"]))
    this.#inForce.clear()
    if (kind.startsWith("waiver.")) return this.#foldWaiver(record)
    const id = String(body["envelope_id"])
    const known = this.#envelopes.get(id)
    if (kind === "envelope.drafted" && known === undefined) {
      const profile = partMembers(record.parts.get("profile"))
      const agentId = typeof body["agent_id"] === "string" ? body["agent_id"] : null
      const orgUnit = profile.state === "known" && typeof profile.members["org_unit"] === "string" ? profile.members["org_unit"] : undefined
      this.#put({ id, agentId, orgUnit: agentId === null ? orgUnit : null, beganHere: body["revision"] === 1, live: null, shadow: null, withdrawn: false })
    } else if (kind === "envelope.published") {
      const version = Number(body["version"])
      const digest = String(body["digest"])
      const content = this.#content(record)
      if (content !== null && content !== "not an envelope" && !this.#texts.has(digest)) this.#texts.set(digest, content)
      this.#versions.set(`${id} ${version}`, { envelopeId: id, version, digest, content, gone: false })
      this.#versionAt.set(seq, `${id} ${version}`)
      // In a range of records the draft may lie before it.
      const envelope = known ?? { id, agentId: typeof body["agent_id"] === "string" ? body["agent_id"] : null, orgUnit: undefined, beganHere: false, live: null, shadow: null, withdrawn: false }
      this.#put(body["mode"] === "shadow" ? { ...envelope, shadow: version } : { ...envelope, live: version, shadow: null, withdrawn: false })
    } else if (kind === "envelope.withdrawn" && known !== undefined) this.#put({ ...known, withdrawn: known.live !== null, shadow: null })
  }

  #put(envelope: KnownEnvelope): void {
    this.#envelopes.set(envelope.id, envelope)
    if (envelope.agentId === null) this.#ofUnits.add(envelope.id)
    else this.#ofAgents.set(envelope.agentId, (this.#ofAgents.get(envelope.agentId) ?? new Set<string>()).add(envelope.id))
  }

  #content({ body, parts }: ReplayRecord): KnownVersion["content"] {
    const part = partMembers(parts.get("envelope"))
    if (part.state !== "known") return part.state === "unreadable" ? "not an envelope" : null
    if (envelopeDigest(part.members, this.#sha256) !== body["digest"]) return "not an envelope"
    return readEnvelope(part.members).envelope ?? "not an envelope"
  }

  #foldAgent(record: ReplayRecord): void {
    const id = String(record.body["agent_id"])
    this.#inForce.delete(id)
    // What is erased now was there when the records after it were written: until the record of the erasure it is unknown, not empty.
    const told: ReplayRecord = { ...record, parts: new Map([...record.parts].map(([name, part]): readonly [string, PartContent] => [name, part.state === "erased" ? { state: "withheld" } : part])) }
    const known = this.agents.get(id)
    const profileSeq = record.parts.has("profile") ? record.seq : known?.profileSeq ?? -1
    if (record.kind === "agent.registered") this.agents.set(id, { document: foldAgentRegistered(told), profileSeq, told: null })
    const next = agentFolds.get(record.kind)
    if (known !== undefined && next !== undefined) this.agents.set(id, { document: next(known.document, told), profileSeq, told: null })
  }

  #foldErased(seq: number, name: string): void {
    if (!erasing.has(name)) return
    this.#inForce.clear()
    const key = this.#versionAt.get(seq)
    const version = key === undefined || name !== "envelope" ? undefined : this.#versions.get(key)
    if (version !== undefined) this.#versions.set(key!, { ...version, gone: true })
    if (name === "waiver") {
      for (const [id, all] of this.#waivers) this.#waivers.set(id, all.map((one) => (one.seq === seq ? { ...one, waiver: { ...one.waiver, unless: null } } : one)))
    }
    if (name !== "profile") return
    for (const [id, { document, profileSeq }] of this.agents) {
      if (profileSeq !== seq) continue
      const profile = erasedProfile(id)
      this.agents.set(id, { profileSeq, told: null, document: { ...document, body: { ...document.body, ...profile }, unknown: document.unknown.filter((member) => !(member in profile)) } })
    }
  }

  #foldWaiver(record: ReplayRecord): void {
    const { body, id } = foldWaiver(record)
    const waiver = body as unknown as WaiverDocument
    const others = (this.#waivers.get(waiver.envelopeId) ?? []).filter((one) => one.id !== id)
    this.#waivers.set(waiver.envelopeId, [...others, { id, waiver, seq: record.seq }].sort((a, b) => (a.id < b.id ? -1 : 1)))
  }
}

/** What evaluations need of an agent. Where only the presence of an owner is known, that counts: who it is decides nothing. */
export const toldOf = (id: string, agent: KnownAgent): ToldAgent => {
  if (agent.told !== null) return agent.told
  const { body, unknown } = agent.document
  const document = { ...body, ...(unknown.includes("ownerName") ? { ownerName: "" } : {}) } as unknown as AgentDocument
  agent.told = { document, madeMs: madeAtMs(id), server: serverSignals(document) }
  return agent.told
}

const nothing = (): InForceThen => ({ live: [], shadow: null, fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY, bound: null })
