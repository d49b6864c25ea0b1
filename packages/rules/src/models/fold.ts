/** Folds a model's records into the document they say there is. */
import type { ExpectedDocument, Json, JsonMap, ReplayRecord } from "../records/record.ts"
import { type ModelDocument, modelUnique } from "./document.ts"

/** Collection of the models. */
export const MODELS = "models"

/** The document after `model.registered` or `model.updated`: both say all of it. */
export const foldModel = ({ body }: ReplayRecord): ExpectedDocument => {
  const price = (body["price"] ?? {}) as JsonMap
  const model: ModelDocument = {
    provider: String(body["provider"]),
    name: String(body["name"]),
    version: text(body["version"]),
    status: String(body["status"]) as ModelDocument["status"],
    hosting: text(body["hosting"]) as ModelDocument["hosting"],
    inputMicroUsdPerMtok: integer(price["input_micro_usd_per_mtok"]),
    outputMicroUsdPerMtok: integer(price["output_micro_usd_per_mtok"])
  }
  return {
    collection: MODELS,
    id: String(body["model_id"]),
    body: model,
    unique: modelUnique(model),
    unknown: [],
    erased: [],
    personal: []
  }
}

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null)
const integer = (value: Json | undefined): number | null => (typeof value === "number" ? value : null)
