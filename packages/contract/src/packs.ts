/** Requests for evidence packs. Spec: api.md "decisions, chain, evidence"; chain-format section 5. */
import { Schema } from "effect"
import { partName } from "./chain.ts"
import { id, identifier, instant, integer, list, oneOf, optional, patterned } from "./foundation/fields.ts"
import { inBody, inDocument, showsRecords } from "./foundation/place.ts"

/** Every record, a range of them, or those that match a filter. */
export const packKinds = ["full", "range", "sparse"] as const

/** One of {@link packKinds}. */
export type PackKind = (typeof packKinds)[number]

const partNames = list(partName, 0, 32)

/**
 * Body of POST /evidence/packs. What contradicts the kind is refused when the pack is planned, against the tree at that
 * moment. Spec: format 1 section 5.
 */
export const PackRequest = Schema.Struct({
  kind: oneOf(packKinds),
  from: optional(integer()),
  to: optional(integer()),
  agent_id: optional(id("agent")),
  run_id: optional(identifier(200)),
  kinds: optional(list(patterned(/^[a-z][a-z0-9_.]{2,63}$/, 64), 1, 64)),
  since: optional(instant),
  until: optional(instant),
  /** Which parts are shown; default `none`. */
  disclose: optional(Schema.Union([oneOf(["none", "all"]), partNames]))
})
export type PackRequest = typeof PackRequest.Type

/**
 * A requested pack. `digest` is there after the first complete download. Spec: format 1 section 8, `evidence.exported`.
 */
export const PackOut = Schema.Struct({
  id: inBody(Schema.String, "pack_id"),
  kind: inBody(oneOf(packKinds), "pack_kind"),
  from: inDocument(Schema.Int),
  to: inDocument(Schema.Int),
  tree_size: inBody(Schema.Int),
  agent_id: inDocument(Schema.NullOr(Schema.String)),
  run_id: inDocument(Schema.NullOr(Schema.String)),
  kinds: inDocument(Schema.NullOr(Schema.Array(Schema.String))),
  since: inDocument(Schema.NullOr(instant)),
  until: inDocument(Schema.NullOr(instant)),
  disclose: inDocument(Schema.Union([oneOf(["none", "all"]), Schema.Array(Schema.String)])),
  created_by: inDocument(Schema.String),
  created_at: inDocument(instant),
  digest: inBody(Schema.NullOr(Schema.String))
}).annotate(showsRecords(["evidence.exported"], { body: ["writer"] }))
export type PackOut = typeof PackOut.Type
