/** The access mapping: who becomes what here. Spec: document 1 section 5; api.md "Who may call". */
import type { InvalidInput, MappingIn, MappingOut, MappingVersionConflict } from "@flyball/contract"
import { Context, Effect, Layer } from "effect"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { type ReadFault, Storage } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { mappingOut, storedMapping } from "./document.ts"
import { planSetMapping } from "./plan-set.ts"
import { ACCESS_MAPPING, MAPPING_ID, type MappingDocument } from "@flyball/rules"

/** Operations on the access mapping. Spec: document 1 section 5, item 7; decision 0016. */
export interface AccessMappingApi {
  /** The mapping in force, as stored now: what another process has set counts at once. */
  readonly current: Effect.Effect<MappingDocument, ReadFault>
  readonly get: Effect.Effect<MappingOut, ReadFault>
  /** Replaces all of it. */
  readonly set: (
    input: MappingIn,
    writer: Writer
  ) => Effect.Effect<MappingOut, InvalidInput | MappingVersionConflict | ReadFault>
}

/** Service of the access mapping. Spec: document 1 section 5, item 7; decision 0016. */
export class AccessMapping extends Context.Service<AccessMapping, AccessMappingApi>()("flyball/core/AccessMapping") {
  static readonly layer: Layer.Layer<AccessMapping, never, Storage> = Layer.effect(
    AccessMapping,
    Effect.gen(function* () {
      const storage = yield* Storage
      const stored = Effect.map(storage.get(ACCESS_MAPPING, MAPPING_ID), storedMapping)
      return AccessMapping.of({
        current: Effect.map(stored, ({ body }) => body),
        get: Effect.map(stored, mappingOut),
        set: (input, writer) =>
          commitWithRetry(
            storage,
            Effect.gen(function* () {
              const before = yield* stored
              const { change, mapping } = yield* Effect.fromResult(planSetMapping(before, input, writer))
              yield* storage.commit(change)
              return mappingOut({ version: before.version + 1, body: mapping })
            }),
            { collection: ACCESS_MAPPING, id: MAPPING_ID }
          )
      })
    })
  )
}
