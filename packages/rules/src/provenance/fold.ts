/** Folds `agent.provenance_added` into the document it says there is. */
import { partMembers } from "../records/part-json.ts"
import { readMembers } from "../records/part-members.ts"
import type { ExpectedDocument, Json, ReplayRecord } from "../records/record.ts"
import { erasedProvenance, type ProvenanceDocument, provenanceMembers } from "./document.ts"

/** Collection of the components of agents. */
export const PROVENANCE = "provenance"

/** The document after `agent.provenance_added`. */
export const foldProvenanceAdded = ({ body, parts }: ReplayRecord): ExpectedDocument => {
  const id = String(body["provenance_id"])
  const profile = partMembers(parts.get("profile"))
  const piece: ProvenanceDocument = {
    agentId: String(body["agent_id"]),
    kind: String(body["kind"]) as ProvenanceDocument["kind"],
    digest: text(body["digest"]),
    slsaLevel: typeof body["slsa_level"] === "number" ? body["slsa_level"] : null,
    recordedBy: String(body["writer"]),
    ...(typeof body["model"] === "string" ? { sealedModel: body["model"] } : {}),
    ...readMembers(profile.state === "known" ? profile.members : {}, erasedProvenance(id))
  }
  return {
    collection: PROVENANCE,
    id,
    body: piece,
    unique: {},
    unknown: profile.state === "known" || profile.state === "erased" ? [] : provenanceMembers,
    erased: profile.state === "erased" ? provenanceMembers : [],
    personal: provenanceMembers
  }
}

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null)

/**
 * The model that a piece of kind `model` names, which a halt of that model reaches; null where the record is older than
 * the member, and its part is not shown.
 */
export const modelOf = (record: ReplayRecord): string | null => {
  const sealed = text(record.body["model"])
  if (sealed !== null) return sealed
  const profile = partMembers(record.parts.get("profile"))
  return profile.state === "known" ? text(profile.members["name"]) : null
}
