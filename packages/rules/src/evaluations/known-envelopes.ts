/** Envelopes and their versions, folded from the records up to a seq. The fold also tracks which facts are unknown. */
import { equalBytes, NotCanonical } from "@flyball/evidence"
import { envelopeDigest, MAX_ENVELOPE_BYTES, readEnvelope } from "@flyball/envelope"
import type { Envelope } from "@flyball/envelope"
import { partMembers } from "../records/part-json.ts"
import type { JsonMap, ReplayRecord } from "../records/record.ts"
import { History } from "./past-states.ts"

/**
 * A published version. `content` is null where its part is not shown. `gone` is set by the record of its erasure: from
 * then on nothing was decided under it.
 */
export interface KnownVersion {
  readonly envelopeId: string
  readonly version: number
  readonly digest: string
  readonly content: Envelope | "not an envelope" | null
  readonly gone: boolean
  readonly authors: ReadonlyArray<string>
}

/** An envelope, and its versions in force. */
export interface KnownEnvelope {
  readonly id: string
  readonly agentId: string | null
  /** Undefined where the part is not shown. */
  readonly orgUnit: string | null | undefined
  /** True when its first draft is among the records here: then nothing was decided under it before them. */
  readonly beganHere: boolean
  live: number | null
  shadow: number | null
  withdrawn: boolean
}

/** The fold of envelopes. */
export class KnownEnvelopes {
  readonly #byId = new Map<string, KnownEnvelope>()
  /** The envelopes of agents by agent, and those of org units: few of them apply to each agent. */
  readonly ofAgents = new Map<string, Set<string>>()
  readonly #ofUnits = new Set<string>()
  readonly #past = new History<KnownEnvelope>()
  readonly #versions = new Map<string, KnownVersion>()
  readonly #versionAt = new Map<number, string>()
  /** Texts by digest, each with its bytes; versions with equal texts share one entry. */
  readonly #texts = new Map<string, { readonly envelope: Envelope; readonly bytes: Uint8Array }>()
  readonly #sha256: (bytes: Uint8Array) => Uint8Array

  constructor(sha256: (bytes: Uint8Array) => Uint8Array) {
    this.#sha256 = sha256
  }

  get(envelopeId: string): KnownEnvelope | undefined {
    return this.#byId.get(envelopeId)
  }

  ofAgent(agentId: string): ReadonlyArray<KnownEnvelope> {
    return [...(this.ofAgents.get(agentId) ?? [])].map((id) => this.#byId.get(id)!)
  }

  /** The envelopes of all org units. */
  ofUnits(): ReadonlyArray<KnownEnvelope> {
    return [...this.#ofUnits].map((id) => this.#byId.get(id)!)
  }

  /** The state of an envelope after a record; null where there was none, undefined where it is unknown. */
  at(envelopeId: string, seq: number): KnownEnvelope | null | undefined {
    return this.#past.at(envelopeId, seq)
  }

  version(envelopeId: string, version: number): KnownVersion | null {
    return this.#versions.get(`${envelopeId} ${version}`) ?? null
  }

  textByDigest(digest: string): Envelope | null {
    return this.#texts.get(digest)?.envelope ?? null
  }

  /** The text that a publication discloses; null where it does not. */
  textOf({ body, parts }: ReplayRecord): KnownVersion["content"] {
    const shown = parts.get("envelope")
    const known = this.#texts.get(String(body["digest"]))
    // Many agents have the same envelope: the same bytes were read, and their digest compared, before.
    if (known !== undefined && shown?.state === "present" && equalBytes(shown.bytes, known.bytes)) return known.envelope
    const part = partMembers(shown, MAX_ENVELOPE_BYTES)
    if (part.state !== "known") return part.state === "unreadable" ? "not an envelope" : null
    if (this.#digestOf(part.members) !== body["digest"]) return "not an envelope"
    if (known !== undefined) return known.envelope
    return readEnvelope(part.members).envelope ?? "not an envelope"
  }

  /** Null for what has no canonical form, and so no digest: no service published it. */
  #digestOf(members: JsonMap): string | null {
    try {
      return envelopeDigest(members, this.#sha256)
    } catch (cause) {
      if (cause instanceof NotCanonical) return null
      throw cause
    }
  }

  /** Adds one record of an envelope, in order. */
  fold(record: ReplayRecord): void {
    const { body, kind, seq } = record
    const id = String(body["envelope_id"])
    const known = this.#byId.get(id)
    if (kind === "envelope.drafted" && known === undefined) {
      const profile = partMembers(record.parts.get("profile"))
      const agentId = typeof body["agent_id"] === "string" ? body["agent_id"] : null
      const orgUnit =
        profile.state === "known" && typeof profile.members["org_unit"] === "string"
          ? profile.members["org_unit"]
          : undefined
      this.#put(
        {
          id,
          agentId,
          orgUnit: agentId === null ? orgUnit : null,
          beganHere: body["revision"] === 1,
          live: null,
          shadow: null,
          withdrawn: false
        },
        seq
      )
    } else if (kind === "envelope.published") {
      const version = Number(body["version"])
      const digest = String(body["digest"])
      const content = this.textOf(record)
      const shown = record.parts.get("envelope")
      if (content !== null && content !== "not an envelope" && shown?.state === "present" && !this.#texts.has(digest))
        this.#texts.set(digest, { envelope: content, bytes: shown.bytes.slice() })
      const authors = (body["authors"] ?? []) as ReadonlyArray<string>
      this.#versions.set(`${id} ${version}`, { envelopeId: id, version, digest, content, gone: false, authors })
      this.#versionAt.set(seq, `${id} ${version}`)
      // In a range of records the draft may lie before it.
      const envelope = known ?? {
        id,
        agentId: typeof body["agent_id"] === "string" ? body["agent_id"] : null,
        orgUnit: undefined,
        beganHere: false,
        live: null,
        shadow: null,
        withdrawn: false
      }
      this.#put(
        body["mode"] === "shadow"
          ? { ...envelope, shadow: version }
          : { ...envelope, live: version, shadow: null, withdrawn: false },
        seq
      )
    } else if (kind === "envelope.withdrawn" && known !== undefined)
      this.#put({ ...known, withdrawn: known.live !== null, shadow: null }, seq)
  }

  /** Removes the text that a record published. */
  erase(seq: number): void {
    const key = this.#versionAt.get(seq)
    const version = key === undefined ? undefined : this.#versions.get(key)
    if (version !== undefined) this.#versions.set(key!, { ...version, gone: true })
  }

  #put(envelope: KnownEnvelope, seq: number): void {
    this.#byId.set(envelope.id, envelope)
    this.#past.add(envelope.id, seq, envelope)
    if (envelope.agentId === null) this.#ofUnits.add(envelope.id)
    else
      this.ofAgents.set(envelope.agentId, (this.ofAgents.get(envelope.agentId) ?? new Set<string>()).add(envelope.id))
  }
}
