/** Products that answer every row of gateway, documents and fleet, for tests of what stands before them. */
import { documents, fleet, gateway, type ReceivedFile } from "@flyball/contract/http"
import { type Capability, defineModule } from "@flyball/core"
import { Effect, Layer } from "effect"

const created_at = "1970-01-01T00:00:00Z"
const completion = ({ body: { model } }: { readonly body: { readonly model: string } }) => Effect.succeed({ model })

/** A capability with the three products. `extract` sees each document while its request has no answer. */
export const installedProducts = (
  extract: (document: ReceivedFile | object) => void = () => undefined
): Capability => ({
  name: "products",
  modules: [
    defineModule({
      name: "gateway",
      rows: gateway,
      operations: { chat: completion, messages: completion, responses: completion },
      layer: Layer.empty
    }),
    defineModule({
      name: "documents",
      rows: documents,
      operations: {
        extract: ({ body }) =>
          Effect.sync(() => {
            extract(body)
            return { id: "ext", document_type: "unknown" as const, status: "queued" as const, created_at }
          }),
        createAgent: ({ body: { name } }) =>
          Effect.succeed({ id: "dag", name, status: "awaiting_runner" as const, created_at })
      },
      layer: Layer.empty
    }),
    defineModule({
      name: "fleet",
      rows: fleet,
      operations: {
        optimize: () => Effect.succeed({ id: "pln", status: "queued" as const, created_at }),
        track: ({ body: { positions } }) => Effect.succeed({ accepted: positions.length })
      },
      layer: Layer.empty
    })
  ]
})
