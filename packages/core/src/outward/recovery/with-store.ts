/** Opens the store that a recovery is about, for one step. */
import { Context, Effect, Layer } from "effect"
import { layerOf, type StorageChoice } from "../../storage/choice.ts"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"

/** Opens the store, with what it knows of stores beside it, and closes it before the next step. */
export const withStore = <A, E, R>(
  choice: StorageChoice,
  use: (storage: StorageApi) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | ReadFault, R> =>
  Effect.scopedWith((scope) =>
    Effect.flatMap(Layer.buildWithScope(Layer.fresh(layerOf(choice)), scope), (context) =>
      Effect.provide(use(Context.get(context, Storage)), context as Context.Context<never>)
    )
  )
