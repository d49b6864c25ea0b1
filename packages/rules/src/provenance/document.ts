/** A piece of an agent as state. Plain data. */

/** A document of the collection. When it was recorded is told by its id. */
export type ProvenanceDocument = {
  readonly agentId: string
  readonly kind: "model" | "prompt" | "tool_server" | "dataset" | "code" | "container" | "config" | "policy" | "skill"
  readonly digest: string | null
  readonly slsaLevel: number | null
  readonly recordedBy: string
  /** The document's id once what was written of it was erased. */
  readonly name: string
  readonly version: string | null
  readonly uri: string | null
  readonly supplier: string | null
  readonly sbomRef: string | null
}

/** Members that come from the part `profile`. */
export const provenanceMembers = ["name", "version", "uri", "supplier", "sbomRef"] as const

/** What somebody wrote of a piece. */
export type ProvenanceProfile = Pick<ProvenanceDocument, (typeof provenanceMembers)[number]>

/** A profile after its part was erased. */
export const erasedProvenance = (id: string): ProvenanceProfile => ({
  name: id,
  version: null,
  uri: null,
  supplier: null,
  sbomRef: null
})
