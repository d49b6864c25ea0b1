/**
 * Envelopes: how far agents may go alone, from draft to withdrawal. Spec: document 1 part 5; api.md "bounded autonomy";
 * envelopes.md 3.1 to 3.7; decision 0025.
 */
import {
  AgentNotFound,
  type BacktestIn,
  type BacktestOut,
  detailItem,
  type DiffOut,
  type DiffQuery,
  type EnvelopeCreate,
  EnvelopeExists,
  type EnvelopeListQuery,
  type EnvelopeNotFound,
  type EnvelopeNotInForce,
  EnvelopeNotPublishable,
  type EnvelopeOut,
  EnvelopeRevisionConflict,
  type EnvelopeUpdate,
  EnvelopeVersionNotFound,
  type EnvelopeVersionOut,
  type ExaminationQueueFull,
  InvalidInput,
  type LintIn,
  type LintOut,
  NothingToPublish,
  OrgUnitNotAllowed,
  type PublishIn,
  SecondApproverRequired,
  type WithdrawIn
} from "@flyball/contract"
import { canonicalBytes, fromUtf8, NotCanonical } from "@flyball/evidence"
import { Context, Effect, Layer, pipe } from "effect"
import { TrustsCanonicalRoles } from "../../registry/access-mapping/trusts-canonical-roles.ts"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import {
  agentTarget,
  canBeLowered,
  hasAttestedDrill,
  ENVELOPE_VERSIONS,
  ENVELOPES,
  unitTarget,
  type VersionDocument,
  versionId,
  type JsonMap
} from "@flyball/rules"
import { tierLowered } from "../../registry/agents/tier-lowered.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { newId } from "../../foundation/ids.ts"
import { ERASED_AUTHOR, secondPerson } from "../../registry/principals/second-person.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import type { EventDraft } from "../../storage/outbox/outbox.ts"
import { type JsonObject, type ReadFault, Storage } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { diffOut } from "./examination/examine.ts"
import { Examiner } from "./examination/examiner.ts"
import { ExaminerQueue, type InTurn, type LaneName } from "./examination/examiner-queue.ts"
import { historyJson, type HistoryJson } from "./examination/history-json.ts"
import { type MeterUnit, meterUnits } from "./examination/meter-units.ts"
import type { LayerText, Surroundings } from "./examination/questions.ts"
import { readHistory } from "./history.ts"
import { inForceReader } from "./in-force.ts"
import { lintSurroundings } from "./lint-surroundings.ts"
import { type Draft, planBegin, planDraft, saysAlready } from "./plan-draft.ts"
import { planPublish } from "./plan-publish.ts"
import { planWithdraw } from "./plan-withdraw.ts"
import { MAX_ENVELOPE_BYTES, MAX_ENVELOPE_DEPTH, publicationFindings } from "@flyball/envelope"
import {
  envelopeOut,
  nextEpoch,
  readStoredEnvelope,
  storedEnvelope,
  type StoredEnvelope,
  unitOf,
  versionOut
} from "./stored-envelope.ts"

/** Operations on envelopes. Objects outside `scope` are answered as not found. Spec: `envelope/1`; decision 0025. */
export interface EnvelopesApi {
  /** Begins an envelope for an agent or an org unit, as a draft. Each has one. */
  readonly create: (
    input: EnvelopeCreate,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<EnvelopeOut, AgentNotFound | EnvelopeExists | InvalidInput | OrgUnitNotAllowed | ReadFault>
  /** Writes the draft again. */
  readonly update: (
    id: string,
    input: EnvelopeUpdate,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<EnvelopeOut, EnvelopeNotFound | EnvelopeRevisionConflict | InvalidInput | ReadFault>
  readonly get: (id: string, scope?: Scope) => Effect.Effect<EnvelopeOut, EnvelopeNotFound | ReadFault>
  /** Oldest first. */
  readonly list: (query: EnvelopeListQuery, scope?: Scope) => Effect.Effect<ReadonlyArray<EnvelopeOut>, ReadFault>
  /**
   * Reports every error and warning of the draft, or of another text in its place.
   *
   * `asker` names who asks, here and below: each has a bounded number of questions under way, and they take turns.
   * Callers that are not named count as one.
   */
  readonly lint: (
    id: string,
    input: LintIn,
    scope?: Scope,
    asker?: string
  ) => Effect.Effect<LintOut, EnvelopeNotFound | ExaminationQueueFull | NothingToPublish | ReadFault>
  /**
   * Puts the draft in force, or on trial, if it has no errors and the caller may publish it. The backtest is run and
   * kept.
   */
  readonly publish: (
    id: string,
    input: PublishIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<
    EnvelopeVersionOut,
    | EnvelopeRevisionConflict
    | EnvelopeNotFound
    | EnvelopeNotPublishable
    | ExaminationQueueFull
    | NothingToPublish
    | SecondApproverRequired
    | ReadFault
  >
  readonly withdraw: (
    id: string,
    input: WithdrawIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<EnvelopeOut, EnvelopeNotFound | EnvelopeNotInForce | ReadFault>
  /** Oldest first. */
  readonly versions: (
    id: string,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<EnvelopeVersionOut>, EnvelopeNotFound | ReadFault>
  readonly version: (
    id: string,
    version: number,
    scope?: Scope
  ) => Effect.Effect<EnvelopeVersionOut, EnvelopeNotFound | EnvelopeVersionNotFound | ReadFault>
  /** Differences between two versions. A version whose text was erased shows no changes. */
  readonly diff: (
    id: string,
    query: DiffQuery,
    scope?: Scope,
    asker?: string
  ) => Effect.Effect<
    DiffOut,
    | EnvelopeNotFound
    | EnvelopeNotPublishable
    | EnvelopeVersionNotFound
    | ExaminationQueueFull
    | InvalidInput
    | NothingToPublish
    | ReadFault
  >
  /**
   * Outcomes of recorded evaluations under the draft. A stretch that ends before it begins, or begins behind the
   * head, is `InvalidInput`.
   */
  readonly backtest: (
    id: string,
    input: BacktestIn,
    scope?: Scope,
    asker?: string
  ) => Effect.Effect<
    BacktestOut,
    EnvelopeNotFound | EnvelopeNotPublishable | ExaminationQueueFull | InvalidInput | NothingToPublish | ReadFault
  >
}

/** The caller where a request names none. */
const UNNAMED = ""

/** Documents read at a time. */
const PAGE = 500

/** Service of envelopes. Spec: `envelope/1`; decision 0025. */
export class Envelopes extends Context.Service<Envelopes, EnvelopesApi>()("flyball/core/Envelopes") {
  static readonly layer: Layer.Layer<Envelopes, never, Storage> = Layer.effect(
    Envelopes,
    Effect.gen(function* () {
      const storage = yield* Storage
      const crypto = yield* EvidenceCrypto
      const examiner = yield* Examiner
      const queue = new ExaminerQueue()
      const trustsCanonical = yield* TrustsCanonicalRoles
      const inForce = inForceReader(storage)

      /**
       * A text taken down at once, so that nothing its caller does to it later, while a commit waits or afterwards, is
       * published.
       */
      const draftOf = (json: { readonly [name: string]: unknown }): Effect.Effect<Draft, InvalidInput> => {
        const refused = (sentence: string) =>
          Effect.fail(new InvalidInput({ detail: [detailItem(["body", "envelope"], "value_error", sentence)] }))
        try {
          const bytes = canonicalBytes(json, MAX_ENVELOPE_DEPTH)
          // What a record has no room for: the interface counts characters, and one has up to four bytes.
          if (bytes.length > MAX_ENVELOPE_BYTES)
            return refused(
              `Expected an envelope of at most ${MAX_ENVELOPE_BYTES} bytes as JSON; this one has ` +
                `${bytes.length}. Split it into layers`
            )
          return Effect.succeed({ json: JSON.parse(fromUtf8(bytes)!) as JsonMap, digest: crypto.sha256Hex(bytes) })
        } catch (error) {
          if (error instanceof NotCanonical) return refused(error.message)
          throw error
        }
      }

      const all = Effect.fnUntraced(function* <A>(
        collection: string,
        of: string,
        key: string,
        map: (body: JsonObject, id: string) => A
      ) {
        return (yield* storage.find(collection, of, key)).map(({ body, id }) => map(body, id))
      })

      /** The agents that an envelope is for. */
      const agentsOf = Effect.fnUntraced(function* ({ body: { agentId, orgUnit } }: StoredEnvelope) {
        if (agentId !== null) {
          const agent = yield* storage.get(AGENTS, agentId)
          return agent === null ? [] : [storedAgent(agent)]
        }
        return orgUnit === null ? [] : (yield* storage.find(AGENTS, "org_unit", orgUnit)).map(storedAgent)
      })

      /**
       * The events of the active agents that withdrawing an envelope leaves without one. It happens in one commit with
       * the withdrawal, which is not held up
       * by what else changes about the agents of a unit: an agent that is activated at the same moment has no event.
       */
      const loweredBy = Effect.fnUntraced(function* (stored: StoredEnvelope, writer: Writer) {
        const events: Array<EventDraft> = []
        const { ms } = yield* storage.asOf
        for (const agent of (yield* agentsOf(stored)).filter(({ body }) => canBeLowered(body))) {
          const bound = yield* inForce.of(agent.id, agent.body.orgUnit, ms)
          const hasDrill = hasAttestedDrill(agent.body, ms)
          const before = { agent: agent.body, facts: { hasEnvelope: bound.live.layers.length > 0, hasDrill } }
          events.push(
            ...tierLowered(agent, before, { agent: agent.body, facts: { hasEnvelope: false, hasDrill } }, writer)
          )
        }
        return events
      })

      /** A published version, by its text. */
      const textOf = Effect.fnUntraced(function* (
        envelopeId: string,
        version: number
      ): Effect.fn.Return<LayerText, ReadFault> {
        const document = yield* storage.get(ENVELOPE_VERSIONS, versionId(envelopeId, version))
        return { envelopeId, envelope: document === null ? null : (document.body as VersionDocument).envelope }
      })

      /** The envelope in force for a target. */
      const liveOf = Effect.fnUntraced(function* (
        target: string
      ): Effect.fn.Return<ReadonlyArray<LayerText>, ReadFault> {
        const [found] = yield* storage.find(ENVELOPES, "target", target)
        if (found === undefined) return []
        const { body, id } = storedEnvelope(found)
        return body.live === null || body.withdrawn ? [] : [yield* textOf(id, body.live)]
      })

      /** Units of the meters of its versions, each once. */
      const meterUnitsOf = Effect.fnUntraced(function* (
        id: string
      ): Effect.fn.Return<ReadonlyArray<MeterUnit>, ReadFault> {
        const units = (yield* all(
          ENVELOPE_VERSIONS,
          "envelope_id",
          id,
          (body) => (body as VersionDocument).envelope
        )).flatMap((envelope) => (envelope === null ? [] : meterUnits(envelope)))
        return [...new Map(units.map((one) => [`${one.meter} ${one.unit}`, one])).values()]
      })

      const surroundingsOf = Effect.fnUntraced(function* (
        stored: StoredEnvelope
      ): Effect.fn.Return<Surroundings, ReadFault> {
        const agents = yield* agentsOf(stored)
        const reported = {
          ...(yield* lintSurroundings(storage, agents, trustsCanonical)),
          meterUnits: yield* meterUnitsOf(stored.id)
        }
        if (stored.body.agentId !== null) {
          const orgUnit = agents[0]?.body.orgUnit ?? null
          return {
            outer: orgUnit === null ? [] : yield* liveOf(unitTarget(orgUnit)),
            inner: [],
            ...(agents.length === 1 ? { agentTier: Number(agents[0]!.body.autonomyTier.slice(1)) } : {}),
            ...reported
          }
        }
        const inner: Array<LayerText> = []
        for (const { id } of agents) inner.push(...(yield* liveOf(agentTarget(id))))
        return { outer: [], inner, ...reported }
      })

      /**
       * Reads the layers in force for the agents of this envelope, its own included; `version` replaces its own where
       * it is given.
       */
      const before = Effect.fnUntraced(function* (
        { body, id }: StoredEnvelope,
        { outer }: Surroundings,
        version = body.withdrawn ? null : body.live
      ) {
        const own = version === null ? null : yield* textOf(id, version)
        const layers = body.withdrawn && own === null ? [] : [...outer, ...(own === null ? [] : [own])]
        return { layers, own: own === null ? null : own.envelope }
      })

      /** `texts`: the text in question and its surroundings, which may read arguments. */
      const historyOf = Effect.fnUntraced(function* (
        stored: StoredEnvelope,
        texts: { readonly json: unknown; readonly surroundings: Surroundings },
        range: Pick<BacktestIn, "from_seq" | "to_seq"> = {}
      ): Effect.fn.Return<HistoryJson, ReadFault> {
        const agentIds = new Set((yield* agentsOf(stored)).map(({ id }) => id))
        const { seq } = yield* storage.asOf
        return historyJson(
          yield* readHistory(storage, inForce, {
            agentIds,
            fromSeq: range.from_seq ?? 0,
            toSeq: Math.min(range.to_seq ?? seq, seq),
            withArgs: JSON.stringify(texts).includes('"from"')
          })
        )
      })

      const versionDocument = Effect.fnUntraced(function* (id: string, version: number) {
        const document = yield* storage.get(ENVELOPE_VERSIONS, versionId(id, version))
        return document === null ? yield* new EnvelopeVersionNotFound({ version }) : (document.body as VersionDocument)
      })

      /** Reads the candidate for publication: the draft, or the version on trial. */
      const candidateOf = Effect.fnUntraced(function* ({ body, id }: StoredEnvelope, mode: "enforced" | "shadow") {
        if (body.draft !== null && body.draft.envelope !== null)
          return { json: body.draft.envelope, digest: body.draft.digest, authors: body.draft.authors }
        const trial =
          mode === "enforced" && body.shadow !== null
            ? ((yield* storage.get(ENVELOPE_VERSIONS, versionId(id, body.shadow)))?.body as VersionDocument | undefined)
            : undefined
        return trial === undefined || trial.envelope === null
          ? yield* new NothingToPublish()
          : { json: trial.envelope, digest: trial.digest, authors: trial.authors }
      })

      /** Does `work` where the principal may have more under way. An envelope that does not exist is refused before. */
      const admitted = <A, E>(
        lane: LaneName,
        id: string,
        scope: Scope,
        asker: string,
        work: (inTurn: InTurn) => Effect.Effect<A, E>
      ) => Effect.andThen(readStoredEnvelope(storage, id, scope), queue.admit(lane, asker, work))

      return Envelopes.of({
        create: ({ agent_id = null, envelope: text, name, org_unit = null }, writer, scope = everyUnit) =>
          pipe(draftOf(text), (draft) =>
            commitWithRetry(
              storage,
              Effect.gen(function* () {
                if ((agent_id === null) === (org_unit === null))
                  return yield* new InvalidInput({
                    detail: [
                      detailItem(["body", "agent_id"], "value_error", "Expected exactly one of agent_id and org_unit")
                    ]
                  })
                const agent = agent_id === null ? null : yield* readAgent(storage, agent_id, scope)
                if (agent?.body.status === "decommissioned") return yield* new AgentNotFound({ agentId: agent_id })
                if (org_unit !== null && !covers(scope, org_unit)) return yield* new OrgUnitNotAllowed({})
                const target = agent_id === null ? unitTarget(org_unit!) : agentTarget(agent_id)
                const [taken] = yield* storage.find(ENVELOPES, "target", target)
                if (taken !== undefined) return yield* new EnvelopeExists({ envelopeId: taken.id })
                const id = yield* newId("env")
                const { change, envelope } = planBegin(
                  id,
                  { agentId: agent_id, orgUnit: org_unit, name, target },
                  yield* draft,
                  writer
                )
                yield* storage.commit(change)
                return envelopeOut({ id, version: 1, body: envelope })
              })
            )
          ),
        update: (id, { envelope: text, if_revision = null }, writer, scope = everyUnit) =>
          pipe(draftOf(text), (draft) =>
            commitWithRetry(
              storage,
              Effect.gen(function* () {
                const stored = yield* readStoredEnvelope(storage, id, scope)
                if (if_revision !== null && if_revision !== stored.version)
                  return yield* new EnvelopeRevisionConflict({ revision: stored.version })
                const wanted = yield* draft
                if (saysAlready(stored, wanted, writer)) return envelopeOut(stored)
                const { change, envelope } = yield* Effect.fromResult(planDraft(stored, wanted, writer))
                yield* storage.commit(change)
                return envelopeOut({ id, version: stored.version + 1, body: envelope })
              }),
              { collection: ENVELOPES, id }
            )
          ),
        get: (id, scope = everyUnit) => Effect.map(readStoredEnvelope(storage, id, scope), envelopeOut),
        list: Effect.fnUntraced(function* (query, scope = everyUnit) {
          const found: Array<EnvelopeOut> = []
          const { agent_id, limit = Number.POSITIVE_INFINITY } = query
          for (let after = query.after; found.length < limit;) {
            const page =
              agent_id !== undefined
                ? yield* storage.find(ENVELOPES, "agent_id", agent_id)
                : yield* storage.list(ENVELOPES, after === undefined ? { limit: PAGE } : { after, limit: PAGE })
            for (const document of page) {
              const stored = storedEnvelope(document)
              if (query.after !== undefined && document.id <= query.after) continue
              if (covers(scope, yield* unitOf(storage, stored.body))) found.push(envelopeOut(stored))
            }
            if (agent_id !== undefined || page.length < PAGE) break
            after = page.at(-1)!.id
          }
          return found.slice(0, limit)
        }),
        lint: (id, input, scope = everyUnit, asker = UNNAMED) =>
          admitted("question", id, scope, asker, (inTurn) =>
            Effect.gen(function* () {
              const stored = yield* readStoredEnvelope(storage, id, scope)
              const json = input.envelope ?? (yield* candidateOf(stored, "enforced")).json
              const surroundings = yield* surroundingsOf(stored)
              const about = { json, surroundings, history: yield* historyOf(stored, { json, surroundings }) }
              return yield* inTurn(examiner.ask("lint", { ...about, acknowledged: input.acknowledge_partial ?? [] }))
            })
          ),
        publish: (id, input, writer, scope = everyUnit) =>
          admitted("publish", id, scope, writer.id, (inTurn) =>
            commitWithRetry(
              storage,
              Effect.gen(function* () {
                const mode = input.mode ?? "enforced"
                // Read first: a change of what is in force from here on makes the commit conflict.
                const epoch = yield* nextEpoch(storage)
                const stored = yield* readStoredEnvelope(storage, id, scope)
                // A caller that read one text must not approve another.
                if (
                  input.if_revision !== undefined &&
                  input.if_revision !== null &&
                  input.if_revision !== stored.version
                )
                  return yield* new EnvelopeRevisionConflict({ revision: stored.version })
                const candidate = yield* candidateOf(stored, mode)
                const surroundings = yield* surroundingsOf(stored)
                const { found, lint } = yield* inTurn(
                  examiner.ask("publish", {
                    json: candidate.json,
                    surroundings,
                    history: yield* historyOf(stored, { json: candidate.json, surroundings }),
                    acknowledged: input.acknowledge_partial ?? [],
                    before: yield* before(stored, surroundings)
                  })
                )
                if (found === null) return yield* new EnvelopeNotPublishable({ findings: lint.findings })
                const { backtest, report } = found
                // The backtest is run here, so only the second person can be missing. A trial binds nobody, so anybody
                // may begin one.
                if (
                  mode === "enforced" &&
                  publicationFindings(report, { secondApprover: false, backtest: true }).length > 0
                ) {
                  const person = yield* secondPerson(storage, candidate.authors, writer)
                  if (person !== "another")
                    return yield* new SecondApproverRequired({
                      change: report.change,
                      sentence: person === "perhaps_them" ? `${report.sentence} ${ERASED_AUTHOR}` : report.sentence
                    })
                }
                const { change, envelope, published } = planPublish(
                  crypto,
                  stored,
                  {
                    candidate,
                    mode,
                    change: report.change,
                    lint: lint as unknown as JsonObject,
                    backtest: backtest as unknown as JsonObject,
                    diff: diffOut(
                      stored.body.withdrawn ? 0 : (stored.body.live ?? 0),
                      stored.body.latest + 1,
                      report
                    ) as unknown as JsonObject
                  },
                  writer,
                  epoch
                )
                yield* storage.commit(change)
                return {
                  ...versionOut(envelope, published),
                  warnings: lint.findings.filter(({ level }) => level === "warning")
                }
              })
            )
          ),
        withdraw: (id, { reason = null }, writer, scope = everyUnit) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const epoch = yield* nextEpoch(storage)
              const stored = yield* readStoredEnvelope(storage, id, scope)
              const { change, envelope } = yield* Effect.fromResult(
                planWithdraw(stored, reason, writer, epoch, yield* loweredBy(stored, writer))
              )
              yield* storage.commit(change)
              return envelopeOut({ id, version: stored.version + 1, body: envelope })
            })
          ),
        versions: Effect.fnUntraced(function* (id, scope = everyUnit) {
          const stored = yield* readStoredEnvelope(storage, id, scope)
          return yield* all(ENVELOPE_VERSIONS, "envelope_id", id, (body) =>
            versionOut(stored.body, body as VersionDocument)
          )
        }),
        version: Effect.fnUntraced(function* (id, version, scope = everyUnit) {
          const stored = yield* readStoredEnvelope(storage, id, scope)
          return versionOut(stored.body, yield* versionDocument(id, version))
        }),
        diff: (id, { from, to = 0 }, scope = everyUnit, asker = UNNAMED) =>
          admitted("question", id, scope, asker, (inTurn) =>
            Effect.gen(function* () {
              const stored = yield* readStoredEnvelope(storage, id, scope)
              const surroundings = yield* surroundingsOf(stored)
              const json =
                to === 0 ? (yield* candidateOf(stored, "enforced")).json : (yield* versionDocument(id, to)).envelope
              if (json === null)
                return yield* new InvalidInput({
                  detail: [
                    detailItem(
                      ["query", "to"],
                      "value_error",
                      `Expected a version whose text is not erased; that of version ${to} was erased`,
                      String(to)
                    )
                  ]
                })
              const since = from ?? (stored.body.withdrawn ? 0 : (stored.body.live ?? 0))
              if (since > 0) yield* versionDocument(id, since)
              const about = { json, surroundings, history: yield* historyOf(stored, { json, surroundings }) }
              const compared = yield* before(stored, surroundings, since === 0 ? null : since)
              const answer = yield* inTurn(examiner.ask("diff", { ...about, before: compared }))
              return "unfit" in answer
                ? yield* new EnvelopeNotPublishable({ findings: answer.unfit })
                : diffOut(since, to, answer.report)
            })
          ),
        backtest: (id, input, scope = everyUnit, asker = UNNAMED) =>
          admitted("question", id, scope, asker, (inTurn) =>
            Effect.gen(function* () {
              const stored = yield* readStoredEnvelope(storage, id, scope)
              const { json } = yield* candidateOf(stored, "enforced")
              const last = Math.min(input.to_seq ?? Number.MAX_SAFE_INTEGER, (yield* storage.asOf).seq)
              if ((input.from_seq ?? 0) > last)
                return yield* new InvalidInput({
                  detail: [
                    detailItem(
                      ["body", "from_seq"],
                      "value_error",
                      `Expected a record at or before ${last}`,
                      input.from_seq
                    )
                  ]
                })
              const surroundings = yield* surroundingsOf(stored)
              const about = { json, surroundings, history: yield* historyOf(stored, { json, surroundings }, input) }
              const answer = yield* inTurn(examiner.ask("backtest", { ...about, meters: input.meters ?? "recorded" }))
              return "unfit" in answer ? yield* new EnvelopeNotPublishable({ findings: answer.unfit }) : answer.backtest
            })
          )
      })
    })
  )
}
