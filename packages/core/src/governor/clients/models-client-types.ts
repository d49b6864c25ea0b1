/**
 * What a host without Effect does with the models that agents use. The shapes of the interface as plain TypeScript; a
 * test holds them and the contract together.
 */
import type { ActOptions, CallOptions } from "./call-options.ts"

/** Whether agents may use a model. */
export type ModelStatus = "allowed" | "restricted" | "retired"

/** Where a model runs. */
export type ModelHosting = "vendor_api" | "cloud_tenant" | "self_hosted"

/** Unit: millionths of a US dollar for a million tokens. */
export interface ModelPriceInput {
  readonly input_micro_usd_per_mtok?: number | null | undefined
  readonly output_micro_usd_per_mtok?: number | null | undefined
}

/** A model to be registered. Provider, name and version together are one. Absent and null mean the same. */
export interface ModelInput {
  readonly provider: string
  readonly name: string
  readonly version?: string | null | undefined
  /** Default `allowed`. */
  readonly status?: ModelStatus | null | undefined
  readonly hosting?: ModelHosting | null | undefined
  readonly price?: ModelPriceInput | null | undefined
}

/** What changes of a model. Left out stays; null empties what may be empty; a price is replaced whole. */
export type ModelChange = Pick<ModelInput, "status" | "hosting" | "price">

/** A registered model. */
export interface ModelInfo {
  readonly id: string
  readonly provider: string
  readonly name: string
  readonly version: string | null
  readonly status: ModelStatus
  readonly hosting: ModelHosting | null
  readonly price: {
    readonly input_micro_usd_per_mtok: number | null
    readonly output_micro_usd_per_mtok: number | null
  }
  readonly created_at: string
}

/** The models. */
export interface ModelsClient {
  /** Registers a model; one that is there already is refused with `model_taken`, and its id. */
  create(input: ModelInput, options?: ActOptions): Promise<ModelInfo>
  update(id: string, change: ModelChange, options?: ActOptions): Promise<ModelInfo>
  /** Oldest first. */
  list(options?: CallOptions): Promise<ReadonlyArray<ModelInfo>>
}
