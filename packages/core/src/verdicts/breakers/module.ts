/** Circuit breakers as a module. Spec: document 1 section 4, `/bound/breakers`; decision 0044. */
import { breakers as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { pageOf } from "../../capability/page-of.ts"
import type { Scope } from "../../foundation/scope.ts"
import { breakerWatch } from "./breaker-watch.ts"
import { Breakers } from "./service.ts"

const get = (id: string, scope: Scope) => Breakers.use((breakers) => breakers.get(id, scope))

const operations = {
  arm: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Breakers).arm(params.agent_id, body, yield* writer, scope)
  }),
  list: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* pageOf(yield* (yield* Breakers).list(params.agent_id, scope), query, ({ id }) => id)
  }),
  preview: ({ body, params }, { scope }) => Breakers.use((breakers) => breakers.preview(params.agent_id, body, scope)),
  get: ({ params }, { scope }) => get(params.breaker_id, scope),
  update: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Breakers).update(params.breaker_id, body, yield* writer, scope)
  }),
  release: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Breakers).release(params.breaker_id, body, yield* writer, scope)
  }),
  check: (_, { scope }) => Breakers.use((breakers) => breakers.check(scope))
} satisfies OperationsOf<typeof rows>

/** Circuit breakers: limits on a metric of an agent that stop it. Spec: decision 0044. */
export const breakers: Module<"breakers", typeof rows, typeof operations, typeof Breakers.layer, typeof breakerWatch> =
  defineModule({
    name: "breakers",
    rows,
    operations,
    layer: Breakers.layer,
    jobs: [breakerWatch],
    reads: [{ missing: "BreakerNotFound", member: "breakerId", param: "breaker_id", get }]
  })
