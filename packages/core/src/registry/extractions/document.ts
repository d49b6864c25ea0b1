/** Extractions: their look-up keys, and what evaluations read of them. */
import type { DocumentFacts } from "@flyball/rules"
import { Effect } from "effect"
import { listKeys, sortable } from "../../storage/lists/keys.ts"
import type { JsonObject, ReadFault, StorageApi } from "../../storage/port.ts"

/** Collection of extractions, under their ids. */
export const EXTRACTIONS = "extractions"

/** The counter of the bytes that an org unit lets be kept, by the owner of its documents. */
export const storedBytesOf = (owner: string): string => `${owner}:storage`

/** The look-up keys of an extraction: lists, and when it is due until it ended. */
export const extractionKeys = (id: string, body: JsonObject): { readonly [key: string]: string } => {
  const { createdAtMs, dueMs, owner, status } = body
  return {
    ...listKeys({ id, owner: String(owner), createdAtMs: Number(createdAtMs), filters: { status: String(status) } }),
    ...(typeof dueMs === "number" ? { due: sortable(dueMs) } : {})
  }
}

/** The facts of a completed extraction of an org unit; null where there is none. They never change. */
export const factsOfExtraction = (
  storage: StorageApi,
  id: string,
  orgUnit: string | null
): Effect.Effect<DocumentFacts | null, ReadFault> =>
  Effect.map(storage.get(EXTRACTIONS, id), (document) => {
    const { facts = null, orgUnit: of } = (document?.body ?? {}) as {
      readonly facts?: DocumentFacts | null
      readonly orgUnit?: string
    }
    return of === orgUnit ? facts : null
  })
