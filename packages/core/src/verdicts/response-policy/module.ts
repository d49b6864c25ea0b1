/** The response policy as a module. Spec: document 1 section 5, item 8; decision 0046. */
import { responsePolicy as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { ResponsePolicies } from "./service.ts"

const operations = {
  get: (_, { scope }) => ResponsePolicies.use((policies) => policies.get(scope)),
  set: Effect.fnUntraced(function* ({ body }, { ifVersion, writer }) {
    return yield* (yield* ResponsePolicies).set(body, yield* writer, ifVersion)
  })
} satisfies OperationsOf<typeof rows>

/** The response policy: the response to each trigger, and who is notified. Spec: decision 0046. */
export const responsePolicy: Module<"response_policy", typeof rows, typeof operations, typeof ResponsePolicies.layer> =
  defineModule({ name: "response_policy", rows, operations, layer: ResponsePolicies.layer })
