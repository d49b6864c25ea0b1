/** Plans the registration and the change of a model. Pure. */
import type { ModelCreate, ModelOut, ModelUpdate } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { idAtMs } from "../../foundation/id-time.ts"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type ModelDocument, MODELS, modelUnique } from "@flyball/rules"

/** The model there will be, and the change that makes it. */
export interface ModelPlan {
  readonly model: ModelDocument
  readonly change: ChangeSet
}

/**
 * Plans the registration of a model. The commit checks that there is no such model yet.
 *
 * - Fails: never.
 * - Spec: api "agents and registry".
 */
export const planRegisterModel = (modelId: string, input: ModelCreate, writer: Writer): ModelPlan => {
  const { hosting = null, name, price = null, provider, status, version = null } = input
  return planned(
    modelId,
    0,
    { provider, name, version, status: status ?? "allowed", hosting, ...priced(price) },
    "model.registered",
    writer
  )
}

/**
 * Plans a change of a model; null where nothing changes, which needs no record. A member left out stays.
 *
 * - Fails: never.
 * - Spec: api "agents and registry".
 */
export const planUpdateModel = (
  modelId: string,
  version: number,
  model: ModelDocument,
  input: ModelUpdate,
  writer: Writer
): ModelPlan | null => {
  const next: ModelDocument = {
    ...model,
    status: input.status ?? model.status,
    hosting: input.hosting === undefined ? model.hosting : input.hosting,
    ...(input.price === undefined ? {} : priced(input.price))
  }
  return changing.every((name) => next[name] === model[name])
    ? null
    : planned(modelId, version, next, "model.updated", writer)
}

/** Members of a model that a change may set. */
const changing = ["status", "hosting", "inputMicroUsdPerMtok", "outputMicroUsdPerMtok"] as const

const priced = (
  price: ModelCreate["price"]
): Pick<ModelDocument, "inputMicroUsdPerMtok" | "outputMicroUsdPerMtok"> => ({
  inputMicroUsdPerMtok: price?.input_micro_usd_per_mtok ?? null,
  outputMicroUsdPerMtok: price?.output_micro_usd_per_mtok ?? null
})

const planned = (
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

/** The model as the interface shows it. */
export const modelOut = (id: string, model: ModelDocument): ModelOut => ({
  id,
  provider: model.provider,
  name: model.name,
  version: model.version,
  status: model.status,
  hosting: model.hosting,
  price: {
    input_micro_usd_per_mtok: model.inputMicroUsdPerMtok,
    output_micro_usd_per_mtok: model.outputMicroUsdPerMtok
  },
  created_at: formatInstant(idAtMs(id))
})
