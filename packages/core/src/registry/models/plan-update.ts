/** Plans the update of a model. Pure. */
import type { ModelUpdate } from "@flyball/contract"
import type { Writer } from "../../foundation/writer.ts"
import type { ModelDocument } from "@flyball/rules"
import { type ModelPlan, priceMembers, modelPlan } from "./plan-register.ts"

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
    ...(input.price === undefined ? {} : priceMembers(input.price))
  }
  return changing.every((name) => next[name] === model[name])
    ? null
    : modelPlan(modelId, version, next, "model.updated", writer)
}

/** Members of a model that a change may set. */
const changing = ["status", "hosting", "inputMicroUsdPerMtok", "outputMicroUsdPerMtok"] as const
