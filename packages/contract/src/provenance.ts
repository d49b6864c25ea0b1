/**
 * Provenance of an agent on the wire. Spec: document 1 section 4, `/agents/{agent_id}/provenance`; api.md "agents
 * and registry".
 */
import { Schema } from "effect"
import { identifier, instant, integer, line, name, oneOf, optional } from "./foundation/fields.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { becomesRecord, computed, inBody, inPart, showsRecords } from "./foundation/place.ts"

/** Kinds of provenance entries. */
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

/** Kind of a provenance component. */
export type ProvenanceKind = (typeof provenanceKinds)[number]

/**
 * Body of POST /agents/{agent_id}/provenance. Spec: document 1 section 4, POST /agents/{agent_id}/provenance; its
 * members are a gap: format 1 section 8, `agent.provenance_added`.
 */
export const ProvenanceCreate = Schema.Struct({
  kind: inBody(oneOf(provenanceKinds)),
  /** 1 to 200 characters. */
  name: inPart("profile", name(200)),
  version: inPart("profile", optional(line(200))),
  /** With its algorithm, such as `sha256:…`. */
  digest: inBody(optional(identifier(200))),
  uri: inPart("profile", optional(line(2_000))),
  supplier: inPart("profile", optional(line(200))),
  /** 0 to 3. */
  slsa_level: inBody(optional(integer(0, 3))),
  sbom_ref: inPart("profile", optional(line(2_000)))
}).annotate(becomesRecord("agent.provenance_added"))
export type ProvenanceCreate = typeof ProvenanceCreate.Type

/** A piece of an agent. Absent and null mean the same. */
export interface ProvenanceInput extends Input<typeof ProvenanceCreate> {}

/**
 * A component of an agent, and its record. `name` is the id once its description was erased. Spec: document 1 section
 * 4, GET /agents/{agent_id}/provenance.
 */
export const ProvenanceOut = Schema.Struct({
  id: inBody(Schema.String, "provenance_id"),
  agent_id: inBody(Schema.String),
  kind: inBody(oneOf(provenanceKinds)),
  name: inPart("profile", Schema.String),
  version: inPart("profile", Schema.NullOr(Schema.String)),
  digest: inBody(Schema.NullOr(Schema.String)),
  uri: inPart("profile", Schema.NullOr(Schema.String)),
  supplier: inPart("profile", Schema.NullOr(Schema.String)),
  slsa_level: inBody(Schema.NullOr(Schema.Int)),
  sbom_ref: inPart("profile", Schema.NullOr(Schema.String)),
  recorded_by: inBody(Schema.String, "writer"),
  created_at: computed(instant),
  /** Null when the record is in a retired chain. */
  seq: computed(Schema.NullOr(Schema.Int)),
  record_hash: computed(Schema.NullOr(Schema.String))
}).annotate(showsRecords(["agent.provenance_added"], { body: ["model"] }))
export type ProvenanceOut = typeof ProvenanceOut.Type

/** A component of an agent, and its record. `name` is the id once its description was erased. */
export interface ProvenanceInfo extends Info<typeof ProvenanceOut> {}
