/** The safety view as a module. Spec: document 1 section 4, GET /bound/safety. */
import { safety as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { knownAfter } from "../../capability/page-of.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Safety } from "./service.ts"

const operations = {
  view: Effect.fnUntraced(function* ({ query }, { scope }) {
    const agents = yield* Agents
    yield* knownAfter(query.after, (id) => agents.get(id, scope))
    return yield* (yield* Safety).view(query, scope)
  })
} satisfies OperationsOf<typeof rows>

/** Every agent's halt state and what guards it. Spec: document 1 section 4, GET /bound/safety. */
export const safety: Module<"safety", typeof rows, typeof operations, typeof Safety.layer> = defineModule({
  name: "safety",
  rows,
  operations,
  layer: Safety.layer
})
