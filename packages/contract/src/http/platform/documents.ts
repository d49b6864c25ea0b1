/** The endpoints of documents. Spec: document 2 section 8, "documents"; api.md "Document 2". */
import { requestBounds } from "../../platform/plans.ts"
import { DocumentAgent, DocumentAgentCreate, Extraction, ExtractIn, ExtractQuery } from "../../platform/products.ts"
import { platformAccess } from "../access.ts"
import { endpoint, fileOrJsonBody, json, jsonBody, queryOf } from "../endpoint.ts"

const access = platformAccess("documents:write")
const module = "documents"

/** Media types of documents. */
const media = [
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
    access,
    platform: { module, operation: "documents.extract", quota: { resource: "documents", most: () => 1 } },
    query: queryOf(ExtractQuery),
    body: fileOrJsonBody(ExtractIn, {
      media,
      limitBytes: requestBounds.documentBytes,
      json: 2 * requestBounds.inlineDocumentBytes
    }),
    success: json(201, Extraction),
    refusals: ["ModuleNotInstalled"]
  }),
  createAgent: endpoint({
    id: "documents.create_agent",
    method: "POST",
    path: "/v1/documents/agents",
    summary: "Creates an agent that reads documents in a browser.",
    access,
    platform: { module, operation: "documents.create_agent" },
    body: jsonBody(DocumentAgentCreate),
    success: json(201, DocumentAgent),
    refusals: ["ModuleNotInstalled"]
  })
} as const
