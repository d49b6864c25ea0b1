/** Evidence packs as they are asked for. Spec: api.md "decisions, chain, evidence"; chain-format section 5. */
import { Schema } from "effect"
import { partName } from "./chain.ts"
import { id, identifier, instant, integer, list, oneOf, optional, patterned } from "./fields.ts"

/** Every record, a range of them, or those that match a filter. */
export const packKinds = ["full", "range", "sparse"] as const
export type PackKind = (typeof packKinds)[number]

const partNames = list(partName, 0, 32)

/**
 * Body of POST /evidence/packs. What contradicts the kind is refused when the pack is planned, against the tree it is
 * asked of.
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
  disclose: optional(Schema.Union([oneOf(["none", "all"]), partNames]))
})
export type PackRequest = typeof PackRequest.Type

/** A requested pack. `digest` is there after the first complete download. */
export const PackOut = Schema.Struct({
  id: Schema.String,
  kind: oneOf(packKinds),
  from: Schema.Int,
  to: Schema.Int,
  tree_size: Schema.Int,
  agent_id: Schema.NullOr(Schema.String),
  run_id: Schema.NullOr(Schema.String),
  kinds: Schema.NullOr(Schema.Array(Schema.String)),
  since: Schema.NullOr(instant),
  until: Schema.NullOr(instant),
  disclose: Schema.Union([oneOf(["none", "all"]), Schema.Array(Schema.String)]),
  created_by: Schema.String,
  created_at: instant,
  digest: Schema.NullOr(Schema.String)
})
export type PackOut = typeof PackOut.Type
