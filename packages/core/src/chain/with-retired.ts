/** Opens a retired store. */
import { Context, Effect, Layer } from "effect"
import { layerOf, type StorageChoice } from "../storage/choice.ts"
import { type ReadFault, Storage, type StorageApi } from "../storage/port.ts"

/** Opens a retired store for one use. */
export const withRetired = <A, E>(
  store: StorageChoice,
  use: (storage: StorageApi) => Effect.Effect<A, E>
): Effect.Effect<A, E | ReadFault> =>
  Effect.scoped(
    Effect.flatMap(Layer.build(Layer.fresh(layerOf(store))), (context) => use(Context.get(context, Storage)))
  )
