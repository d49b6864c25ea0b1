/** The access mapping as a module. Spec: document 1 section 4, `/admin/entitlement-rules`; decision 0016. */
import { accessMapping as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { resolveDraft } from "./resolve-input.ts"
import { AccessMapping } from "./service.ts"

const operations = {
  get: () => AccessMapping.use((mapping) => mapping.get),
  set: Effect.fnUntraced(function* ({ body }, { writer }) {
    return yield* (yield* AccessMapping).set(body, yield* writer)
  }),
  resolveDraft: ({ body }) => Effect.succeed(resolveDraft(body))
} satisfies OperationsOf<typeof rows>

/** The access mapping: which claims of a person's token grant which role where. Spec: decision 0016. */
export const accessMapping: Module<"access_mapping", typeof rows, typeof operations, typeof AccessMapping.layer> =
  defineModule({ name: "access_mapping", rows, operations, layer: AccessMapping.layer })
