/** Folds `mapping.changed` into the document it says there is: the newest one counts, whole. */
import { partMembers } from "../records/part-json.ts"
import type { ExpectedDocument, Json, JsonMap, ReplayRecord } from "../records/record.ts"
import { emptyMapping, type MappingDocument, mappingMembers } from "./document.ts"

/** Collection of the mapping. */
export const ACCESS_MAPPING = "access_mapping"

/** Id of the one document in {@link ACCESS_MAPPING}. */
export const MAPPING_ID = "mapping"

/** The document after `mapping.changed`. */
export const foldMappingChanged = (record: ReplayRecord): ExpectedDocument => {
  const part = partMembers(record.parts.get("mapping"))
  return {
    collection: ACCESS_MAPPING,
    id: MAPPING_ID,
    body: part.state === "known" ? readMapping(part.members) : emptyMapping,
    unique: {},
    unknown: part.state === "known" || part.state === "erased" ? [] : mappingMembers,
    erased: part.state === "erased" ? mappingMembers : [],
    personal: mappingMembers
  }
}

const readMapping = (members: JsonMap): MappingDocument => ({
  rules: (members["rules"] as ReadonlyArray<JsonMap>).map((rule) => {
    const match = rule["match"] as JsonMap
    return {
      id: String(rule["id"]),
      claim: String(match["claim"]) as MappingDocument["rules"][number]["claim"],
      value: String(match["value"]),
      role: String(rule["role"]) as MappingDocument["rules"][number]["role"],
      orgUnit: String(rule["org_unit"])
    }
  }),
  trustCanonical: (members["trust_canonical"] as Json) === true
})
