/**
 * What a host without Effect does with what agents are made of. The shapes of the interface as plain TypeScript; a test
 * holds them and the contract together.
 */
import type { ActOptions, CallOptions } from "./call-options.ts"

/** What a piece of an agent is. */
export type ProvenanceKind =
  | "model"
  | "prompt"
  | "tool_server"
  | "dataset"
  | "code"
  | "container"
  | "config"
  | "policy"
  | "skill"

/** A piece of an agent. Absent and null mean the same. */
export interface ProvenanceInput {
  readonly kind: ProvenanceKind
  /** 1 to 200 characters. */
  readonly name: string
  readonly version?: string | null | undefined
  /** With its algorithm, such as `sha256:…`. */
  readonly digest?: string | null | undefined
  readonly uri?: string | null | undefined
  readonly supplier?: string | null | undefined
  /** 0 to 3. */
  readonly slsa_level?: number | null | undefined
  readonly sbom_ref?: string | null | undefined
}

/** A piece of an agent, and the record that says so. `name` is the id once what was written of it was erased. */
export interface ProvenanceInfo {
  readonly id: string
  readonly agent_id: string
  readonly kind: ProvenanceKind
  readonly name: string
  readonly version: string | null
  readonly digest: string | null
  readonly uri: string | null
  readonly supplier: string | null
  readonly slsa_level: number | null
  readonly sbom_ref: string | null
  readonly recorded_by: string
  readonly created_at: string
  /** Null when the record is in a chain that a recovery put aside. */
  readonly seq: number | null
  readonly record_hash: string | null
}

/** What agents are made of. */
export interface ProvenanceClient {
  add(agentId: string, piece: ProvenanceInput, options?: ActOptions): Promise<ProvenanceInfo>
  /** Oldest first. */
  list(agentId: string, options?: CallOptions): Promise<ReadonlyArray<ProvenanceInfo>>
}
