/**
 * Capture: witness, settle, note gaps, list. Spec: document 1 section 4; design section 3 (capture is one ChangeSet,
 * all or nothing).
 */
import {
  type CaptureGapIn,
  type CaptureGapOut,
  type DecisionDetail,
  type DecisionIn,
  type DecisionListQuery,
  type DecisionOut,
  type DecisionTooLarge,
  type EvaluationEnded,
  type InstanceEndIn,
  type InstanceEndOut,
  type InvalidInput,
  type ReceiptsOut,
  type SettleBelowReserved,
  type SettleIn,
  type SettleOut,
  AgentNotFound,
  CaptureNotMediated,
  ClientRefReused,
  DecisionAlreadySettled,
  DecisionNotFound,
  isId
} from "@flyball/contract"
import { readRecord } from "@flyball/evidence"
import { isMediator } from "@flyball/rules"
import { Context, Effect, Layer, Result } from "effect"
import { INGEST_KEYS, storedKey } from "../../registry/ingest-keys/document.ts"
import { AGENTS, storedAgent, type StoredAgent } from "../../registry/agents/document.ts"
import { Chain } from "../../chain/chain.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { inForceReader } from "../envelopes/in-force.ts"
import { settleMeters } from "../evaluations/meter-changes.ts"
import { inSlices } from "../../foundation/in-slices.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import type { StorageConflict } from "../../storage/faults.ts"
import { type ChangeSet, type CommitReceipt, type ReadFault, Storage } from "../../storage/port.ts"
import { isIngestKey, type Writer } from "../../foundation/writer.ts"
import { decisionFinder } from "./find-decision.ts"
import { decisionReads } from "./list-decisions.ts"
import { planNoteGap } from "./plan-note-gap.ts"
import { planSettle } from "./plan-settle.ts"
import { planWitness } from "./plan-witness.ts"
import { type PartReaders, partsShown } from "./parts-shown.ts"
import { receiptsOut } from "./receipts.ts"
import { ToolLists } from "./tool-lists.ts"
import { counter } from "../../foundation/metrics.ts"
import { recordHash } from "../../foundation/ids.ts"

const gaps = counter("flyball_capture_gaps_total", "Reports that decisions were made and not captured.")

/**
 * Operations on decisions and capture gaps. Objects outside `scope` are answered as not found. Spec: document 1 section
 * 1, decision chain; decisions 0001, 0002 and 0009.
 */
export interface CaptureApi {
  /**
   * Witnesses 1 to 1,000 decisions. The same `client_ref` with the same content answers the first receipt. `capture:
   * mediated` is refused unless the gateway or an ingest key of one writes. `commit`: commits the change in place of
   * the store, with what belongs to it.
   */
  readonly witness: (
    agentId: string,
    decisions: ReadonlyArray<DecisionIn>,
    writer: Writer,
    scope?: Scope,
    commit?: (change: ChangeSet) => Effect.Effect<CommitReceipt, StorageConflict | ReadFault>
  ) => Effect.Effect<
    ReceiptsOut,
    AgentNotFound | CaptureNotMediated | ClientRefReused | DecisionTooLarge | InvalidInput | ReadFault
  >
  /**
   * Adds the outcome of a decision, once. An ingest key settles meters at or above the reserved amount; only a person
   * or the host settles less.
   */
  readonly settle: (
    decisionId: string,
    settle: SettleIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<
    SettleOut,
    | DecisionNotFound
    | DecisionAlreadySettled
    | DecisionTooLarge
    | EvaluationEnded
    | InvalidInput
    | SettleBelowReserved
    | ReadFault
  >
  /** Notes that decisions were made and not witnessed. */
  readonly gap: (
    agentId: string,
    gap: CaptureGapIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<CaptureGapOut, AgentNotFound | InvalidInput | ReadFault>
  /**
   * One decision with its outcome. What was sent beside it is shown to `readers`, by default to every caller, and
   * withheld from others.
   */
  readonly get: (
    decisionId: string,
    scope?: Scope,
    readers?: PartReaders
  ) => Effect.Effect<DecisionDetail, DecisionNotFound | ReadFault>
  /** Records that an instance ended: activations after it expect nothing of it, unless it acts again. */
  readonly endInstance: (
    agentId: string,
    instance: InstanceEndIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<InstanceEndOut, AgentNotFound | ReadFault>
  /** Id of the agent that made a decision. */
  readonly agentOf: (decisionId: string, scope?: Scope) => Effect.Effect<string, DecisionNotFound | ReadFault>
  /**
   * Newest first, with the outcome where there is one. A page searches at most 20,000 decisions for a run or an action,
   * so it may be shorter than its limit. An empty one is the end: where more may follow, `InvalidInput` names the
   * position to continue from (`ctx.before`).
   */
  readonly list: (
    agentId: string,
    query?: DecisionListQuery,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<DecisionOut>, AgentNotFound | InvalidInput | ReadFault>
}

/** Service that witnesses decisions. Spec: document 1 section 1, decision chain; decisions 0001, 0002 and 0009. */
export class Capture extends Context.Service<Capture, CaptureApi>()("flyball/core/Capture") {
  static readonly layer: Layer.Layer<Capture, never, Storage | Chain> = Layer.effect(
    Capture,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { originTag } = yield* Chain
      const crypto = yield* EvidenceCrypto
      const toolLists = yield* ToolLists
      const inForce = inForceReader(storage)
      const findDecision = decisionFinder(storage, originTag)
      const reads = decisionReads(storage, originTag)

      const agentInScope = Effect.fnUntraced(function* (
        agentId: string,
        scope: Scope
      ): Effect.fn.Return<StoredAgent, AgentNotFound | ReadFault> {
        const document = isId("agent", agentId) ? yield* storage.get(AGENTS, agentId) : null
        if (document === null) return yield* new AgentNotFound({ agentId })
        const agent = storedAgent(document)
        return covers(scope, agent.body.orgUnit) ? agent : yield* new AgentNotFound({ agentId })
      })

      const decisionInScope = Effect.fnUntraced(function* (decisionId: string, scope: Scope) {
        const found = yield* findDecision(decisionId)
        if (found === null) return yield* new DecisionNotFound({ decisionId })
        const agent = yield* agentInScope(found.agentId, scope).pipe(
          Effect.catchTag("AgentNotFound", () => Effect.fail(new DecisionNotFound({ decisionId })))
        )
        return { ...found, orgUnit: agent.body.orgUnit }
      })

      /** The evaluation that a decision says it was made under. */
      const evaluationOf = Effect.fnUntraced(function* (seq: number): Effect.fn.Return<string | null, ReadFault> {
        const record = yield* storage.record(seq)
        const read = record === null ? null : readRecord(record.bytes)
        const id = read !== null && read.ok ? read.record.body["evaluation_id"] : null
        return typeof id === "string" ? id : null
      })

      /** A key's right never changes, so that it may be read before the commit. Most requests claim nothing of it. */
      const mayClaim = (
        decisions: ReadonlyArray<DecisionIn>,
        writer: Writer
      ): Effect.Effect<void, CaptureNotMediated | ReadFault> => {
        const indexes = decisions.flatMap(({ capture }, index) => (capture === "mediated" ? [index] : []))
        if (indexes.length === 0 || isMediator(writer.id)) return Effect.void
        const refused = Effect.fail(new CaptureNotMediated({ indexes }))
        return isIngestKey(writer)
          ? Effect.flatMap(storage.get(INGEST_KEYS, writer.id), (document) =>
              document !== null && storedKey(document).capture === "mediated" ? Effect.void : refused
            )
          : refused
      }

      const witness: CaptureApi["witness"] = (agentId, decisions, writer, scope = everyUnit, commit = storage.commit) =>
        commitWithRetry(
          storage,
          agentInScope(agentId, scope).pipe(
            Effect.tap(() => mayClaim(decisions, writer)),
            // Nothing here keeps the ChangeSet when the store has it: a thousand decisions would outlive their packing
            // by the time of a commit, and cost the collector a copy of each.
            Effect.flatMap((agent) => inSlices(planWitness(crypto, { agent, decisions, writer }))),
            Effect.flatMap(
              (plan): Effect.Effect<CommitReceipt, DecisionTooLarge | InvalidInput | StorageConflict | ReadFault> =>
                Result.isFailure(plan) ? Effect.fail(plan.failure) : commit(plan.success)
            ),
            Effect.mapError((fault) => {
              if (fault._tag !== "StorageConflict") return fault
              const indexes = reusedIndexes(fault)
              return indexes.length > 0 ? new ClientRefReused({ indexes }) : fault
            }),
            Effect.map((receipt) => receiptsOut(originTag, decisions, receipt))
          )
        ).pipe(
          Effect.tap(({ receipts }) =>
            decisions.some(({ kind }) => kind === "tool_list")
              ? listed(agentId, decisions, receipts, writer)
              : Effect.void
          )
        )

      /** Hands on the lists of tools among decisions. A client that gets no answer sends them again. */
      const listed = Effect.fnUntraced(function* (
        agentId: string,
        decisions: ReadonlyArray<DecisionIn>,
        receipts: ReceiptsOut["receipts"],
        writer: Writer
      ): Effect.fn.Return<void, ReadFault> {
        for (const [index, decision] of decisions.entries()) {
          if (decision.kind !== "tool_list" || decision.status !== "ok" || decision.result === undefined) continue
          const { decision_id: decisionId, seq } = receipts[index]!
          yield* toolLists.witnessed({ agentId, decisionId, seq, decision }, writer)
        }
      })

      const settle: CaptureApi["settle"] = (decisionId, given, writer, scope = everyUnit) =>
        Effect.suspend(() => {
          // Read once: what is checked of the meters is what is recorded.
          const settle: SettleIn = {
            ...given,
            actual: given.actual?.map(({ amount, meter }) => ({ amount, meter })) ?? null
          }
          return commitWithRetry(
            storage,
            Effect.gen(function* () {
              const found = yield* decisionInScope(decisionId, scope)
              const { actual = null } = settle
              const meters =
                actual === null
                  ? {}
                  : {
                      meters: yield* settleMeters(
                        storage,
                        inForce,
                        { agentId: found.agentId, decisionId, evaluationId: yield* evaluationOf(found.seq), writer },
                        actual
                      )
                    }
              const change = yield* Effect.fromResult(
                yield* inSlices(
                  planSettle(crypto, {
                    decisionId,
                    decisionSeq: found.seq,
                    agentId: found.agentId,
                    settle,
                    writer,
                    ...meters
                  })
                )
              )
              const receipt = yield* storage
                .commit(change)
                .pipe(
                  Effect.mapError((fault) =>
                    reusedIndexes(fault).length > 0 ? new DecisionAlreadySettled({ decisionId }) : fault
                  )
                )
              const [record] = receipt.records
              return {
                decision_id: decisionId,
                seq: record!.seq,
                record_hash: recordHash(record!.hash),
                duplicate: record!.duplicate
              }
            })
          )
        })

      const gap: CaptureApi["gap"] = (agentId, gap, writer, scope = everyUnit) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            yield* agentInScope(agentId, scope)
            const receipt = yield* storage.commit(yield* Effect.fromResult(planNoteGap(agentId, gap, writer)))
            yield* gaps.one
            const [record] = receipt.records
            return { agent_id: agentId, seq: record!.seq, record_hash: recordHash(record!.hash) }
          })
        )

      const endInstance: CaptureApi["endInstance"] = (agentId, { instance_id }, writer, scope = everyUnit) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            yield* agentInScope(agentId, scope)
            const body = { agent_id: agentId, instance_id, writer: writer.id }
            const receipt = yield* storage.commit({
              turn: { class: "capture", key: writer.id },
              records: [{ kind: "instance.ended", agentId, body, parts: [] }]
            })
            const [record] = receipt.records
            return { agent_id: agentId, instance_id, seq: record!.seq, record_hash: recordHash(record!.hash) }
          })
        )

      const list: CaptureApi["list"] = Effect.fnUntraced(function* (agentId, query = {}, scope = everyUnit) {
        yield* agentInScope(agentId, scope)
        return yield* reads.list(agentId, query)
      })

      const get: CaptureApi["get"] = Effect.fnUntraced(function* (
        decisionId,
        scope = everyUnit,
        readers = { always: everyUnit, reviewed: everyUnit }
      ) {
        const { orgUnit, seq } = yield* decisionInScope(decisionId, scope)
        return yield* partsShown(storage, yield* reads.at(seq), orgUnit, readers)
      })

      const agentOf: CaptureApi["agentOf"] = (decisionId, scope = everyUnit) =>
        Effect.map(decisionInScope(decisionId, scope), ({ agentId }) => agentId)

      return Capture.of({ witness, settle, gap, endInstance, get, agentOf, list })
    })
  )
}

/**
 * Which drafts met a record of the same reference with other content. A caller can act on these, so they are reported
 * before any other conflict.
 */
const reusedIndexes = (fault: StorageConflict | ReadFault): ReadonlyArray<number> =>
  fault._tag === "StorageConflict"
    ? [...new Set(fault.conflicts.flatMap((one) => (one._tag === "IdempotencyKey" ? [one.index] : [])))].sort(
        (a, b) => a - b
      )
    : []
