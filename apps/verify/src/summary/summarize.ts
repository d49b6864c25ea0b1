/** Collects a summary while records stream by. Memory does not grow with the pack. */
import { envelopeSentences, readEnvelope } from "@flyball/envelope"
import { formatInstant, type JsonObject, toHex } from "@flyball/evidence"
import type { ReplayRecord } from "@flyball/rules"
import { NOT_STATED } from "../assurance.ts"
import { BoundedMap, Counter, FirstOf, memberOf, numberOf, readPart, Recent, textOf, textOrNull } from "./bounded.ts"
import {
  type Earlier,
  type Names,
  ownerOf,
  type ReportRow,
  reportRow,
  type RowInput,
  type SectionName,
  sections,
  subjectOf
} from "./report-rows.ts"
import { RuleReasons } from "./rule-reasons.ts"
import { Unfollowed } from "./unfollowed.ts"
import {
  type ActSummary,
  type Counted,
  type DenialSummary,
  type Listed,
  MAX_LISTED,
  type RulesSummary,
  type SectionSummary,
  type Source,
  type Summary
} from "./summary.ts"

/** A record of a pack, for a table: its act, with members of decisions and evaluations. */
export interface RecordEntry extends ActSummary {
  readonly section: SectionName
  readonly agent_id: string
  readonly action: string
  readonly status: string
  readonly rule: string
}

interface Agent {
  readonly id: string
  name: string | null
  owner: string | null
  tier: string | null
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
  readonly #rules = new FirstOf<RulesSummary>()
  readonly #sections = new Map(
    (Object.keys(sections) as ReadonlyArray<SectionName>).map((name) => [
      name,
      { records: 0, kinds: new Counter(), acts: new FirstOf<ActSummary>() }
    ])
  )
  /** Records that later ones answer, by the id that these name; and who minted which key. */
  readonly #earlier = new Recent<Earlier>()
  readonly #minters = new Recent<string>()
  readonly #names: Names = {
    agent: (id) => named(textOf(id), this.#agents.get(textOf(id))?.name),
    envelope: (id) => named(textOf(id), this.#envelopes.get(textOf(id))),
    person: (id) => named(textOf(id), this.#people.get(textOf(id))),
    earlier: (id) => this.#earlier.get(textOf(id)) ?? null
  }
  readonly #unfollowed = new Unfollowed()
  readonly #sha256: (bytes: Uint8Array) => Uint8Array
  readonly #onRecord: ((entry: RecordEntry) => void) | undefined
  #firstMs: number | null = null
  #lastMs = 0
  #missing = 0
  #untracked = 0
  #untrackedDenials = 0
  #untrackedDecisions = 0
  #untrackedEvaluations = 0
  #byKeyMinter = 0
  #denied = 0
  #sentences = 0

  constructor(sha256: (bytes: Uint8Array) => Uint8Array, onRecord?: (entry: RecordEntry) => void) {
    this.#sha256 = sha256
    this.#onRecord = onRecord
  }

  /** Unit: `atMs`, milliseconds since 1970 UTC. */
  take(record: ReplayRecord, atMs: number): void {
    const { body, kind, parts, seq } = record
    this.#firstMs ??= atMs
    this.#lastMs = atMs
    const agent = typeof body["agent_id"] === "string" ? this.#agent(body["agent_id"]) : null
    const tierBefore = agent?.tier ?? null
    this.#learn(record, agent)
    this.#count(kind, body, agent)
    this.#unfollowed.take(record, atMs)
    const row = reportRow(kind)
    const section = this.#sections.get(row.section)!
    section.records++
    section.kinds.add(kind)
    const answered = row.answers?.(body)
    const input: RowInput = {
      body,
      part: (name) => readPart(parts.get(name)),
      earlier: answered === undefined ? null : this.#names.earlier(answered),
      tierBefore,
      names: this.#names
    }
    const begun = row.begins?.(body)
    if (begun !== undefined)
      this.#earlier.set(textOf(begun), { atMs, about: (row.about ?? subjectOf)(input), by: body["writer"] })
    const minted = this.#approvesOwnKey(row, input)
    if (minted) this.#byKeyMinter++
    const act = (): ActSummary => this.#act(row, input, { seq, atMs, minted })
    if (row.listed === true) section.acts.add(act)
    this.#onRecord?.({
      ...act(),
      section: row.section,
      agent_id: optional(body["agent_id"]),
      action: optional(body["action"]),
      status: optional(body["status"] ?? body["outcome"]),
      rule: optional(body["matched_rule"])
    })
  }

  report(records: number, source: Source): Summary {
    const agents = this.#agents
      .values()
      .toSorted((a, b) => b.decisions + b.evaluations - a.decisions - a.evaluations || (a.id < b.id ? -1 : 1))
      .map(({ decisions, evaluations, id, name, owner }) => ({ agent_id: id, name, owner, decisions, evaluations }))
    const denials = this.#denials.values().toSorted((a, b) => b.count - a.count || (a.rule < b.rule ? -1 : 1))
    const beyond = agents.slice(MAX_LISTED)
    const summary: Omit<Summary, "sums"> = {
      source,
      period: this.#firstMs === null ? null : { from: formatInstant(this.#firstMs), to: formatInstant(this.#lastMs) },
      records,
      agents: {
        ...firstOf(agents),
        more_decisions: beyond.reduce((sum, { decisions }) => sum + decisions, this.#untrackedDecisions),
        more_evaluations: beyond.reduce((sum, { evaluations }) => sum + evaluations, this.#untrackedEvaluations)
      },
      untracked_agent_records: this.#untracked,
      decisions: { witnessed: this.#witnessed.counted(), settled: this.#settled.counted() },
      capture: {
        mode: this.#mode.counted(),
        decided_by: this.#decidedBy.counted(),
        claimed: this.#claimed.counted()
      },
      verdicts: this.#verdicts.counted(),
      verdicts_on_trial: this.#onTrial.counted(),
      denials: {
        ...firstOf(denials),
        total: this.#denied,
        more_denials: denials.slice(MAX_LISTED).reduce((sum, { count }) => sum + count, 0)
      },
      untracked_denials: this.#untrackedDenials,
      rules: this.#rules.listed(),
      sections: Object.fromEntries(
        [...this.#sections].map(([name, { acts, kinds, records: held }]) => [
          name,
          { records: held, kinds: kinds.counted(), acts: acts.listed() }
        ])
      ) as { readonly [name in SectionName]: SectionSummary },
      missing_decisions: this.#missing,
      unfollowed: this.#unfollowed.listed(),
      approvals_by_key_minter: this.#byKeyMinter
    }
    return { ...summary, sums: sumsOf(summary) }
  }

  #count(kind: string, body: JsonObject, agent: Agent | null): void {
    switch (kind) {
      case "decision.witnessed":
        if (agent !== null) agent.decisions++
        else this.#untrackedDecisions++
        this.#witnessed.add(textOf(body["status"]))
        this.#mode.add(body["mode"] === undefined ? NOT_STATED : textOf(body["mode"]))
        this.#decidedBy.add(body["decided_by"] === undefined ? NOT_STATED : textOf(body["decided_by"]))
        this.#claimed.add(body["capture"] === undefined ? NOT_STATED : textOf(body["capture"]))
        return
      case "decision.settled":
        return this.#settled.add(textOf(body["status"]))
      case "evaluation.made":
        if (agent !== null) agent.evaluations++
        else this.#untrackedEvaluations++
        return this.#evaluation(body)
      case "capture.gap":
        this.#missing += numberOf(body["count"])
        return
      case "ingest_key.minted":
      case "platform_key.minted":
        this.#minters.set(textOf(body["key_id"]), textOf(body["writer"]))
    }
  }

  #act(
    row: ReportRow,
    input: RowInput,
    { atMs, minted, seq }: { readonly seq: number; readonly atMs: number; readonly minted: boolean }
  ): ActSummary {
    const { earlier, body, part } = input
    const by = (row.by?.(input) ?? [body["writer"]]).filter((id) => id !== undefined)
    const shown = by.slice(0, MAX_AUTHORS).map(this.#names.person)
    const approver = row.approver?.(input)
    const fact = row.note?.(input) ?? null
    const reason = textOrNull(part("reason"))
    return {
      seq,
      at: formatInstant(atMs),
      kind: textOf(row.kind),
      about: (row.about ?? subjectOf)(input),
      by: `${shown.join(", ")}${by.length > MAX_AUTHORS ? ` and ${by.length - MAX_AUTHORS} more` : ""}`,
      approved_by: approver === undefined ? null : this.#names.person(approver),
      after_ms: earlier === null ? null : atMs - earlier.atMs,
      minted_key: minted,
      note: fact === null || reason === null ? (fact ?? reason) : `${fact}: ${reason}`
    }
  }

  /** True where the approver minted the ingest key whose request was approved. */
  #approvesOwnKey(row: ReportRow, input: RowInput): boolean {
    const [approver, requester] = [row.approver?.(input), row.requester?.(input)]
    if (approver === undefined || requester === undefined) return false
    return this.#minters.get(textOf(requester)) === textOf(approver)
  }

  /** Names, owners, people and the reasons of rules, from disclosed parts. */
  #learn({ body, kind, parts, seq }: ReplayRecord, agent: Agent | null): void {
    if (agent !== null && (kind === "agent.registered" || kind === "agent.updated")) {
      agent.tier = textOf(body["autonomy_tier"])
      agent.name = textOrNull(memberOf(readPart(parts.get("profile")), "name")) ?? agent.name
    }
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
    if (envelope?.state === "present") {
      const text = readPart(envelope)
      this.#reasons.add(toHex(this.#sha256(envelope.bytes)), text)
      this.#rules.add(() => ({
        seq,
        envelope: subjectOf({ body, names: this.#names }),
        sentences: this.#sentencesOf(text)
      }))
    }
  }

  #sentencesOf(text: unknown): ReadonlyArray<string> {
    const { envelope } = readEnvelope(text)
    if (envelope === null) return ["Its text cannot be read by this version."]
    const all = envelopeSentences(envelope).trimEnd().split("\n").map(textOf)
    const shown = all.slice(0, Math.max(0, MAX_SENTENCES - this.#sentences))
    this.#sentences += shown.length
    return shown.length === all.length ? shown : [...shown, `and ${all.length - shown.length} more sentences.`]
  }

  #agent(agentId: string): Agent | null {
    const id = textOf(agentId)
    const known = this.#agents.get(id)
    if (known !== undefined) return known
    const agent: Agent = { id, name: null, owner: null, tier: null, decisions: 0, evaluations: 0 }
    if (this.#agents.set(id, agent)) return agent
    this.#untracked++
    return null
  }

  #evaluation(body: JsonObject): void {
    const outcome = textOf(body["outcome"])
    if (body["mode"] === "shadow") return this.#onTrial.add(outcome)
    this.#verdicts.add(outcome)
    if (outcome !== "deny" && outcome !== "halt") return
    this.#denied++
    const rule = textOf(body["matched_rule"])
    const reason = this.#reasons.of(rule, body["layers"])
    const key = JSON.stringify([rule, outcome, reason])
    const known = this.#denials.get(key)
    if (known !== undefined) known.count++
    else if (!this.#denials.set(key, { rule, outcome, reason, count: 1 })) this.#untrackedDenials++
  }
}

/** Authors that an entry names. */
const MAX_AUTHORS = 5
/** Sentences of rules in one report: some three hundred kilobytes. */
const MAX_SENTENCES = 1_000

const named = (id: string, name: string | null | undefined): string =>
  name === null || name === undefined ? id : `${name} (${id})`

const optional = (value: unknown): string => (value === undefined ? "" : textOf(value))

/** The totals of a report with the parts that must add up to them. */
const sumsOf = (summary: Omit<Summary, "sums">): Summary["sums"] => {
  const { agents, decisions, denials, verdicts, verdicts_on_trial: onTrial } = summary
  const kinds = Object.values(summary.sections).flatMap(({ kinds: counted }) => Object.entries(counted))
  const records = (kind: string): number => kinds.find(([name]) => name === kind)?.[1] ?? 0
  const by = (member: "decisions" | "evaluations", more: number): Counted => ({
    "of the agents listed": agents.listed.reduce((sum, agent) => sum + agent[member], 0),
    "of further agents": more
  })
  return [
    {
      of: "records",
      total: summary.records,
      parts: Object.fromEntries(
        Object.entries(summary.sections).map(([name, { records: held }]) => [`in ${name}`, held])
      )
    },
    { of: "decisions by status", total: records("decision.witnessed"), parts: decisions.witnessed },
    { of: "settlements by status", total: records("decision.settled"), parts: decisions.settled },
    { of: "decisions by agent", total: records("decision.witnessed"), parts: by("decisions", agents.more_decisions) },
    {
      of: "evaluations by outcome",
      total: records("evaluation.made"),
      parts: { binding: total(verdicts), "on trial": total(onTrial) }
    },
    {
      of: "evaluations by agent",
      total: records("evaluation.made"),
      parts: by("evaluations", agents.more_evaluations)
    },
    {
      of: "denials by rule",
      total: denials.total,
      parts: {
        "by the rules listed": denials.listed.reduce((sum, { count }) => sum + count, 0),
        "by further rules": denials.more_denials + summary.untracked_denials
      }
    }
  ]
}

const total = (counted: Counted): number => Object.values(counted).reduce((sum, number) => sum + number, 0)

const firstOf = <A>(all: ReadonlyArray<A>): Listed<A> => ({
  listed: all.slice(0, MAX_LISTED),
  more: Math.max(0, all.length - MAX_LISTED)
})
