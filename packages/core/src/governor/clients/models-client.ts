/** Models through the plain client. */
import { Effect } from "effect"
import { Models } from "../../registry/models/service.ts"
import type { Writer } from "../../foundation/writer.ts"
import { acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decoded, decodeModel, decodeModelChange } from "./input.ts"
import type { ModelsClient } from "./types/models-client-types.ts"

/** The models over a client. */
export const modelsClient = (client: Client, own: Writer): ModelsClient => {
  const act = acting(client, own)
  return {
    create: (input, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeModel, input), (model) => Models.use((models) => models.create(model, writer))),
        options
      ),
    update: (id, change, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeModelChange, change), (input) =>
            Models.use((models) => models.update(id, input, writer))
          ),
        options
      ),
    list: (options) =>
      client.run(
        Models.use((models) => models.list),
        options
      )
  }
}
