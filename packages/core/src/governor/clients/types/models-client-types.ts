/** Models in the embedding API, derived from the contract. */
import type { ModelCreate, modelHostings, ModelOut, modelStatuses, ModelUpdate } from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Info, Input } from "../plain.ts"

/** Whether agents may use a model. */
export type ModelStatus = (typeof modelStatuses)[number]

/** Where a model runs. */
export type ModelHosting = (typeof modelHostings)[number]

/** Unit: millionths of a US dollar for a million tokens. Spec: decision 0051. */
export type ModelPriceInput = NonNullable<ModelInput["price"]>

/** A model to be registered. Provider, name and version together are one. Absent and null mean the same. */
export interface ModelInput extends Input<typeof ModelCreate> {}

/**
 * Change of a model. A member left out keeps its value; null clears a member that may be empty; a price is replaced as
 * a whole.
 */
export interface ModelChange extends Input<typeof ModelUpdate> {}

/** A registered model. */
export interface ModelInfo extends Info<typeof ModelOut> {}

/**
 * The registry of models. Spec: document 1 section 4, GET /models; its fields are a gap: format 1 section 8,
 * `model.registered`.
 */
export interface ModelsClient {
  /** Registers a model; one that exists already is refused with `model_taken`, and its id. */
  create(input: ModelInput, options?: ActOptions): Promise<ModelInfo>
  update(id: string, change: ModelChange, options?: ActOptions): Promise<ModelInfo>
  /** Oldest first. */
  list(options?: CallOptions): Promise<ReadonlyArray<ModelInfo>>
}
