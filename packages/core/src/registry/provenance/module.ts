/** The provenance of agents as a module. Spec: document 1 section 4, `/agents/{agent_id}/provenance`. */
import { provenance as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { pageOf } from "../../capability/page-of.ts"
import { Provenance } from "./service.ts"

const operations = {
  add: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Provenance).add(params.agent_id, body, yield* writer, scope)
  }),
  list: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* pageOf(yield* (yield* Provenance).list(params.agent_id, scope), query, ({ id }) => id)
  })
} satisfies OperationsOf<typeof rows>

/** The components that agents are made of. Spec: document 1 section 4, `/agents/{agent_id}/provenance`. */
export const provenance: Module<"provenance", typeof rows, typeof operations, typeof Provenance.layer> = defineModule({
  name: "provenance",
  rows,
  operations,
  layer: Provenance.layer
})
