/** A product below `/v1` whose orders are one commit with their answer, for tests of repeated requests. */
import { endpoint, json, jsonBody, platformAccess } from "@flyball/contract/http"
import { type Capability, commitAnswered, defineModule, newId, Storage } from "@flyball/core"
import { Effect, Layer, Schema } from "effect"

/** Orders: one commit with its answer. */
export const order = endpoint({
  id: "trial.order",
  method: "POST",
  path: "/v1/trial/orders",
  summary: "Orders.",
  access: platformAccess("usage:read"),
  platform: { module: "trial" },
  body: jsonBody(Schema.Struct({ item: Schema.Json })),
  success: json(201, Schema.Struct({ id: Schema.String }))
})
/** The list of orders. */
const ordered = endpoint({
  id: "trial.ordered",
  method: "GET",
  path: order.path,
  summary: "Lists the items of orders, each as JSON.",
  access: platformAccess("usage:read"),
  platform: { module: "trial" },
  success: json(200, Schema.Array(Schema.String))
})

/** A product with orders. */
export const trial: Capability = {
  name: "trial",
  modules: [
    defineModule({
      name: "trial",
      rows: { order, ordered },
      operations: {
        order: ({ body }) =>
          Effect.gen(function* () {
            const [storage, id] = [yield* Storage, yield* newId("ord")]
            const put = { collection: "orders", id, expectedVersion: 0, body: { item: JSON.stringify(body.item) } }
            return yield* commitAnswered(storage.commit({ puts: [put] }), { id })
          }),
        ordered: () =>
          Storage.use((storage) =>
            Effect.map(storage.list("orders"), (all) => all.map(({ body }) => String(body["item"])))
          )
      },
      layer: Layer.empty
    })
  ]
}
