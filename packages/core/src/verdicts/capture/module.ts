/** Decisions as a module. Spec: format 1 section 8; decisions 0001 and 0002. */
import { access, decisions as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import type { Scope } from "../../foundation/scope.ts"
import { Capture } from "./service.ts"

const operations = {
  witness: ({ body, params }, { scope, writer }) =>
    Effect.flatMap(writer, (who) => Capture.use((capture) => capture.witness(params.agent_id, body, who, scope))),
  list: ({ params, query }, { scope }) => Capture.use((capture) => capture.list(params.agent_id, query, scope)),
  get: ({ params }, { may, scope }) =>
    Capture.use((capture) =>
      capture.get(params.decision_id, scope, { always: may(access.govern), reviewed: may(access.review) })
    ),
  settle: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Capture).settle(params.decision_id, body, yield* writer, scope)
  }),
  gap: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Capture).gap(params.agent_id, body, yield* writer, scope)
  }),
  endInstance: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Capture).endInstance(params.agent_id, body, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

const agentOf = (id: string, scope: Scope) =>
  Effect.map(
    Capture.use((capture) => capture.agentOf(id, scope)),
    (agentId) => ({ agent_id: agentId })
  )

/** Decisions and capture gaps. Spec: format 1 section 8; decisions 0001, 0002 and 0009. */
export const decisions: Module<"decisions", typeof rows, typeof operations, typeof Capture.layer> = defineModule({
  name: "decisions",
  rows,
  operations,
  layer: Capture.layer,
  reads: [{ missing: "DecisionNotFound", member: "decisionId", param: "decision_id", get: agentOf }]
})
