/** Scrubs extractions. */
import { EXTRACTIONS, extractionKeys } from "../../registry/extractions/document.ts"
import type { Scrub } from "./scrub.ts"

/** An extraction without values. Its facts stay: evaluations were made by them. */
const withoutValues: Scrub = {
  collection: EXTRACTIONS,
  idMember: "extraction_id",
  restatedBy: ["extraction.completed"],
  without: ({ body: before, collection, id, version }) => {
    const body = { ...before, fields: {}, candidates: {}, warnings: [] }
    return { put: { collection, id, expectedVersion: version, body, keys: extractionKeys(id, body) }, record: null }
  }
}

/** The scrubs by kind and part. No document holds the text of another one. */
export const extractionScrubs: { readonly [part: string]: Scrub } = { "extraction.completed/fields": withoutValues }
