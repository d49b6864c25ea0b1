/** The endpoints of documents. Spec: document 2 section 8, "documents"; api.md "Document 2". */
import { Schema } from "effect"
import {
  Extraction,
  ExtractIn,
  ExtractionsPage,
  ExtractionsQuery,
  ExtractQuery,
  RevealedExtraction
} from "../../platform/documents.ts"
import { unitQuery } from "../../platform/list.ts"
import { requestBounds } from "../../platform/plans.ts"
import { ExtractionNotFound } from "../../refusals.ts"
import { access, platformAccess } from "../access.ts"
import { endpoint, fileOrJsonBody, idParam, json, queryOf } from "../endpoint.ts"

const write = platformAccess("documents:write")
const read = platformAccess("documents:read")
const module = "documents"
const query = queryOf(Schema.Struct(unitQuery))
const params = { extraction_id: idParam("extraction", () => new ExtractionNotFound({})) } as const

/** Media types of documents. */
export const documentMedia = [
  "application/pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/xml",
  "image/jpeg",
  "image/png",
  "message/rfc822",
  "text/html",
  "text/plain",
  "text/xml"
]

/** Endpoints of documents. Spec: document 2 section 8, "documents". */
export const documents = {
  extract: endpoint({
    id: "documents.extract",
    method: "POST",
    path: "/v1/documents/extract",
    summary: "Extracts the fields of a document: the body itself, or JSON that contains or names it.",
    access: write,
    platform: { module, operation: "documents.extract", quota: { resource: "documents", most: () => 1 } },
    query: queryOf(ExtractQuery),
    body: fileOrJsonBody(ExtractIn, {
      media: documentMedia,
      limitBytes: requestBounds.documentBytes,
      json: 2 * requestBounds.inlineDocumentBytes
    }),
    success: json(201, Extraction),
    refusals: ["AgentNotFound", "ExtractionDenied", "ModuleNotInstalled", "PlanLimitReached", "RateLimitExceeded"]
  }),
  list: endpoint({
    id: "documents.extractions",
    method: "GET",
    path: "/v1/documents/extractions",
    summary: "Lists extractions, the newest first.",
    access: read,
    platform: { module },
    query: queryOf(ExtractionsQuery),
    success: json(200, ExtractionsPage),
    refusals: ["ModuleNotInstalled"]
  }),
  get: endpoint({
    id: "documents.extraction",
    method: "GET",
    path: "/v1/documents/extractions/{extraction_id}",
    summary: "Returns one extraction with its candidates. Identifying numbers are masked.",
    access: read,
    platform: { module },
    params,
    query,
    success: json(200, Extraction),
    refusals: ["ExtractionNotFound", "ModuleNotInstalled"]
  }),
  reveal: endpoint({
    id: "documents.reveal",
    method: "POST",
    path: "/v1/documents/extractions/{extraction_id}/reveal",
    summary: "Returns the values of an extraction in full, and records that somebody read them.",
    access: platformAccess("documents:reveal", access.operate.roles),
    platform: { module },
    params,
    query,
    success: json(200, RevealedExtraction),
    showsSecret: true,
    refusals: ["ExtractionNotFound", "ExtractionNotReady", "ModuleNotInstalled"]
  })
} as const
