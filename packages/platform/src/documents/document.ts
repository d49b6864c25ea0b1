/** Extractions as state, and as they are shown. What identifies somebody is masked in both. */
import type { Extraction, ExtractionStatus } from "@flyball/contract"
import { EXTRACTIONS, extractionKeys, type ListEntry } from "@flyball/core"
import type { Document, DocumentPut, JsonObject } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import type { DocumentFacts, DocumentType, DocumentWarning, ExtractedField, ExtractionFailure } from "@flyball/rules"

type Fields = { readonly [name: string]: ExtractedField }

/** An extraction. */
export type ExtractionDocument = {
  readonly orgUnit: string
  readonly owner: string
  readonly agentId: string | null
  readonly writer: string
  readonly status: ExtractionStatus
  /** The type that the caller names; null where it names none. */
  readonly requestedType: DocumentType | null
  readonly mediaType: string
  readonly bytes: number
  readonly digest: string
  /** True when the text of the document is kept in its record. */
  readonly retain: boolean
  /** Bytes that the storage quota counts: the most until it ended, then those that its record keeps. */
  readonly keptBytes: number
  readonly evaluationId: string | null
  /** The counter that gets its unit back where nobody read the document. */
  readonly quota: string | null
  /** Null until it was read. */
  readonly type: DocumentType | null
  /** Thousandths. */
  readonly confidence: number | null
  /** Masked. */
  readonly fields: Fields
  readonly candidates: Fields
  readonly warnings: ReadonlyArray<DocumentWarning>
  readonly facts: DocumentFacts | null
  readonly failure: ExtractionFailure | null
  readonly createdAtMs: number
  readonly completedAtMs: number | null
  /** When it is given up, until it ended. */
  readonly dueMs: number | null
}

/** An extraction with its id and version. */
export interface StoredExtraction {
  readonly id: string
  readonly version: number
  readonly body: ExtractionDocument
}

/** Reads the extraction of a document. */
export const storedExtraction = ({ body, id, version }: Document): StoredExtraction => ({
  id,
  version,
  body: body as unknown as ExtractionDocument
})

/** The place of an extraction in lists, and its filter. */
export const listedExtraction = (document: Document): ListEntry => {
  const { createdAtMs, owner, status } = storedExtraction(document).body
  return { id: document.id, owner, createdAtMs, filters: { status } }
}

/** Puts an extraction over the version that was read. */
export const putExtraction = ({ body: extraction, id, version }: StoredExtraction): DocumentPut => {
  const body = extraction as unknown as JsonObject
  return { collection: EXTRACTIONS, id, expectedVersion: version, body, keys: extractionKeys(id, body) }
}

/** Sentences of failures. */
export const failureText: { readonly [F in ExtractionFailure]: string } = {
  encrypted: "The document is encrypted. Send it without its password.",
  malformed: "The document is not of its media type, or damaged.",
  too_large: "The document has more pages, text or content than is read.",
  too_slow: "Reading the document took too long.",
  too_much_memory: "Reading the document took too much memory.",
  no_text: "The document has no text.",
  unsupported_type: "This server does not read documents of this media type.",
  interrupted: "The process that read the document ended. Send the document again; this one is not counted."
}

const shown = (fields: Fields): Extraction["fields"] =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { confidence, evidence, value }]) => [
      name,
      { value, confidence: confidence / 1_000, evidence }
    ])
  )

/** Shows an extraction, with its candidates where `full`. */
export const extractionOut = ({ body, id }: StoredExtraction, full = true): Extraction => ({
  id,
  status: body.status,
  document_type: body.type ?? body.requestedType ?? "unknown",
  agent_id: body.agentId,
  media_type: body.mediaType,
  bytes: body.bytes,
  document_digest: `sha256:${body.digest}`,
  confidence: body.confidence === null ? null : body.confidence / 1_000,
  fields: shown(body.fields),
  ...(full ? { candidates: shown(body.candidates) } : {}),
  warnings: body.warnings,
  error: body.failure === null ? null : { code: body.failure, message: failureText[body.failure] },
  created_at: formatInstant(body.createdAtMs),
  completed_at: body.completedAtMs === null ? null : formatInstant(body.completedAtMs)
})
