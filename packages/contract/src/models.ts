/** Models that agents use, as they travel. Spec: document 1 section 4, `/models`; api.md "agents and registry". */
import { Schema } from "effect"
import { foreignName, instant, integer, oneOf, optional } from "./foundation/fields.ts"
import type { Info, Input } from "./foundation/plain.ts"
import { becomesRecord, computed, inBody, showsRecords } from "./foundation/place.ts"

/** Permissions of agents to use a model. */
export const modelStatuses = ["allowed", "restricted", "retired"] as const
/** Where a model runs. */
export const modelHostings = ["vendor_api", "cloud_tenant", "self_hosted"] as const

const modelPrice = Schema.Struct({
  input_micro_usd_per_mtok: optional(integer()),
  output_micro_usd_per_mtok: optional(integer())
})

/**
 * Body of POST /models. Provider, name and version together are one model. Spec: document 1 section 2 leaves its
 * members open; format 1 section 8, `model.registered`.
 */
export const ModelCreate = Schema.Struct({
  provider: inBody(foreignName(200)),
  name: inBody(foreignName(200)),
  version: inBody(optional(foreignName(200))),
  /** Default `allowed`. */
  status: inBody(optional(oneOf(modelStatuses))),
  hosting: inBody(optional(oneOf(modelHostings))),
  price: inBody(optional(modelPrice))
}).annotate(becomesRecord("model.registered"))
export type ModelCreate = typeof ModelCreate.Type

/** A model to be registered. Provider, name and version together are one. Absent and null mean the same. */
export interface ModelInput extends Input<typeof ModelCreate> {}

/** Body of PATCH /models/{model_id}. Left out stays; null empties what may be empty; a price is replaced whole. */
export const ModelUpdate = Schema.Struct({
  status: optional(oneOf(modelStatuses)),
  hosting: optional(oneOf(modelHostings)),
  price: optional(modelPrice)
})
export type ModelUpdate = typeof ModelUpdate.Type

/**
 * Change of a model. A member left out keeps its value; null clears a member that may be empty; a price is replaced as
 * a whole.
 */
export interface ModelChange extends Input<typeof ModelUpdate> {}

/** A model. Prices are millionths of a US dollar for a million tokens. Spec: document 1 section 4, GET /models. */
export const ModelOut = Schema.Struct({
  id: inBody(Schema.String, "model_id"),
  provider: inBody(Schema.String),
  name: inBody(Schema.String),
  version: inBody(Schema.NullOr(Schema.String)),
  status: inBody(oneOf(modelStatuses)),
  hosting: inBody(Schema.NullOr(oneOf(modelHostings))),
  price: inBody(
    Schema.Struct({
      input_micro_usd_per_mtok: Schema.NullOr(Schema.Int),
      output_micro_usd_per_mtok: Schema.NullOr(Schema.Int)
    })
  ),
  created_at: computed(instant)
}).annotate(showsRecords(["model.registered", "model.updated"], { body: ["writer"] }))
export type ModelOut = typeof ModelOut.Type

/** A registered model. */
export interface ModelInfo extends Info<typeof ModelOut> {}
