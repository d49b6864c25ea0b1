/**
 * State of agents, folded from the records up to a seq. Like the fold of replay, but it also tracks which facts are
 * unknown.
 */
import { type AgentDocument, erasedProfile } from "../agents/document.ts"
import { agentFolds, foldAgentRegistered } from "../agents/fold.ts"
import type { ExpectedDocument, PartContent, ReplayRecord } from "../records/record.ts"
import { ancestorsOf } from "../agents/ancestry.ts"
import type { KillTarget } from "../kill/document.ts"
import { type AgentReach, agentReach, reaches } from "../kill/reach.ts"
import { foldModel } from "../models/fold.ts"
import type { NamedModel } from "../models/names.ts"
import { modelOf } from "../provenance/fold.ts"
import { History } from "./past-states.ts"
import { serverSignals } from "./server-signals.ts"
import { madeAtMs } from "./may-act.ts"

/** An agent, folded from its records. */
export interface KnownAgent {
  readonly document: ExpectedDocument
  /** Seq of the last record that set its profile. */
  readonly profileSeq: number
  /** Values derived from the document, cached after their first use. */
  reported: ReportedAgent | null
}

/** Facts about an agent that evaluations read, valid until its next record. */
export interface ReportedAgent {
  readonly document: AgentDocument
  readonly madeMs: number
  readonly server: ReturnType<typeof serverSignals>
}

/**
 * Facts by which activations reach an agent. `isKnown`: none is withheld, or lies before the records here.
 */
export interface KnownReach {
  readonly reach: AgentReach
  readonly isKnown: boolean
}

/** The fold of agents. */
export class KnownAgents {
  readonly byId = new Map<string, KnownAgent>()
  readonly #past = new History<KnownAgent>()
  /** By agent: the names of its provenance of kind `model`; null stands for one that is not shown. */
  readonly #models = new Map<string, Array<{ readonly seq: number; readonly name: string | null }>>()
  /** By id. */
  readonly #registered = new Map<string, NamedModel>()

  /**
   * Earlier digests of an org unit, by its digest. An agent's unit never changes, so where its digest changes, both
   * digests are of one unit.
   */
  readonly #formerDigests = new Map<string, Set<string>>()

  /** The state of an agent after a record; null where there was none, undefined where it is unknown. */
  at(id: string, seq: number): KnownAgent | null | undefined {
    return this.#past.at(id, seq)
  }

  /** Adds the registration of a model, whose names never change. */
  modelRegistered(record: ReplayRecord): void {
    const { body, id } = foldModel(record)
    this.#registered.set(id, body as unknown as NamedModel)
  }

  /** Adds one record of an agent, in order. */
  fold(record: ReplayRecord): void {
    const id = String(record.body["agent_id"])
    // A part that is erased now existed when the records after it were written: until the record of its erasure it is
    // unknown, not empty.
    const reported: ReplayRecord = {
      ...record,
      parts: new Map(
        [...record.parts].map(([name, part]): readonly [string, PartContent] => [
          name,
          part.state === "erased" ? { state: "withheld" } : part
        ])
      )
    }
    const known = this.byId.get(id)
    const profileSeq = record.parts.has("profile") ? record.seq : (known?.profileSeq ?? -1)
    if (record.kind === "agent.registered")
      this.#put(id, record.seq, { document: foldAgentRegistered(reported), profileSeq, reported: null })
    if (record.kind === "agent.provenance_added" && record.body["kind"] === "model")
      this.#models.set(id, [...(this.#models.get(id) ?? []), { seq: record.seq, name: modelOf(record) }])
    const next = agentFolds.get(record.kind)
    if (known === undefined || next === undefined) return
    const document = next(known.document, reported)
    this.#digestChanged(known.document.body["orgUnitDigest"], document.body["orgUnitDigest"])
    this.#put(id, record.seq, { document, profileSeq, reported: null })
  }

  #put(id: string, seq: number, agent: KnownAgent): void {
    this.byId.set(id, agent)
    this.#past.add(id, seq, agent)
  }

  #digestChanged(before: unknown, after: unknown): void {
    if (typeof before !== "string" || typeof after !== "string" || before === after) return
    const known = this.#formerDigests.get(after) ?? new Set()
    for (const one of [before, ...(this.#formerDigests.get(before) ?? [])]) known.add(one)
    this.#formerDigests.set(after, known)
  }

  /** See {@link KnownReach}. `seq`: the state after that record; without it, the current one. */
  reachOf(id: string, seq = Number.POSITIVE_INFINITY): KnownReach {
    const agent = seq === Number.POSITIVE_INFINITY ? this.byId.get(id) : (this.at(id, seq) ?? undefined)
    const body = (agent?.document.body ?? {}) as unknown as AgentDocument
    const ancestors = ancestorsOf(id, (one) => this.#parentOf(one))
    const models = (this.#models.get(id) ?? []).flatMap((model) => (model.seq <= seq ? [model.name] : []))
    const isHidden = body.sealedModelIds === undefined && agent?.document.unknown.includes("modelIds") !== false
    return {
      reach: agentReach(
        id,
        isHidden ? { ...body, modelIds: [] } : body,
        ancestors,
        models.filter((name) => name !== null),
        this.#registered,
        [...(this.#formerDigests.get(body.orgUnitDigest ?? "") ?? [])]
      ),
      isKnown:
        !isHidden &&
        body.orgUnitDigest !== undefined &&
        !models.includes(null) &&
        [...(isHidden ? [] : (body.sealedModelIds ?? body.modelIds ?? [])), ...models].every((name) =>
          this.#resolves(name)
        ) &&
        [id, ...ancestors].every((one) => this.byId.has(one))
    }
  }

  /** The digest of an agent's org unit and its earlier digests; null where it is not known. */
  unitDigestsOf(id: string): ReadonlyArray<string> | null {
    const digest = this.byId.get(id)?.document.body["orgUnitDigest"]
    return typeof digest === "string" ? [digest, ...(this.#formerDigests.get(digest) ?? [])] : null
  }

  /** True when a target reached an agent after this record or a later one; null: unknown. */
  wasReached(id: string, target: KillTarget, seq: number): boolean | null {
    const seqs = this.#past.since(id, seq)
    return seqs === null ? null : seqs.some((one) => reaches(target, this.reachOf(id, one).reach) !== null)
  }

  /** An id of a model that is registered in no record here may belong to any name. */
  #resolves(name: string | null): boolean {
    return name === null || !name.startsWith("mdl_") || this.#registered.has(name)
  }

  #parentOf(id: string): string | null {
    const parent = this.byId.get(id)?.document.body["parentAgentId"]
    return typeof parent === "string" ? parent : null
  }

  /** Removes the profile that a record set. */
  erase(seq: number): void {
    for (const [id, { document, profileSeq }] of this.byId) {
      if (profileSeq !== seq) continue
      const profile = erasedProfile(id)
      this.byId.set(id, {
        profileSeq,
        reported: null,
        document: {
          ...document,
          body: { ...document.body, ...profile },
          unknown: document.unknown.filter((member) => !(member in profile))
        }
      })
    }
  }
}

/**
 * Facts about an agent that evaluations read. Only the presence of an owner matters, not who it is. Spec: decision
 * 0026.
 */
export const reportedOf = (id: string, agent: KnownAgent): ReportedAgent => {
  if (agent.reported !== null) return agent.reported
  const { body, unknown } = agent.document
  const isOwned = unknown.includes("ownerName") && body["ownerComplete"] !== false
  const document = { ...body, ...(isOwned ? { ownerName: "", ownerEmail: "" } : {}) } as unknown as AgentDocument
  agent.reported = { document, madeMs: madeAtMs(id), server: serverSignals(document) }
  return agent.reported
}
