/** Look-up keys of fairness analyses, and what is scrubbed of them. */
import type { JsonObject } from "../../storage/port.ts"
import { listKeys, sortable } from "../../storage/lists/keys.ts"
import type { Scrub } from "./scrub.ts"

/** Collection of fairness analyses, under their ids. */
export const ANALYSES = "analyses"

/** The look-up keys of an analysis: lists, and when it is due while it runs. */
export const analysisKeys = (id: string, body: JsonObject): { readonly [key: string]: string } => {
  const { createdAtMs, dueMs, modelId, owner } = body
  return {
    ...listKeys({ id, owner: String(owner), createdAtMs: Number(createdAtMs), filters: { model_id: String(modelId) } }),
    ...(typeof dueMs === "number" ? { due: sortable(dueMs) } : {})
  }
}

/** An analysis without the names of its model, columns and groups. Its counts stay. */
const withoutNames = (kind: string): Scrub => ({
  collection: ANALYSES,
  idMember: "analysis_id",
  restatedBy: [kind],
  without: ({ body: before, collection, id, version }) => {
    const body = { ...before, modelId: id, columns: null }
    return { put: { collection, id, expectedVersion: version, body, keys: analysisKeys(id, body) }, record: null }
  }
})

/** The scrubs by kind and part. No document holds a data set. */
export const analysisScrubs: { readonly [part: string]: Scrub } = {
  "analysis.completed/analysis": withoutNames("analysis.completed"),
  "analysis.failed/analysis": withoutNames("analysis.failed")
}
