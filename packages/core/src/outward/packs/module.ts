/** Evidence packs as a module. Spec: format 1 section 5. */
import { evidence as rows } from "@flyball/contract/http"
import { Effect, Layer } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { pageOf } from "../../capability/page-of.ts"
import { Packs } from "./service.ts"

const operations = {
  create: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* Packs).request(body, yield* writer, scope)
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    return yield* pageOf(yield* (yield* Packs).list(scope), query, ({ id }) => id)
  }),
  download: ({ params }, { scope, writer }) => Packs.use((packs) => packs.build(params.pack_id, writer, scope))
} satisfies OperationsOf<typeof rows>

/** Evidence packs. Their service opens with the options of the chain. Spec: format 1 section 5. */
export const evidence: Module<"evidence", typeof rows, typeof operations, Layer.Layer<never>> = defineModule({
  name: "evidence",
  rows,
  operations,
  layer: Layer.empty
})
