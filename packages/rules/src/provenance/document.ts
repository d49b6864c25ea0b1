/** A piece of an agent as state. Plain data. */
import { namesOf } from "../records/part-members.ts"

/** Texts about a component: the members of the part `profile`. */
export type ProvenanceProfile = {
  /** The document's id once the part was erased. */
  readonly name: string
  readonly version: string | null
  readonly uri: string | null
  readonly supplier: string | null
  readonly sbomRef: string | null
}

/** A profile after its part was erased. Spec: decision 0006. */
export const erasedProvenance = (id: string): ProvenanceProfile => ({
  name: id,
  version: null,
  uri: null,
  supplier: null,
  sbomRef: null
})

/** Members that come from the part `profile`. */
export const provenanceMembers = namesOf(erasedProvenance(""))

/**
 * A document of the collection. Its id begins with the time of its record. Spec: document 1 section 4,
 * `/agents/{agent_id}/provenance`; its fields are a gap: format 1 section 8, `agent.provenance_added`.
 */
export type ProvenanceDocument = ProvenanceProfile & {
  readonly agentId: string
  readonly kind: "model" | "prompt" | "tool_server" | "dataset" | "code" | "container" | "config" | "policy" | "skill"
  readonly digest: string | null
  readonly slsaLevel: number | null
  readonly recordedBy: string
  /**
   * Of kind `model`: the name that the body of its record seals, for halts of that model. It stays when the profile is
   * erased. Absent where the name has not the form of a target, and in older documents.
   */
  readonly sealedModel?: string
}
