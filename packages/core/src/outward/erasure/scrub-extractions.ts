/** Scrubs extractions. */
import { EXTRACTIONS, extractionKeys, storedBytesOf } from "../../registry/extractions/document.ts"
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

/** An extraction whose text is no longer kept: its org unit stores so much less. */
const withoutText: Scrub = {
  ...withoutValues,
  without: ({ body: before, collection, id, version }) => {
    const body = { ...before, keptBytes: 0 }
    return {
      put: { collection, id, expectedVersion: version, body, keys: extractionKeys(id, body) },
      record: null,
      counts: [{ name: storedBytesOf(String(before["owner"])), add: -Number(before["keptBytes"] ?? 0) }]
    }
  }
}

/** The scrubs by kind and part. */
export const extractionScrubs: { readonly [part: string]: Scrub } = {
  "extraction.completed/document": withoutText,
  "extraction.completed/fields": withoutValues
}
