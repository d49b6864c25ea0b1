/**
 * Evaluations: may this agent do what it intends? Spec: document 1 section 4, `/bound/evaluations`; api.md "bounded
 * autonomy"; `envelope/1`.
 */
import {
  type AgentNotFound,
  type ClientRefReused,
  detailItem,
  type Evaluation,
  type EvaluationEnded,
  type EvaluationIn,
  type EvaluationListQuery,
  EvaluationNotFound,
  type ExplanationOut,
  InvalidInput,
  NothingToVoid,
  type VoidIn,
  type VoidOut
} from "@flyball/contract"
import { Context, Effect, Layer } from "effect"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { reasonPart } from "../../registry/agents/parts.ts"
import { recordHash } from "../../foundation/ids.ts"
import { Chain } from "../../chain/chain.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { inForceReader } from "../envelopes/in-force.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import { RetiredStores } from "../../storage/retirement.ts"
import type { Writer } from "../../foundation/writer.ts"
import { makeRequestedEvaluation } from "./asking.ts"
import { foldCarried } from "./carried-meters.ts"
import { evaluateBatch, type Evaluated, isMetered, type Request } from "./evaluate-batch.ts"
import { type EvaluationRecord, evaluationOut } from "./evaluation-out.ts"
import { evaluationQueue } from "./evaluation-queue.ts"
import { explainEvaluation } from "./explain-evaluation.ts"
import { findEvaluation, readEvaluation } from "./find-evaluation.ts"
import { evaluationLister } from "./list-evaluations.ts"
import { readRun, setBefore } from "./latch-runs.ts"
import { endOf, touchWindows } from "./meter-changes.ts"
import { factsOfExtraction } from "../../registry/extractions/document.ts"
import { meterKeeper } from "./meter-keeper.ts"
import { voidDigest } from "./plan-evaluate.ts"
import { EvaluationSteps } from "./ports.ts"
import { readEnvelopesInForce, type TaggedEnvelopes } from "./read-envelopes-in-force.ts"
import {
  bind,
  type Binding,
  documentSignals,
  hasLatches,
  mayGiveBack,
  readSide,
  reservationsOf,
  type ReviewDocument,
  REVIEWS,
  STANDING_APPROVALS,
  type StandingApprovalDocument,
  VOID_SCOPE
} from "@flyball/rules"

/** Agents that are remembered as metered. Above it all are dropped. */
const MAX_METERED = 100_000

/**
 * Operations on evaluations. Objects outside `scope` are answered as not found. Spec: document 1 section 4,
 * `/bound/evaluations`; decision 0025.
 */
export interface EvaluationsApi {
  /**
   * Decides and records, before it answers. The same content under the same `client_ref` gets the first answer again;
   * other content is refused.
   */
  readonly evaluate: (
    input: EvaluationIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<Evaluation, AgentNotFound | ClientRefReused | InvalidInput | ReadFault>
  readonly get: (id: string, scope?: Scope) => Effect.Effect<Evaluation, EvaluationNotFound | ReadFault>
  /**
   * Evaluations of one agent, newest first. A page reads at most 20,000 of the agent's records and ends after 8 MiB of
   * parts, so it may be shorter than its limit: an empty page is the end. Where none of the records read matches,
   * `InvalidInput` names the position to continue from (`ctx.before`).
   */
  readonly list: (
    query: EvaluationListQuery,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<Evaluation>, AgentNotFound | InvalidInput | ReadFault>
  /** Answers what an agent's SDK may decide under while the service is away, as of the head of the chain. */
  readonly inForce: (agentId: string, scope?: Scope) => Effect.Effect<TaggedEnvelopes, AgentNotFound | ReadFault>
  /** The nearest less restrictive verdict: what would have had to be otherwise. */
  readonly explain: (id: string, scope?: Scope) => Effect.Effect<ExplanationOut, EvaluationNotFound | ReadFault>
  /**
   * Removes its contributions to meters: its action was not taken. Refused after a decision settled it, where it added
   * nothing, and to ingest keys.
   */
  readonly void: (
    id: string,
    input: VoidIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<VoidOut, EvaluationEnded | EvaluationNotFound | InvalidInput | NothingToVoid | ReadFault>
}

/** Service of evaluations. Spec: document 1 section 4, `/bound/evaluations`; decision 0025. */
export class Evaluations extends Context.Service<Evaluations, EvaluationsApi>()("flyball/core/Evaluations") {
  static readonly layer: Layer.Layer<Evaluations, never, Storage | Chain> = Layer.effect(
    Evaluations,
    Effect.gen(function* () {
      const storage = yield* Storage
      const crypto = yield* EvidenceCrypto
      const steps = yield* EvaluationSteps
      const { origin, originTag } = yield* Chain
      const inForce = inForceReader(storage)
      const evaluating = {
        storage,
        inForce,
        keeper: meterKeeper(storage, foldCarried(storage, crypto, yield* RetiredStores)),
        steps,
        holdsLock: false
      }
      /**
       * Agents whose last evaluation had to wait in line: the next one need not find that out by reading everything.
       */
      const metered = new Set<string>()
      const queued = (yield* evaluationQueue)({ ...evaluating, holdsLock: true })

      /** The layers that a record names, as they were. */
      const bindingOf = Effect.fnUntraced(function* ({
        body
      }: EvaluationRecord): Effect.fn.Return<Binding | null, ReadFault> {
        const waivers = (body["waivers"] ?? []) as ReadonlyArray<string>
        const layers = []
        for (const { envelopeId, version } of readSide(body).layers) {
          const layer = yield* inForce.layer(envelopeId, version, waivers)
          if (layer === null) return null
          layers.push(layer)
        }
        return bind(layers)
      })

      const shown = Effect.fnUntraced(function* (record: EvaluationRecord) {
        return evaluationOut(record, (yield* bindingOf(record))?.ready ?? null)
      })

      const listPage = evaluationLister(storage, shown)

      const answer = Effect.fnUntraced(function* (evaluated: Evaluated) {
        if (evaluated.kind === "refused") return yield* evaluated.refusal
        if (evaluated.kind === "queued")
          return yield* Effect.die(new Error("the queue returned an evaluation to the queue"))
        if (evaluated.kind === "again" || evaluated.receipt.duplicate)
          return yield* shown(
            yield* readEvaluation(storage, evaluated.kind === "again" ? evaluated.seq : evaluated.receipt.seq)
          )
        const {
          inForce: { live },
          plan: { record },
          receipt: { atMs, hash, seq }
        } = evaluated
        return evaluationOut(
          { seq, hash, atMs, body: record.body, parts: new Map(record.parts.map(({ bytes, name }) => [name, bytes])) },
          live.ready
        )
      })

      /** Finds what let an evaluation through that would have been reviewed; null where nothing did. */
      const approvalOf = Effect.fnUntraced(function* ({
        body
      }: EvaluationRecord): Effect.fn.Return<ExplanationOut["approval"], ReadFault> {
        const { approval_id: reviewId, evaluation_id: id, standing_approval_id: standingId } = body
        if (typeof standingId === "string") {
          const found = yield* storage.get(STANDING_APPROVALS, standingId)
          const { grantedBy = null, proposedBy } = (found?.body ?? {}) as Partial<StandingApprovalDocument>
          const approved_by = [proposedBy, grantedBy].filter((by) => typeof by === "string")
          return { review_id: null, standing_approval_id: standingId, approved_by }
        }
        const found = typeof reviewId === "string" ? yield* storage.get(REVIEWS, reviewId) : null
        const review = found?.body as unknown as ReviewDocument | undefined
        return review?.consumedBy === id && review?.consumedResult === "used"
          ? { review_id: found!.id, standing_approval_id: null, approved_by: review.approvals.map(({ by }) => by) }
          : null
      })

      const inScope = Effect.fnUntraced(function* (id: string, scope: Scope) {
        const record = yield* findEvaluation(storage, id)
        if (record === null) return yield* new EvaluationNotFound({ evaluationId: id })
        const agent = yield* readAgent(storage, String(record.body["agent_id"]), scope).pipe(
          Effect.catchTag("AgentNotFound", () => Effect.fail(new EvaluationNotFound({ evaluationId: id })))
        )
        return { agent, record }
      })

      return Evaluations.of({
        evaluate: Effect.fnUntraced(function* (input, writer, scope = everyUnit) {
          const request: Request = {
            requested: yield* Effect.fromResult(makeRequestedEvaluation(crypto, originTag, input, writer)),
            scope
          }
          // Here too, because an evaluation that was made before, or is requested twice at once, is answered without
          // reading its agent.
          const { agent_id: agentId } = request.requested.input
          if (scope.orgUnits !== "*") yield* readAgent(storage, agentId, scope)
          // Only what meters or latches make depend on what was evaluated before waits in line. The line answers others
          // as well: an old guess costs a wait and nothing else.
          const [alone] = metered.has(agentId) ? [] : yield* evaluateBatch(evaluating, [request])
          if (alone !== undefined && alone.kind !== "queued") return yield* answer(alone)
          const inLine = yield* queued(request)
          if (inLine.kind === "made" && !isMetered(inLine.inForce)) metered.delete(agentId)
          else if (alone !== undefined) {
            if (metered.size >= MAX_METERED) metered.clear()
            metered.add(agentId)
          }
          return yield* answer(inLine)
        }),
        get: Effect.fnUntraced(function* (id, scope = everyUnit) {
          return yield* shown((yield* inScope(id, scope)).record)
        }),
        list: (query, scope = everyUnit) =>
          query.agent_id === undefined
            ? listPage(query, scope)
            : Effect.andThen(readAgent(storage, query.agent_id, scope), listPage(query, scope)),
        inForce: (agentId, scope = everyUnit) =>
          readEnvelopesInForce({ storage, crypto, inForce, steps, origin }, agentId, scope),
        explain: Effect.fnUntraced(function* (id, scope = everyUnit) {
          const { agent, record } = yield* inScope(id, scope)
          const ready = (yield* bindingOf(record))?.ready ?? null
          const { extraction_id: extractionId, run_id: runId } = record.body
          const facts =
            typeof extractionId === "string"
              ? yield* factsOfExtraction(storage, extractionId, agent.body.orgUnit)
              : null
          const run = hasLatches(ready) && typeof runId === "string" ? yield* readRun(storage, agent.id, runId) : null
          return explainEvaluation(
            record,
            ready,
            agent,
            run === null ? new Set() : yield* setBefore(storage, run, record.seq),
            yield* approvalOf(record),
            facts === null ? {} : documentSignals(facts)
          )
        }),
        void: (id, { reason = null }, writer, scope = everyUnit) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              if (!mayGiveBack(writer.id))
                return yield* new InvalidInput({
                  detail: [
                    detailItem(
                      ["writer"],
                      "value_error",
                      "An ingest key cannot void evaluations: otherwise an agent could reset its own meters",
                      writer.id
                    )
                  ]
                })
              const { agent, record } = yield* inScope(id, scope)
              const reservations = reservationsOf(record.body)
              if (reservations.length === 0) return yield* new NothingToVoid()
              const puts = yield* touchWindows(
                storage,
                reservations.map(({ window }) => window)
              )
              const end = yield* endOf(storage, id, "void")
              const digest = voidDigest(crypto, id)
              const {
                records: [receipt]
              } = yield* storage.commit({
                puts: end === null ? puts : [...puts, end],
                records: [
                  {
                    kind: "meter.voided",
                    agentId: agent.id,
                    body: { agent_id: agent.id, evaluation_id: id, evaluation_seq: record.seq, writer: writer.id },
                    parts: reasonPart(reason),
                    once: { scope: VOID_SCOPE, key: id, digest }
                  }
                ]
              })
              return {
                evaluation_id: id,
                seq: receipt!.seq,
                record_hash: recordHash(receipt!.hash),
                duplicate: receipt!.duplicate
              }
            })
          )
      })
    })
  )
}
