/** Models as a module. Spec: document 1 section 4, GET /models. */
import { models as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { pageOf } from "../../capability/page-of.ts"
import { Models } from "./service.ts"

const operations = {
  list: Effect.fnUntraced(function* ({ query }) {
    return yield* pageOf(yield* (yield* Models).list, query, ({ id }) => id)
  }),
  create: Effect.fnUntraced(function* ({ body }, { writer }) {
    return yield* (yield* Models).create(body, yield* writer)
  }),
  update: Effect.fnUntraced(function* ({ body, params }, { writer }) {
    return yield* (yield* Models).update(params.model_id, body, yield* writer)
  })
} satisfies OperationsOf<typeof rows>

/** The models that agents use. Spec: document 1 section 4, GET /models. */
export const models: Module<"models", typeof rows, typeof operations, typeof Models.layer> = defineModule({
  name: "models",
  rows,
  operations,
  layer: Models.layer
})
