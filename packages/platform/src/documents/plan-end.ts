/** Plans the end of an extraction: its document, its record, and the event. Pure. Spec: document 2 section 6. */
import { type DecisionIn, PART_LIMIT_BYTES } from "@flyball/contract"
import { platformEvent, storedBytesOf } from "@flyball/core"
import type { ChangeSet, CountAdd, JsonObject } from "@flyball/core/storage"
import { canonicalBytes } from "@flyball/evidence"
import {
  documentFacts,
  EXTRACT_ACTION,
  EXTRACTION_WRITER,
  type ExtractedDocument,
  type ExtractionFailure,
  fieldNames,
  maskFields,
  maskWarnings,
  type ReadDocument,
  EXTRACTION_SCOPE,
  RULES
} from "@flyball/rules"
import type { ModelReading } from "./ask-model.ts"
import { type ExtractionDocument, failureText, putExtraction, type StoredExtraction } from "./document.ts"

/** The end of an extraction. */
export interface End {
  readonly extraction: StoredExtraction
  readonly change: ChangeSet
}

const ofDocument = ({ body, id }: StoredExtraction) => ({
  ...(body.agentId === null ? {} : { agent_id: body.agentId }),
  bytes: body.bytes,
  document_digest: body.digest,
  extraction_id: id,
  media_type: body.mediaType
})

/** Settles the storage that was reserved for the text of a document. */
const storedLess = (before: ExtractionDocument, after: ExtractionDocument): ReadonlyArray<CountAdd> => {
  const add = after.keptBytes - (before.keptBytes ?? 0)
  return add === 0 ? [] : [{ name: storedBytesOf(before.owner), add }]
}

/** The text that was read, what was found in it, and the answer of the model; null where the caller named none. */
export interface Found {
  readonly found: ExtractedDocument
  readonly read: ReadDocument
  readonly model: ModelReading | null
}

/** Decides what a document leaves that was read. */
export const planCompleted = (
  { body: before, id, version }: StoredExtraction,
  { found, model, read }: Found,
  orgUnitDigest: string,
  nowMs: number
): End => {
  const { candidates, confidence, fields, type } = found
  const text = before.retain ? canonicalBytes(read as never) : null
  const isKept = text !== null && text.length <= PART_LIMIT_BYTES
  const warnings: ExtractedDocument["warnings"] =
    before.retain && !isKept ? [...found.warnings, { code: "text_not_kept" }] : found.warnings
  const facts = documentFacts({ confidence, fields })
  const body = {
    ...before,
    status: "completed",
    type,
    confidence,
    fields: maskFields(fields),
    candidates: maskFields(candidates),
    warnings: maskWarnings(warnings),
    facts,
    keptBytes: isKept ? text.length : 0,
    completedAtMs: nowMs,
    dueMs: null
  } as const
  const extraction: StoredExtraction = { id, version, body }
  const recorded = {
    ...ofDocument(extraction),
    confidence,
    document_type: type,
    facts,
    fields: fieldNames(fields),
    ...(model === null ? {} : { model: { name: model.name, ...(model.call === null ? {} : { call: model.call }) } }),
    org_unit_digest: orgUnitDigest,
    ...(before.requestedType === null ? {} : { requested_type: before.requestedType }),
    rules: RULES,
    writer: before.writer
  }
  return {
    extraction,
    change: {
      puts: [putExtraction(extraction)],
      counts: storedLess(before, body),
      records: [
        {
          kind: "extraction.completed",
          agentId: before.agentId,
          body: recorded as unknown as JsonObject,
          parts: [
            ...(isKept ? [{ name: "document", bytes: text }] : []),
            {
              name: "fields",
              bytes: canonicalBytes({
                candidates,
                fields,
                ...(model === null ? {} : { said: model.said }),
                warnings
              } as never)
            }
          ],
          once: { scope: EXTRACTION_SCOPE, key: id, digest: before.digest }
        }
      ],
      events: [
        platformEvent("extraction.completed", before.orgUnit, {
          id,
          document_type: type,
          confidence: confidence / 1_000,
          fields: Object.fromEntries(Object.entries(body.fields).map(([name, { value }]) => [name, value]))
        })
      ]
    }
  }
}

/** Decides what a document leaves that was not read. What this service interrupted is not counted. */
export const planFailed = (
  { body: before, id, version }: StoredExtraction,
  code: ExtractionFailure,
  nowMs: number
): End => {
  const body = { ...before, status: "failed", failure: code, keptBytes: 0, completedAtMs: nowMs, dueMs: null } as const
  const extraction: StoredExtraction = { id, version, body }
  const isOurs = code === "interrupted"
  const recorded = { ...ofDocument(extraction), code, writer: isOurs ? EXTRACTION_WRITER : before.writer }
  return {
    extraction,
    change: {
      puts: [putExtraction(extraction)],
      counts: [
        ...(isOurs && before.quota !== null ? [{ name: before.quota, add: -1 }] : []),
        ...storedLess(before, body)
      ],
      records: [{ kind: "extraction.failed", agentId: before.agentId, body: recorded, parts: [] }],
      events: [
        platformEvent("extraction.failed", before.orgUnit, {
          id,
          document_type: before.requestedType ?? "unknown",
          error: { code, message: failureText[code] }
        })
      ]
    }
  }
}

/** The decision of an agent whose document was read, or was not. */
export const decisionOf = ({ body, id }: StoredExtraction): DecisionIn => ({
  capture: "mediated",
  mode: "enforced",
  decided_by: "server",
  client_ref: id,
  kind: "tool_call",
  action: EXTRACT_ACTION,
  evaluation_id: body.evaluationId,
  status: body.status === "completed" ? "ok" : "error",
  latency_ms: Math.max(0, body.completedAtMs! - body.createdAtMs),
  labels: { document_digest: `sha256:${body.digest}`, writer: body.writer }
})
