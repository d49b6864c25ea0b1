/** People behind pseudonyms as a module. Spec: format 1 sections 1.2 and 8, `principal.seen`; decision 0016. */
import { people as rows } from "@flyball/contract/http"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { Principals } from "./service.ts"

const operations = {
  get: ({ params }, { scope }) => Principals.use((principals) => principals.get(params.principal_id, scope))
} satisfies OperationsOf<typeof rows>

/** People: records name their pseudonyms. Spec: decision 0016. */
export const people: Module<"people", typeof rows, typeof operations, typeof Principals.layer> = defineModule({
  name: "people",
  rows,
  operations,
  layer: Principals.layer
})
