/**
 * Documents: taken, read in a process that can be lost, and extracted by rules that anybody can run again. Spec:
 * document 2 sections 2, 4 and 6; decision 0084.
 */
import {
  type AgentNotFound,
  type BodyTooLarge,
  type ExtractIn,
  type Extraction,
  ExtractionDenied,
  ExtractionNotFound,
  ExtractionNotReady,
  type Forbidden,
  type InvalidInput,
  type ModuleNotInstalled,
  PART_LIMIT_BYTES,
  PlanLimitReached,
  RateLimitExceeded,
  type RevealedExtraction
} from "@flyball/contract"
import type { ReceivedFile } from "@flyball/contract/http"
import {
  Capture,
  Chain,
  commitAnswered,
  commitWithRetry,
  DOCUMENTS_WRITER,
  Egress,
  Evaluations,
  Examiner,
  EXTRACTIONS,
  newId,
  type OperationCaller,
  sortable,
  storedBytesOf,
  unitOwner,
  unitScope,
  type Writer
} from "@flyball/core"
import { type ChangeSet, isCountReached, type ReadFault, Storage } from "@flyball/core/storage"
import { fromUtf8 } from "@flyball/evidence"
import { type DocumentType, EXTRACT_ACTION, type ExtractedField, EXTRACTION_SCOPE, orgUnitDigest } from "@flyball/rules"
import { Context, Deferred, Effect, Layer, Option, Queue } from "effect"
import { callingAgent } from "../calling-agent.ts"
import { type ModelOptions, type ModelReader, readByModel } from "./ask-model.ts"
import {
  type ExtractionDocument,
  extractionOut,
  putExtraction,
  storedExtraction,
  type StoredExtraction
} from "./document.ts"
import { storageLimit } from "../usage/storage-limit.ts"
import { decisionOf, type End, planCompleted, planFailed } from "./plan-end.ts"
import { DocumentReader } from "./reading/document-reader.ts"
import { documentFolder, removeFile } from "./reading/own-files.ts"
import { type TakenFile, takeFile } from "./take-file.ts"

/** Options of a request beside its document. */
export interface ExtractOptions {
  readonly documentType: DocumentType | null
  readonly waitS: number
  readonly retain: boolean
  /** The model that reads beside the rules; null for none. */
  readonly model: ModelOptions | null
}

/** Operations on documents of one org unit. Spec: document 2 section 4. */
export interface DocumentsApi {
  /** Takes a document, and answers its extraction as it is when `waitS` is over. */
  readonly extract: (
    unit: string,
    body: ReceivedFile | typeof ExtractIn.Type,
    options: ExtractOptions,
    caller: OperationCaller
  ) => Effect.Effect<
    Extraction,
    | AgentNotFound
    | BodyTooLarge
    | ExtractionDenied
    | Forbidden
    | InvalidInput
    | ModuleNotInstalled
    | PlanLimitReached
    | RateLimitExceeded
    | ReadFault
  >
  readonly get: (unit: string, id: string) => Effect.Effect<Extraction, ExtractionNotFound | ReadFault>
  /** Answers the values in full, once a record says who read them. */
  readonly reveal: (
    unit: string,
    id: string,
    writer: Writer
  ) => Effect.Effect<RevealedExtraction, ExtractionNotFound | ExtractionNotReady | ReadFault>
  /** Waits for the next document, and reads it. For the job. */
  readonly work: Effect.Effect<void, ReadFault>
  /** Ends extractions whose process ended. For the job. */
  readonly endOverdue: Effect.Effect<void, ReadFault>
}

/** How long a document may wait and be read before it counts as interrupted. Unit: milliseconds. */
const PATIENCE_MS = 600_000
/** Documents that wait on disk. */
const MAX_WAITING = 32
/** Extractions that one round ends. */
const PAGE = 100

interface Task {
  readonly id: string
  readonly file: TakenFile
  readonly over: Deferred.Deferred<void>
  readonly requested: DocumentType | null
  readonly byModel: ModelReader | null
}

/** Service of documents. Spec: document 2 section 4; decision 0084. */
export class Documents extends Context.Service<Documents, DocumentsApi>()("flyball/platform/Documents") {
  static readonly layer: Layer.Layer<Documents, never, Capture | Chain | DocumentReader | Evaluations | Storage> =
    Layer.effect(
      Documents,
      Effect.gen(function* () {
        const storage = yield* Storage
        const capture = yield* Capture
        const evaluations = yield* Evaluations
        const reader = yield* DocumentReader
        const examiner = yield* Examiner
        const { originTag } = yield* Chain
        const egress = Option.getOrNull(yield* Effect.serviceOption(Egress))
        const folder = yield* documentFolder
        const tasks = yield* Queue.unbounded<Task>()

        const read = Effect.fnUntraced(function* (
          unit: string,
          id: string
        ): Effect.fn.Return<StoredExtraction, ExtractionNotFound | ReadFault> {
          const document = yield* storage.get(EXTRACTIONS, id)
          const stored = document === null ? null : storedExtraction(document)
          return stored === null || stored.body.orgUnit !== unit
            ? yield* new ExtractionNotFound({ extractionId: id })
            : stored
        })

        /** Evaluates the agent's envelope with what the service knows of the document; answers the evaluation. */
        const allowed = Effect.fnUntraced(function* (
          agentId: string,
          id: string,
          { bytes, mediaType, sha256 }: TakenFile,
          { documentType, model }: ExtractOptions,
          at: { readonly unit: string; readonly writer: Writer }
        ) {
          const scope = unitScope(at.unit)
          const { answer } = yield* evaluations.inForce(agentId, scope)
          const hasTool = answer.layers.some((layer) => layer.caller_signals.includes("tool"))
          const evaluation = yield* evaluations
            .evaluate(
              {
                agent_id: agentId,
                client_ref: id,
                action: EXTRACT_ACTION,
                signals: hasTool ? { tool: EXTRACT_ACTION } : {},
                args: {
                  bytes,
                  document_digest: `sha256:${sha256}`,
                  document_type: documentType,
                  media_type: mediaType,
                  model: model?.name ?? null
                }
              },
              at.writer,
              scope
            )
            .pipe(Effect.catchTag("ClientRefReused", Effect.die))
          if (evaluation.outcome === "allow" || evaluation.outcome === "allow_with_notice") return evaluation.id
          return yield* new ExtractionDenied({
            evaluationId: evaluation.id,
            outcome: evaluation.outcome,
            matchedRule: evaluation.matched_rule
          })
        })

        /** Commits the end of an extraction with what its agent did, unless somebody ended it before. */
        const ended = Effect.fnUntraced(
          function* (id: string, plan: (stored: StoredExtraction, nowMs: number) => End) {
            const commit = (agentId: string | null, witnessed: ChangeSet) =>
              Effect.gen(function* () {
                const stored = yield* storage.get(EXTRACTIONS, id)
                const extraction = stored === null ? null : storedExtraction(stored)
                if (extraction === null || extraction.body.completedAtMs !== null)
                  return yield* Effect.die(new EndedBefore())
                const { ms: nowMs } = yield* storage.asOf
                const { change } = plan(extraction, nowMs)
                const witness = witnessed.records ?? []
                const records = [...witness, ...(change.records ?? [])]
                const receipt = yield* storage.commit({ ...witnessed, ...change, records })
                // Capture answers the decisions alone.
                return { ...receipt, records: receipt.records.slice(0, witness.length) }
              })
            const document = yield* storage.get(EXTRACTIONS, id)
            const before = document === null ? null : storedExtraction(document)
            if (before === null) return
            const alone = commitWithRetry(storage, Effect.asVoid(commit(null, {})))
            const { agentId } = before.body
            const { ms: nowMs } = yield* storage.asOf
            yield* agentId === null
              ? alone
              : capture
                  .witness(
                    agentId,
                    [decisionOf(plan(before, nowMs).extraction)],
                    { id: DOCUMENTS_WRITER },
                    undefined,
                    (change) => commit(agentId, change)
                  )
                  .pipe(
                    // Somebody used the name of its decision: the extraction is on record all the same.
                    Effect.catchTags({
                      AgentNotFound: () => alone,
                      CaptureNotMediated: () => alone,
                      ClientRefReused: () => alone,
                      DecisionTooLarge: () => alone,
                      InvalidInput: () => alone
                    })
                  )
          },
          Effect.catchDefect((defect) => (defect instanceof EndedBefore ? Effect.void : Effect.die(defect)))
        )

        const extract: DocumentsApi["extract"] = Effect.fnUntraced(function* (unit, body, options, caller) {
          const named = caller.account?.agentId ?? caller.received?.header("x-flyball-agent") ?? null
          const agentId = named === null && options.model === null ? null : yield* callingAgent(caller)
          const writer = yield* caller.writer
          const byModel =
            options.model === null || agentId === null
              ? null
              : yield* readByModel(options.model, { agentId, unit, writer }, caller)
          if ((yield* Queue.size(tasks)) >= MAX_WAITING)
            return yield* new RateLimitExceeded({ reason: "documents-waiting", retryAfterS: 5 })
          const stored = storageUseOf(unit, options.retain, caller)
          if (stored.atMost !== null) {
            const [used = 0] = yield* storage.counters([stored.name])
            // Before the agent's envelope is evaluated, whose meters nobody gives back.
            if (used + stored.add > stored.atMost) return yield* stored.refused
          }
          const id = yield* newId("ext")
          const file = yield* takeFile(body, folder, id, egress)
          const over = yield* Deferred.make<void>()
          const accepted = Effect.gen(function* () {
            const at = { unit, writer }
            const evaluationId = agentId === null ? null : yield* allowed(agentId, id, file, options, at)
            const { ms: createdAtMs } = yield* storage.asOf
            const document: ExtractionDocument = {
              orgUnit: unit,
              owner: unitOwner(unit),
              agentId,
              writer: writer.id,
              status: "queued",
              requestedType: options.documentType,
              mediaType: file.mediaType,
              bytes: file.bytes,
              digest: file.sha256,
              retain: options.retain,
              keptBytes: stored.add,
              evaluationId,
              quota: caller.account?.reservation?.name ?? null,
              type: null,
              confidence: null,
              fields: {},
              candidates: {},
              warnings: [],
              facts: null,
              failure: null,
              createdAtMs,
              completedAtMs: null,
              dueMs: createdAtMs + PATIENCE_MS
            }
            const queued = { id, version: 0, body: document }
            const { add, atMost, name } = stored
            const counts = add === 0 ? [] : [{ name, add, ...(atMost === null ? {} : { atMost }) }]
            const commit = Effect.asVoid(storage.commit({ puts: [putExtraction(queued)], counts }))
            const shown = extractionOut(queued)
            yield* commitWithRetry(
              storage,
              (options.waitS > 0 ? commit : Effect.asVoid(commitAnswered(commit, shown))).pipe(
                Effect.catchIf(isCountReached, () => stored.refused)
              )
            )
            yield* Queue.offer(tasks, { id, file, over, requested: document.requestedType, byModel })
            return shown
          })
          const shown = yield* Effect.onError(accepted, () => removeFile(file))
          if (options.waitS === 0) return shown
          yield* Effect.timeoutOption(Deferred.await(over), options.waitS * 1_000)
          return extractionOut(yield* Effect.catchTag(read(unit, id), "ExtractionNotFound", Effect.die))
        })

        const work = Effect.gen(function* () {
          const { byModel, file, id, over, requested } = yield* Queue.take(tasks)
          yield* Effect.gen(function* () {
            yield* commitWithRetry(
              storage,
              Effect.gen(function* () {
                const found = yield* storage.get(EXTRACTIONS, id)
                const stored = found === null ? null : storedExtraction(found)
                if (stored?.body.status === "queued")
                  yield* storage.commit({
                    puts: [putExtraction({ ...stored, body: { ...stored.body, status: "processing" } })]
                  })
              })
            )
            yield* reader.read({ path: file.path }, file.mediaType).pipe(
              Effect.matchEffect({
                onFailure: ({ code }) => ended(id, (stored, nowMs) => planFailed(stored, code, nowMs)),
                onSuccess: (document) =>
                  Effect.gen(function* () {
                    const wanted = byModel === null ? {} : { own: byModel.own }
                    const answer = yield* examiner.ask("fields", { document, requested, ...wanted })
                    const { question = null, ...byRules } = answer
                    const model = byModel === null || question === null ? null : yield* byModel.read(question)
                    const found =
                      model === null
                        ? byRules
                        : yield* examiner.ask("fields", { document, requested, said: model.said })
                    yield* ended(id, (stored, nowMs) =>
                      planCompleted(
                        stored,
                        { found, read: document, model },
                        orgUnitDigest(originTag, stored.body.orgUnit),
                        nowMs
                      )
                    )
                  })
              })
            )
          }).pipe(Effect.ensuring(Effect.andThen(removeFile(file), Deferred.succeed(over, undefined))))
        })

        const reveal: DocumentsApi["reveal"] = Effect.fnUntraced(function* (unit, id, writer) {
          const { body } = yield* read(unit, id)
          if (body.status !== "completed") return yield* new ExtractionNotReady({ currentStatus: body.status })
          const [record] = yield* storage.once(EXTRACTION_SCOPE, [id])
          const parts = record === undefined ? [] : yield* storage.parts([record.seq])
          const bytes = parts.find(({ name }) => name === "fields")?.bytes ?? null
          const { candidates = {}, fields = {} } = JSON.parse((bytes === null ? null : fromUtf8(bytes)) ?? "{}") as {
            readonly fields?: Values
            readonly candidates?: Values
          }
          const answer = { id, fields: valuesOf(fields), candidates: valuesOf(candidates) }
          const recorded = { extraction_id: id, writer: writer.id }
          const records = [{ kind: "extraction.revealed", agentId: null, body: recorded, parts: [] }]
          return yield* commitWithRetry(storage, commitAnswered(storage.commit({ records }), answer))
        })

        return Documents.of({
          extract,
          get: (unit, id) => Effect.map(read(unit, id), (stored) => extractionOut(stored)),
          reveal,
          work,
          endOverdue: Effect.gen(function* () {
            const { ms: nowMs } = yield* storage.asOf
            const due = yield* storage.range(EXTRACTIONS, "due", { before: sortable(nowMs), limit: PAGE })
            for (const { id } of due) yield* ended(id, (stored, ms) => planFailed(stored, "interrupted", ms))
          })
        })
      })
    )
}

/** The storage that a document reserves until it was read, and the refusal beyond the plan. */
const storageUseOf = (unit: string, retain: boolean, { account }: OperationCaller) => {
  const { bytes, limit } = storageLimit(account)
  return {
    name: storedBytesOf(unitOwner(unit)),
    add: retain ? PART_LIMIT_BYTES : 0,
    atMost: retain ? bytes : null,
    refused: Effect.fail(new PlanLimitReached({ resource: "storage_gb", limit: limit ?? 0 }))
  }
}

/** The extraction was ended before. */
class EndedBefore extends Error {}

type Values = { readonly [name: string]: ExtractedField }

const valuesOf = (fields: Values): { readonly [name: string]: string } =>
  Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]))
