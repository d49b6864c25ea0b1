/** Plans the registration of a model. Pure. */
import type { ModelCreate } from "@flyball/contract"
import type { Writer } from "../../foundation/writer.ts"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import { type ModelDocument, MODELS, modelUnique } from "@flyball/rules"

/**
 * Plans the registration of a model. The commit checks that there is no such model yet.
 *
 * - Fails: never.
 * - Spec: api "agents and registry".
 */
export const planRegisterModel = (modelId: string, input: ModelCreate, writer: Writer): ModelPlan => {
  const { hosting = null, name, price = null, provider, status, version = null } = input
  return modelPlan(
    modelId,
    0,
    { provider, name, version, status: status ?? "allowed", hosting, ...priceMembers(price) },
    "model.registered",
    writer
  )
}

/** The model there will be, and the change that makes it. */
export interface ModelPlan {
  readonly model: ModelDocument
  readonly change: ChangeSet
}

/** Answers the members of a model that hold its price. */
export const priceMembers = (
  price: ModelCreate["price"]
): Pick<ModelDocument, "inputMicroUsdPerMtok" | "outputMicroUsdPerMtok"> => ({
  inputMicroUsdPerMtok: price?.input_micro_usd_per_mtok ?? null,
  outputMicroUsdPerMtok: price?.output_micro_usd_per_mtok ?? null
})

/** Makes the plan that puts a model and records it whole. */
export const modelPlan = (
  modelId: string,
  expectedVersion: number,
  model: ModelDocument,
  kind: string,
  writer: Writer
): ModelPlan => {
  const price = omitNullish({
    input_micro_usd_per_mtok: model.inputMicroUsdPerMtok,
    output_micro_usd_per_mtok: model.outputMicroUsdPerMtok
  })
  const { hosting, name, provider, status, version } = model
  return {
    model,
    change: {
      puts: [{ collection: MODELS, id: modelId, expectedVersion, body: model, unique: modelUnique(model) }],
      records: [
        {
          kind,
          agentId: null,
          body: omitNullish({
            hosting,
            model_id: modelId,
            name,
            price: Object.keys(price).length === 0 ? null : price,
            provider,
            status,
            version,
            writer: writer.id
          }) as JsonObject,
          parts: []
        }
      ]
    }
  }
}
