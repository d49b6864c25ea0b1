/** Collects a summary while records stream by. Memory does not grow with the pack. */
import { formatInstant, type JsonObject, toHex } from "@flyball/evidence"
import type { ReplayRecord } from "@flyball/rules"
import { NOT_STATED } from "../assurance.ts"
import { BoundedMap, Counter, FirstOf, memberOf, numberOf, readPart, textOf, textOrNull } from "./bounded.ts"
import { RuleReasons } from "./rule-reasons.ts"
import {
  type ChangeSummary,
  type DenialSummary,
  type ErasureSummary,
  type GapSummary,
  type Listed,
  MAX_LISTED,
  type Summary
} from "./summary.ts"

/** Kinds whose bodies a summary reads; the others are passed over. */
export const isSummarized = (kind: string): boolean => summarized.has(kind)

/** Parts that a summary reads. */
export const summarizedParts: ReadonlySet<string> = new Set([
  "envelope",
  "identity",
  "owner",
  "profile",
  "reason",
  "waiver"
])

interface Agent {
  readonly id: string
  name: string | null
  owner: string | null
  decisions: number
  evaluations: number
}

/** The fold. It takes any body: one that is not as the catalogue says is shown as `unknown`. */
export class Summarizer {
  readonly #agents = new BoundedMap<Agent>()
  readonly #people = new BoundedMap<string>()
  readonly #envelopes = new BoundedMap<string>()
  readonly #denials = new BoundedMap<{ -readonly [member in keyof DenialSummary]: DenialSummary[member] }>()
  readonly #reasons = new RuleReasons()
  readonly #witnessed = new Counter()
  readonly #settled = new Counter()
  readonly #mode = new Counter()
  readonly #decidedBy = new Counter()
  readonly #claimed = new Counter()
  readonly #verdicts = new Counter()
  readonly #onTrial = new Counter()
  readonly #changes = new FirstOf<ChangeSummary>()
  readonly #gaps = new FirstOf<GapSummary>()
  readonly #erasures = new FirstOf<ErasureSummary>()
  readonly #sha256: (bytes: Uint8Array) => Uint8Array
  #missing = 0
  #untracked = 0
  #untrackedDenials = 0

  constructor(sha256: (bytes: Uint8Array) => Uint8Array) {
    this.#sha256 = sha256
  }

  /** Unit: `atMs`, milliseconds since 1970 UTC. */
  take(record: ReplayRecord, atMs: number): void {
    const { body, kind, parts, seq } = record
    const agent = typeof body["agent_id"] === "string" ? this.#agent(body["agent_id"]) : null
    this.#learn(record, agent)
    switch (kind) {
      case "decision.witnessed":
        if (agent !== null) agent.decisions++
        this.#witnessed.add(textOf(body["status"]))
        this.#mode.add(body["mode"] === undefined ? NOT_STATED : textOf(body["mode"]))
        this.#decidedBy.add(body["decided_by"] === undefined ? NOT_STATED : textOf(body["decided_by"]))
        this.#claimed.add(body["capture"] === undefined ? NOT_STATED : textOf(body["capture"]))
        return
      case "decision.settled":
        return this.#settled.add(textOf(body["status"]))
      case "evaluation.made":
        if (agent !== null) agent.evaluations++
        return this.#evaluation(body)
      case "capture.gap":
        this.#missing += numberOf(body["count"])
        return this.#gaps.add(() => ({
          seq,
          agent: this.#agentText(body),
          from: textOf(body["from"]),
          to: textOf(body["to"]),
          missing: numberOf(body["count"]),
          reason: textOf(body["reason"])
        }))
      case "part.erased":
        return this.#erasures.add(() => ({
          seq,
          at: formatInstant(atMs),
          record: numberOf(body["seq"]),
          part: textOf(body["name"]),
          reason: textOf(body["reason"])
        }))
    }
    if (!changing.has(kind)) return
    this.#changes.add(() => ({
      seq,
      at: formatInstant(atMs),
      kind,
      about: this.#about(kind, body),
      by: this.#actor(kind, body),
      approved_by: this.#approver(kind, body),
      note: noteOf(kind, body, textOrNull(readPart(parts.get("reason"))) ?? reasonOfWaiver(record))
    }))
  }

  report(records: number): Summary {
    const agents = this.#agents
      .values()
      .toSorted((a, b) => b.decisions + b.evaluations - a.decisions - a.evaluations || (a.id < b.id ? -1 : 1))
      .map(({ decisions, evaluations, id, name, owner }) => ({ agent_id: id, name, owner, decisions, evaluations }))
    const denials = this.#denials.values().toSorted((a, b) => b.count - a.count || (a.rule < b.rule ? -1 : 1))
    return {
      records,
      agents: firstOf(agents),
      untracked_agent_records: this.#untracked,
      decisions: { witnessed: this.#witnessed.counted(), settled: this.#settled.counted() },
      capture: {
        mode: this.#mode.counted(),
        decided_by: this.#decidedBy.counted(),
        claimed: this.#claimed.counted()
      },
      verdicts: this.#verdicts.counted(),
      verdicts_on_trial: this.#onTrial.counted(),
      denials: firstOf(denials),
      untracked_denials: this.#untrackedDenials,
      changes: this.#changes.listed(),
      gaps: { ...this.#gaps.listed(), missing: this.#missing },
      erasures: this.#erasures.listed()
    }
  }

  /** Names, owners, people and the reasons of rules, from disclosed parts. */
  #learn({ body, kind, parts }: ReplayRecord, agent: Agent | null): void {
    if (agent !== null && (kind === "agent.registered" || kind === "agent.updated"))
      agent.name = textOrNull(memberOf(readPart(parts.get("profile")), "name")) ?? agent.name
    if (agent !== null && (kind === "agent.registered" || kind === "agent.owner_transferred"))
      agent.owner = ownerOf(readPart(parts.get("owner")))
    if (agent !== null && kind === "agent.orphaned" && body["cause"] === undefined) agent.owner = null
    if (kind === "principal.seen" && typeof body["principal_id"] === "string") {
      const subject = textOrNull(memberOf(readPart(parts.get("identity")), "subject"))
      if (subject !== null) this.#people.set(textOf(body["principal_id"]), subject)
    }
    if (kind === "envelope.drafted" && typeof body["envelope_id"] === "string") {
      const name = textOrNull(memberOf(readPart(parts.get("profile")), "name"))
      if (name !== null) this.#envelopes.set(textOf(body["envelope_id"]), name)
    }
    const envelope = kind === "envelope.published" ? parts.get("envelope") : undefined
    // The digest of the part, and not the one that the record states: the record may be wrong.
    if (envelope?.state === "present") this.#reasons.add(toHex(this.#sha256(envelope.bytes)), readPart(envelope))
  }

  #agent(agentId: string): Agent | null {
    const id = textOf(agentId)
    const known = this.#agents.get(id)
    if (known !== undefined) return known
    const agent: Agent = { id, name: null, owner: null, decisions: 0, evaluations: 0 }
    if (this.#agents.set(id, agent)) return agent
    this.#untracked++
    return null
  }

  #evaluation(body: JsonObject): void {
    const outcome = textOf(body["outcome"])
    if (body["mode"] === "shadow") return this.#onTrial.add(outcome)
    this.#verdicts.add(outcome)
    if (outcome !== "deny" && outcome !== "halt") return
    const rule = textOf(body["matched_rule"])
    const reason = this.#reasons.of(rule, body["layers"])
    const key = JSON.stringify([rule, outcome, reason])
    const known = this.#denials.get(key)
    if (known !== undefined) known.count++
    else if (!this.#denials.set(key, { rule, outcome, reason, count: 1 })) this.#untrackedDenials++
  }

  #about(kind: string, body: JsonObject): string {
    if (kind.startsWith("agent.")) return this.#agentText(body)
    const id = textOf(body["envelope_id"])
    const name = this.#envelopes.get(id)
    const version = body["version"] === undefined ? "" : ` version ${textOf(body["version"])}`
    const envelope = `${name === undefined ? id : `${name} (${id})`}${version}`
    if (kind === "waiver.granted") return `rule ${textOf(body["rule_id"])} of ${envelope}`
    return body["agent_id"] === undefined ? envelope : `${envelope} for ${this.#agentText(body)}`
  }

  #agentText(body: JsonObject): string {
    const id = textOf(body["agent_id"])
    const name = this.#agents.get(id)?.name ?? null
    return name === null ? id : `${name} (${id})`
  }

  /** Who began it: the authors of a version that another person approved, who requested a waiver. */
  #actor(kind: string, body: JsonObject): string {
    if (kind === "waiver.granted") return this.#person(body["requested_by"])
    const { approver, authors, writer } = body
    if (approver === undefined || !Array.isArray(authors) || authors.length === 0) return this.#person(writer)
    const shown = authors.slice(0, MAX_AUTHORS).map((author) => this.#person(author))
    return `${shown.join(", ")}${authors.length > MAX_AUTHORS ? ` and ${authors.length - MAX_AUTHORS} more` : ""}`
  }

  #approver(kind: string, body: JsonObject): string | null {
    if (kind === "waiver.granted") return this.#person(body["writer"])
    return body["approver"] === undefined ? null : this.#person(body["approver"])
  }

  #person(writer: unknown): string {
    const id = textOf(writer)
    const subject = this.#people.get(id)
    return subject === undefined ? id : `${subject} (${id})`
  }
}

const MAX_AUTHORS = 5

const changing: ReadonlySet<string> = new Set([
  "agent.suspended",
  "envelope.published",
  "envelope.withdrawn",
  "waiver.granted"
])

const summarized: ReadonlySet<string> = new Set([
  ...changing,
  "agent.activated",
  "agent.decommissioned",
  "agent.orphaned",
  "agent.owner_transferred",
  "agent.registered",
  "agent.updated",
  "capture.gap",
  "decision.settled",
  "decision.witnessed",
  "envelope.drafted",
  "evaluation.made",
  "part.erased",
  "principal.seen"
])

const ownerOf = (owner: unknown): string | null => {
  const [name, email] = [textOrNull(memberOf(owner, "owner_name")), textOrNull(memberOf(owner, "owner_email"))]
  return name === null ? email : email === null ? name : `${name} <${email}>`
}

const reasonOfWaiver = ({ parts }: ReplayRecord): string | null =>
  textOrNull(memberOf(readPart(parts.get("waiver")), "reason"))

/** Describes a change in the record's own terms, followed by the person's note. */
const noteOf = (kind: string, body: JsonObject, said: string | null): string | null => {
  const fact =
    kind === "envelope.published"
      ? `${textOf(body["change"])}, ${textOf(body["mode"])}`
      : kind === "agent.suspended"
        ? textOf(body["reason"])
        : kind === "waiver.granted"
          ? `until ${textOf(body["expires_at"])}`
          : null
  return fact === null || said === null ? (fact ?? said) : `${fact}: ${said}`
}

const firstOf = <A>(all: ReadonlyArray<A>): Listed<A> => ({
  listed: all.slice(0, MAX_LISTED),
  more: Math.max(0, all.length - MAX_LISTED)
})
