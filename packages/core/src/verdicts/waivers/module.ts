/** Waivers as a module. Spec: decision 0025. */
import { waivers as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { pageOf } from "../../capability/page-of.ts"
import { Waivers } from "./service.ts"

const operations = {
  request: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Waivers).request(params.envelope_id, body, yield* writer, scope)
  }),
  list: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* pageOf(yield* (yield* Waivers).list(params.envelope_id, scope), query, ({ id }) => id)
  }),
  grant: Effect.fnUntraced(function* ({ params }, { scope, writer }) {
    return yield* (yield* Waivers).grant(params.envelope_id, params.waiver_id, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

/** Waivers: exceptions to one rule, for a time, by two people. Spec: decision 0025. */
export const waivers: Module<"waivers", typeof rows, typeof operations, typeof Waivers.layer> = defineModule({
  name: "waivers",
  rows,
  operations,
  layer: Waivers.layer
})
