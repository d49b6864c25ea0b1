/** Provenance in the embedding API, derived from the contract. */
import type { ProvenanceCreate, provenanceKinds, ProvenanceOut } from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Info, Input } from "@flyball/contract"

/** Kind of a provenance component. */
export type ProvenanceKind = (typeof provenanceKinds)[number]

/** A piece of an agent. Absent and null mean the same. */
export interface ProvenanceInput extends Input<typeof ProvenanceCreate> {}

/** A component of an agent, and its record. `name` is the id once its description was erased. */
export interface ProvenanceInfo extends Info<typeof ProvenanceOut> {}

/**
 * Provenance of agents: the components that they are made of. Spec: document 1 section 4,
 * `/agents/{agent_id}/provenance`; its fields are a gap: format 1 section 8, `agent.provenance_added`.
 */
export interface ProvenanceClient {
  add(agentId: string, piece: ProvenanceInput, options?: ActOptions): Promise<ProvenanceInfo>
  /** Oldest first. */
  list(agentId: string, options?: CallOptions): Promise<ReadonlyArray<ProvenanceInfo>>
}
