/**
 * Facts about this service for a console or an SDK. Spec: document 1 section 4, GET /register/_meta; api.md
 * "agents and registry".
 */
import { Schema } from "effect"

const words = Schema.Array(Schema.String)

/**
 * Answer of GET /register/_meta. Enums by the name of the member that takes them; limits with their unit last. Spec:
 * document 1 section 4, GET /register/_meta.
 */
export const MetaOut = Schema.Struct({
  version: Schema.String,
  tenant_id: Schema.String,
  autonomy_tiers: words,
  /** The conditions of each tier, cumulated. */
  tier_gate: Schema.Record(Schema.String, words),
  /** By act: the statuses it is taken in, and the one it leads to; null where it stays. */
  transitions: Schema.Record(Schema.String, Schema.Struct({ from: words, to: Schema.NullOr(Schema.String) })),
  roles: words,
  enums: Schema.Record(Schema.String, words),
  limits: Schema.Record(Schema.String, Schema.Int),
  record_kinds: words,
  /** Kinds of events that webhooks can ask for. */
  event_kinds: words
})
export type MetaOut = typeof MetaOut.Type
