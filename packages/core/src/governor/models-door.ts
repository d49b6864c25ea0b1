/** Models through the plain door. */
import { Effect } from "effect"
import { Models } from "../models/service.ts"
import type { Writer } from "../writer.ts"
import { acting } from "./acting.ts"
import type { Door } from "./door.ts"
import { decoded, decodeModel, decodeModelChange } from "./input.ts"
import type { ModelsDoor } from "./models-door-types.ts"

/** The models over a door. */
export const modelsDoor = (door: Door, own: Writer): ModelsDoor => {
  const act = acting(door, own)
  return {
    create: (input, options) => act((writer) => Effect.flatMap(decoded(decodeModel, input), (model) => Models.use((models) => models.create(model, writer))), options),
    update: (id, change, options) => act((writer) => Effect.flatMap(decoded(decodeModelChange, change), (input) => Models.use((models) => models.update(id, input, writer))), options),
    list: (options) => door.run(Models.use((models) => models.list), options)
  }
}
