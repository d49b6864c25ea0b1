/** Models that agents use, as they travel. Spec: document 1 section 4, `/models`; api.md "agents and registry". */
import { Schema } from "effect"
import { identifier, instant, integer, oneOf, optional } from "./fields.ts"

/** Whether agents may use a model. */
export const modelStatuses = ["allowed", "restricted", "retired"] as const
/** Where a model runs. */
export const modelHostings = ["vendor_api", "cloud_tenant", "self_hosted"] as const

const modelPrice = Schema.Struct({
  input_micro_usd_per_mtok: optional(integer()),
  output_micro_usd_per_mtok: optional(integer())
})

/** Body of POST /models. Provider, name and version together are one model. */
export const ModelCreate = Schema.Struct({
  provider: identifier(200),
  name: identifier(200),
  version: optional(identifier(200)),
  /** Default `allowed`. */
  status: optional(oneOf(modelStatuses)),
  hosting: optional(oneOf(modelHostings)),
  price: optional(modelPrice)
})
export type ModelCreate = typeof ModelCreate.Type

/** Body of PATCH /models/{model_id}. Left out stays; null empties what may be empty; a price is replaced whole. */
export const ModelUpdate = Schema.Struct({
  status: optional(oneOf(modelStatuses)),
  hosting: optional(oneOf(modelHostings)),
  price: optional(modelPrice)
})
export type ModelUpdate = typeof ModelUpdate.Type

/** A model. Prices are millionths of a US dollar for a million tokens. */
export const ModelOut = Schema.Struct({
  id: Schema.String,
  provider: Schema.String,
  name: Schema.String,
  version: Schema.NullOr(Schema.String),
  status: oneOf(modelStatuses),
  hosting: Schema.NullOr(oneOf(modelHostings)),
  price: Schema.Struct({
    input_micro_usd_per_mtok: Schema.NullOr(Schema.Int),
    output_micro_usd_per_mtok: Schema.NullOr(Schema.Int)
  }),
  created_at: instant
})
export type ModelOut = typeof ModelOut.Type
