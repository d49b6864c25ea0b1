/** Look-up keys of monitors and alerts, and what is scrubbed of a monitor. */
import type { JsonObject } from "../../storage/port.ts"
import { listKeys, sortable } from "../../storage/lists/keys.ts"
import type { Scrub } from "./scrub.ts"

/** Collection of monitors, under their ids. */
export const MONITORS = "monitors"

/** The look-up keys of a monitor: lists, its model, and when it is due. A deleted one has none. */
export const monitorKeys = (id: string, body: JsonObject): { readonly [key: string]: string } => {
  const { createdAtMs, dueMs, isErased, modelId, owner, status } = body
  if (status === "deleted") return {}
  return {
    ...listKeys({ id, owner: String(owner), createdAtMs: Number(createdAtMs) }),
    ...(isErased === true ? {} : { model: `${String(owner)} ${String(modelId)}` }),
    ...(isErased === true || typeof dueMs !== "number" ? {} : { due: sortable(dueMs) })
  }
}

/** The scrubs by kind and part. A monitor whose definition is erased counts nothing any more. */
export const monitorScrubs: { readonly [part: string]: Scrub } = {
  "monitor.changed/definition": {
    collection: MONITORS,
    idMember: "monitor_id",
    restatedBy: ["monitor.changed"],
    isSetBy: () => true,
    without: ({ body: before, collection, id, version }) => {
      const nothing = { field: null, value: null, reference: null, segment: null, slots: {} }
      const body = { ...before, ...nothing, name: id, isErased: true }
      return { put: { collection, id, expectedVersion: version, body, keys: monitorKeys(id, body) }, record: null }
    }
  }
}
