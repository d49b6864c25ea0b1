/** Envelopes: how far agents may go alone, from draft to withdrawal. Spec: document 1 part 5; api.md "bounded autonomy"; envelopes.md 3.1 to 3.7; decision 0025. */
import {
  AgentNotFound, type BacktestIn, type BacktestOut, detailItem, type DiffOut, type DiffQuery, type EnvelopeCreate, EnvelopeExists, type EnvelopeListQuery, type EnvelopeNotFound, type EnvelopeNotInForce, EnvelopeNotPublishable, type EnvelopeOut,
  EnvelopeRevisionConflict, type EnvelopeUpdate, EnvelopeVersionNotFound, type EnvelopeVersionOut, InvalidInput, type LintIn, type LintOut, NothingToPublish, OrgUnitNotAllowed, type PublishIn, SecondApproverRequired, type WithdrawIn
} from "@flyball/contract"
import { NotCanonical } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"
import { AGENTS, storedAgent } from "../agents/document.ts"
import { readAgent } from "../agents/read-agent.ts"
import { EvidenceCrypto } from "../chain/crypto.ts"
import { commitPlanned } from "../commit-planned.ts"
import { newId } from "../ids.ts"
import type { JsonMap } from "../replay/rules/types.ts"
import { covers, everyUnit, type Scope } from "../scope.ts"
import { type JsonObject, type ReadFault, Storage } from "../storage/port.ts"
import type { Writer } from "../writer.ts"
import { compare, compiledOf, diffOut, fit, type Fitted, lintRead, type Surroundings, test } from "./examine.ts"
import { type History, readHistory } from "./history.ts"
import { inForceReader } from "./in-force.ts"
import { agentTarget, ENVELOPE_VERSIONS, ENVELOPES, unitTarget, type VersionDocument, versionId } from "./life/rules/document.ts"
import { type Draft, planBegin, planDraft, planPublish, planWithdraw } from "./plan-life.ts"
import { beyondOutcomes } from "./rules/analysis/beyond-outcomes.ts"
import { publicationFindings } from "./rules/analysis/publication.ts"
import { envelopeDigest } from "./rules/digest.ts"
import { envelopeOut, nextEpoch, readStoredEnvelope, storedEnvelope, type StoredEnvelope, unitOf, versionOut } from "./stored-envelope.ts"

/** Envelopes. What lies outside `scope` is answered as if it were not there. */
export interface EnvelopesApi {
  /** Begins an envelope for an agent or an org unit, as a draft. Each has one. */
  readonly create: (input: EnvelopeCreate, writer: Writer, scope?: Scope) => Effect.Effect<EnvelopeOut, AgentNotFound | EnvelopeExists | InvalidInput | OrgUnitNotAllowed | ReadFault>
  /** Writes the draft anew. */
  readonly update: (id: string, input: EnvelopeUpdate, writer: Writer, scope?: Scope) => Effect.Effect<EnvelopeOut, EnvelopeNotFound | EnvelopeRevisionConflict | InvalidInput | ReadFault>
  readonly get: (id: string, scope?: Scope) => Effect.Effect<EnvelopeOut, EnvelopeNotFound | ReadFault>
  /** Oldest first. */
  readonly list: (query: EnvelopeListQuery, scope?: Scope) => Effect.Effect<ReadonlyArray<EnvelopeOut>, ReadFault>
  /** Says everything that is wrong or odd about the draft, or about another text in its place. */
  readonly lint: (id: string, input: LintIn, scope?: Scope) => Effect.Effect<LintOut, EnvelopeNotFound | NothingToPublish | ReadFault>
  /** Puts the draft in force, or on trial, if it has no errors and whoever does it may. The backtest is run and kept. */
  readonly publish: (id: string, input: PublishIn, writer: Writer, scope?: Scope) =>
    Effect.Effect<EnvelopeVersionOut, EnvelopeRevisionConflict | EnvelopeNotFound | EnvelopeNotPublishable | NothingToPublish | SecondApproverRequired | ReadFault>
  readonly withdraw: (id: string, input: WithdrawIn, writer: Writer, scope?: Scope) => Effect.Effect<EnvelopeOut, EnvelopeNotFound | EnvelopeNotInForce | ReadFault>
  /** Oldest first. */
  readonly versions: (id: string, scope?: Scope) => Effect.Effect<ReadonlyArray<EnvelopeVersionOut>, EnvelopeNotFound | ReadFault>
  readonly version: (id: string, version: number, scope?: Scope) => Effect.Effect<EnvelopeVersionOut, EnvelopeNotFound | EnvelopeVersionNotFound | ReadFault>
  /** What one version changes against another. */
  readonly diff: (id: string, query: DiffQuery, scope?: Scope) => Effect.Effect<DiffOut, EnvelopeNotFound | EnvelopeNotPublishable | EnvelopeVersionNotFound | NothingToPublish | ReadFault>
  /** What recorded evaluations would come to under the draft. */
  readonly backtest: (id: string, input: BacktestIn, scope?: Scope) => Effect.Effect<BacktestOut, EnvelopeNotFound | EnvelopeNotPublishable | NothingToPublish | ReadFault>
}

/** Documents read at a time. */
const PAGE = 500

/** Envelopes. */
export class Envelopes extends Context.Service<Envelopes, EnvelopesApi>()("flyball/core/Envelopes") {
  static readonly layer: Layer.Layer<Envelopes, never, Storage> = Layer.effect(Envelopes, Effect.gen(function*() {
    const storage = yield* Storage
    const crypto = yield* EvidenceCrypto
    const inForce = inForceReader(storage)

    const draftOf = (json: { readonly [name: string]: unknown }): Effect.Effect<Draft, InvalidInput> => Effect.suspend(() => {
      try {
        return Effect.succeed({ json: json as JsonMap, digest: envelopeDigest(json, (bytes) => crypto.sha256(bytes)) })
      } catch (error) {
        if (error instanceof NotCanonical) return Effect.fail(new InvalidInput({ detail: [detailItem(["body", "envelope"], "value_error", error.message)] }))
        throw error
      }
    })

    const all = Effect.fnUntraced(function*<A>(collection: string, of: string, key: string, map: (body: JsonObject, id: string) => A) {
      return (yield* storage.find(collection, of, key)).map(({ body, id }) => map(body, id))
    })

    /** The agents that an envelope is for. */
    const agentsOf = Effect.fnUntraced(function*({ body: { agentId, orgUnit } }: StoredEnvelope) {
      if (agentId !== null) {
        const agent = yield* storage.get(AGENTS, agentId)
        return agent === null ? [] : [storedAgent(agent)]
      }
      return orgUnit === null ? [] : (yield* storage.find(AGENTS, "org_unit", orgUnit)).map(storedAgent)
    })

    const surroundingsOf = Effect.fnUntraced(function*(stored: StoredEnvelope): Effect.fn.Return<Surroundings, ReadFault> {
      const agents = yield* agentsOf(stored)
      const tier = Math.max(0, ...agents.map(({ body }) => Number(body.autonomyTier.slice(1))))
      const { ms } = yield* storage.asOf
      if (stored.body.agentId !== null) {
        const orgUnit = agents[0]?.body.orgUnit ?? null
        const unit = orgUnit === null ? null : yield* inForce.liveOf(unitTarget(orgUnit), ms)
        return { outer: unit === null ? [] : [unit], inner: [], tier }
      }
      const inner = []
      for (const { id } of agents) inner.push((yield* inForce.liveOf(agentTarget(id), ms)) ?? [])
      return { outer: [], inner: inner.flat(), tier }
    })

    /** What binds those it is for now, itself included. Null: nothing, and everything is denied. */
    const before = Effect.fnUntraced(function*(stored: StoredEnvelope, { outer }: Surroundings) {
      if (stored.body.withdrawn) return null
      const own = stored.body.live === null ? null : yield* inForce.layer(stored.id, stored.body.live, [])
      return compiledOf([...outer, ...(own === null ? [] : [own])])
    })

    const historyOf = Effect.fnUntraced(function*(stored: StoredEnvelope, range: Pick<BacktestIn, "from_seq" | "to_seq"> = {}): Effect.fn.Return<History, ReadFault> {
      const agentIds = new Set((yield* agentsOf(stored)).map(({ id }) => id))
      const { seq } = yield* storage.asOf
      return yield* readHistory(storage, inForce, { agentIds, fromSeq: range.from_seq ?? 0, toSeq: Math.min(range.to_seq ?? seq, seq) })
    })

    const versionDocument = Effect.fnUntraced(function*(id: string, version: number) {
      const document = yield* storage.get(ENVELOPE_VERSIONS, versionId(id, version))
      return document === null ? yield* new EnvelopeVersionNotFound({ version }) : document.body as VersionDocument
    })

    /** What would be published: the draft, or what is on trial. */
    const candidateOf = Effect.fnUntraced(function*({ body, id }: StoredEnvelope, mode: "enforced" | "shadow") {
      if (body.draft !== null && body.draft.envelope !== null) return { json: body.draft.envelope, digest: body.draft.digest, authors: body.draft.authors }
      const trial = mode === "enforced" && body.shadow !== null ? (yield* storage.get(ENVELOPE_VERSIONS, versionId(id, body.shadow)))?.body as VersionDocument | undefined : undefined
      return trial === undefined || trial.envelope === null ? yield* new NothingToPublish() : { json: trial.envelope, digest: trial.digest, authors: trial.authors }
    })

    /** An envelope's JSON made ready, or all that is wrong with it. */
    const fitted = (json: unknown, surroundings: Surroundings): Effect.Effect<Fitted, EnvelopeNotPublishable> => {
      const reading = fit(json, surroundings)
      return reading.fitted === null ? Effect.fail(new EnvelopeNotPublishable({ findings: lintRead(reading, surroundings, null, []).out.findings })) : Effect.succeed(reading.fitted)
    }

    return Envelopes.of({
      create: (input, writer, scope = everyUnit) => commitPlanned(Effect.gen(function*() {
        const { agent_id = null, org_unit = null } = input
        if ((agent_id === null) === (org_unit === null)) return yield* new InvalidInput({ detail: [detailItem(["body", "agent_id"], "value_error", "Expected exactly one of agent_id and org_unit")] })
        const agent = agent_id === null ? null : yield* readAgent(storage, agent_id, scope)
        if (agent?.body.status === "decommissioned") return yield* new AgentNotFound({ agentId: agent_id })
        if (org_unit !== null && !covers(scope, org_unit)) return yield* new OrgUnitNotAllowed()
        const target = agent_id === null ? unitTarget(org_unit!) : agentTarget(agent_id)
        const [taken] = yield* storage.find(ENVELOPES, "target", target)
        if (taken !== undefined) return yield* new EnvelopeExists({ envelopeId: taken.id })
        const id = yield* newId("env")
        const { change, envelope } = planBegin(id, { agentId: agent_id, orgUnit: org_unit, name: input.name, target }, yield* draftOf(input.envelope), writer)
        yield* storage.commit(change)
        return envelopeOut({ id, version: 1, body: envelope })
      })),
      update: (id, input, writer, scope = everyUnit) => commitPlanned(Effect.gen(function*() {
        const stored = yield* readStoredEnvelope(storage, id, scope)
        const { if_revision = null } = input
        if (if_revision !== null && if_revision !== stored.version) return yield* new EnvelopeRevisionConflict({ revision: stored.version })
        const { change, envelope } = planDraft(stored, yield* draftOf(input.envelope), writer)
        yield* storage.commit(change)
        return envelopeOut({ id, version: stored.version + 1, body: envelope })
      })),
      get: (id, scope = everyUnit) => Effect.map(readStoredEnvelope(storage, id, scope), envelopeOut),
      list: Effect.fnUntraced(function*(query, scope = everyUnit) {
        const found: Array<EnvelopeOut> = []
        const { agent_id, limit = Number.POSITIVE_INFINITY } = query
        for (let after = query.after; found.length < limit;) {
          const page = agent_id !== undefined ? yield* storage.find(ENVELOPES, "agent_id", agent_id) : yield* storage.list(ENVELOPES, after === undefined ? { limit: PAGE } : { after, limit: PAGE })
          for (const document of page) {
            const stored = storedEnvelope(document)
            if (covers(scope, yield* unitOf(storage, stored.body))) found.push(envelopeOut(stored))
          }
          if (agent_id !== undefined || page.length < PAGE) break
          after = page.at(-1)!.id
        }
        return found.slice(0, limit)
      }),
      lint: Effect.fnUntraced(function*(id, input, scope = everyUnit) {
        const stored = yield* readStoredEnvelope(storage, id, scope)
        const json = input.envelope ?? (yield* candidateOf(stored, "enforced")).json
        const surroundings = yield* surroundingsOf(stored)
        return lintRead(fit(json, surroundings), surroundings, yield* historyOf(stored), input.acknowledge_partial ?? []).out
      }),
      publish: (id, input, writer, scope = everyUnit) => commitPlanned(Effect.gen(function*() {
        const mode = input.mode ?? "enforced"
        // Read first: whoever changes what is in force from here on makes the commit conflict.
        const epoch = yield* nextEpoch(storage)
        const stored = yield* readStoredEnvelope(storage, id, scope)
        // Whoever read one text must not approve another.
        if (input.if_revision !== undefined && input.if_revision !== null && input.if_revision !== stored.version) return yield* new EnvelopeRevisionConflict({ revision: stored.version })
        const candidate = yield* candidateOf(stored, mode)
        const surroundings = yield* surroundingsOf(stored)
        const reading = fit(candidate.json, surroundings)
        const history = yield* historyOf(stored)
        const { out: lint, publishable } = lintRead(reading, surroundings, history, input.acknowledge_partial ?? [])
        if (!publishable || reading.fitted === null) return yield* new EnvelopeNotPublishable({ findings: lint.findings })
        const own = stored.body.withdrawn || stored.body.live === null ? null : yield* inForce.layer(id, stored.body.live, [])
        const report = beyondOutcomes(compare(yield* before(stored, surroundings), reading.fitted, history), own?.envelope ?? null, reading.fitted.envelope)
        const secondApprover = !candidate.authors.includes(writer.id)
        // The backtest is run here, so only the second person can be missing. A trial binds nobody, so anybody may begin one.
        if (mode === "enforced" && publicationFindings(report, { secondApprover, backtest: true }).length > 0) return yield* new SecondApproverRequired({ change: report.change, sentence: report.sentence })
        const { change, envelope } = planPublish(crypto, stored, {
          candidate, mode, change: report.change, lint: lint as unknown as JsonObject, backtest: test(reading.fitted, history, "recorded") as unknown as JsonObject,
          diff: diffOut(stored.body.withdrawn ? 0 : stored.body.live ?? 0, stored.body.latest + 1, report) as unknown as JsonObject
        }, writer, epoch)
        yield* storage.commit(change)
        return versionOut(envelope, yield* Effect.orDie(versionDocument(id, envelope.latest)))
      })),
      withdraw: (id, { reason = null }, writer, scope = everyUnit) => commitPlanned(Effect.gen(function*() {
        const epoch = yield* nextEpoch(storage)
        const stored = yield* readStoredEnvelope(storage, id, scope)
        const { change, envelope } = yield* Effect.fromResult(planWithdraw(stored, reason, writer, epoch))
        yield* storage.commit(change)
        return envelopeOut({ id, version: stored.version + 1, body: envelope })
      })),
      versions: Effect.fnUntraced(function*(id, scope = everyUnit) {
        const stored = yield* readStoredEnvelope(storage, id, scope)
        return yield* all(ENVELOPE_VERSIONS, "envelope_id", id, (body) => versionOut(stored.body, body as VersionDocument))
      }),
      version: Effect.fnUntraced(function*(id, version, scope = everyUnit) {
        const stored = yield* readStoredEnvelope(storage, id, scope)
        return versionOut(stored.body, yield* versionDocument(id, version))
      }),
      diff: Effect.fnUntraced(function*(id, { from, to = 0 }, scope = everyUnit) {
        const stored = yield* readStoredEnvelope(storage, id, scope)
        const surroundings = yield* surroundingsOf(stored)
        const json = to === 0 ? (yield* candidateOf(stored, "enforced")).json : (yield* versionDocument(id, to)).envelope
        const since = from ?? (stored.body.withdrawn ? 0 : stored.body.live ?? 0)
        if (since > 0) yield* versionDocument(id, since)
        const layer = since === 0 ? null : yield* inForce.layer(id, since, [])
        const earlier = since === 0 ? compiledOf(stored.body.withdrawn ? [] : surroundings.outer) : compiledOf([...surroundings.outer, ...(layer === null ? [] : [layer])])
        const later = yield* fitted(json, surroundings)
        return diffOut(since, to, beyondOutcomes(compare(earlier, later, yield* historyOf(stored)), layer?.envelope ?? null, later.envelope))
      }),
      backtest: Effect.fnUntraced(function*(id, input, scope = everyUnit) {
        const stored = yield* readStoredEnvelope(storage, id, scope)
        const ready = yield* fitted((yield* candidateOf(stored, "enforced")).json, yield* surroundingsOf(stored))
        return test(ready, yield* historyOf(stored, input), input.meters ?? "recorded")
      })
    })
  }))
}
