/** Reads the registered models that names of models are resolved by. */
import { isId } from "@flyball/contract"
import { type AgentDocument, MODELS, type NamedModel, type RegisteredModels } from "@flyball/rules"
import { Effect } from "effect"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/** Models that are remembered: the names of one never change. */
const MAX_MODELS = 100_000

/** The models whose ids are among these texts, and those that were read before. */
export type ReadModels = (texts: ReadonlyArray<string>) => Effect.Effect<RegisteredModels, ReadFault>

/** A reader over a store, which keeps what it read. */
export const modelsReader = (storage: StorageApi): ReadModels => {
  const known = new Map<string, NamedModel>()
  return Effect.fnUntraced(function* (texts) {
    for (const id of texts) {
      if (!isId("model", id) || known.has(id)) continue
      const document = yield* storage.get(MODELS, id)
      if (known.size >= MAX_MODELS) known.clear()
      if (document !== null) known.set(id, document.body as NamedModel)
    }
    return known
  })
}

/** The texts of an agent's `model_ids` that halts are compared with. */
export const modelIdsOf = ({ modelIds, sealedModelIds }: AgentDocument): ReadonlyArray<string> =>
  sealedModelIds ?? modelIds
