/**
 * What an agent is made of, as it travels. Spec: document 1 section 4, `/agents/{agent_id}/provenance`; api.md "agents
 * and registry".
 */
import { Schema } from "effect"
import { identifier, instant, integer, line, name, oneOf, optional } from "./fields.ts"

/** What a piece of an agent is. */
export const provenanceKinds = [
  "model",
  "prompt",
  "tool_server",
  "dataset",
  "code",
  "container",
  "config",
  "policy",
  "skill"
] as const

/** Body of POST /agents/{agent_id}/provenance. */
export const ProvenanceCreate = Schema.Struct({
  kind: oneOf(provenanceKinds),
  name: name(200),
  version: optional(line(200)),
  /** With its algorithm, such as `sha256:…`. */
  digest: optional(identifier(200)),
  uri: optional(line(2_000)),
  supplier: optional(line(200)),
  slsa_level: optional(integer(0, 3)),
  sbom_ref: optional(line(2_000))
})
export type ProvenanceCreate = typeof ProvenanceCreate.Type

/** A piece of an agent, and the record that says so. `name` is the id once what was written of it was erased. */
export const ProvenanceOut = Schema.Struct({
  id: Schema.String,
  agent_id: Schema.String,
  kind: oneOf(provenanceKinds),
  name: Schema.String,
  version: Schema.NullOr(Schema.String),
  digest: Schema.NullOr(Schema.String),
  uri: Schema.NullOr(Schema.String),
  supplier: Schema.NullOr(Schema.String),
  slsa_level: Schema.NullOr(Schema.Int),
  sbom_ref: Schema.NullOr(Schema.String),
  recorded_by: Schema.String,
  created_at: instant,
  /** Null when the record is in a chain that a recovery put aside. */
  seq: Schema.NullOr(Schema.Int),
  record_hash: Schema.NullOr(Schema.String)
})
export type ProvenanceOut = typeof ProvenanceOut.Type
