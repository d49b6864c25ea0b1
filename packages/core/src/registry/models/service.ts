/** The models that agents use. Spec: document 1 section 4, `/models`. */
import { isId, type ModelCreate, ModelNotFound, type ModelOut, ModelTaken, type ModelUpdate } from "@flyball/contract"
import { Context, Effect, Layer } from "effect"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { newId } from "../../foundation/ids.ts"
import { everyDocument } from "../../storage/document-pages.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { planRegisterModel } from "./plan-register.ts"
import { planUpdateModel } from "./plan-update.ts"
import { type ModelDocument, MODELS, modelUnique } from "@flyball/rules"
import { formatInstant } from "@flyball/evidence"
import { idAtMs } from "../../foundation/id-time.ts"

/** Operations on models. Spec: document 1 section 4, GET /models. */
export interface ModelsApi {
  /** Registers a model; provider, name and version that are there already are refused. */
  readonly create: (input: ModelCreate, writer: Writer) => Effect.Effect<ModelOut, ModelTaken | ReadFault>
  /** Where nothing changes, nothing is recorded, and the model is answered as it is. */
  readonly update: (
    id: string,
    input: ModelUpdate,
    writer: Writer
  ) => Effect.Effect<ModelOut, ModelNotFound | ReadFault>
  /** Oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<ModelOut>, ReadFault>
}

/** Service of models. Spec: document 1 section 4, GET /models. */
export class Models extends Context.Service<Models, ModelsApi>()("flyball/core/Models") {
  static readonly layer: Layer.Layer<Models, never, Storage> = Layer.effect(
    Models,
    Effect.gen(function* () {
      const storage = yield* Storage
      return Models.of({
        create: (input, writer) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const id = yield* newId("mdl")
              const { change, model } = planRegisterModel(id, input, writer)
              const [taken] = yield* storage.find(MODELS, "model", modelUnique(model).model)
              if (taken !== undefined) return yield* new ModelTaken({ modelId: taken.id })
              yield* storage.commit(change)
              return modelOut(id, model)
            })
          ),
        update: (id, input, writer) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const document = isId("model", id) ? yield* storage.get(MODELS, id) : null
              if (document === null) return yield* new ModelNotFound({ modelId: id })
              const planned = planUpdateModel(id, document.version, document.body as ModelDocument, input, writer)
              if (planned === null) return modelOut(id, document.body as ModelDocument)
              yield* storage.commit(planned.change)
              return modelOut(id, planned.model)
            }),
            { collection: MODELS, id }
          ),
        list: everyDocument(storage, MODELS, (page) =>
          Effect.succeed(page.map(({ body, id }) => modelOut(id, body as ModelDocument)))
        )
      })
    })
  )
}

/** The model as the interface shows it. */
const modelOut = (id: string, model: ModelDocument): ModelOut => ({
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
