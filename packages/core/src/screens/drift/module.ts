/** Behaviour change as a module. Spec: document 1 section 4, GET /behavior/agents/{agent_id}/change; decision 0073. */
import { behavior as rows } from "@flyball/contract/http"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { driftWatch } from "./alarms.ts"
import { Behavior } from "./service.ts"

const operations = {
  change: ({ params, query }, { scope }) => Behavior.use((drift) => drift.change(params.agent_id, query, scope))
} satisfies OperationsOf<typeof rows>

/** Behaviour change: the last window of decisions against the window before it. Spec: decision 0073. */
export const behavior: Module<"behavior", typeof rows, typeof operations, typeof Behavior.layer, typeof driftWatch> =
  defineModule({
    name: "behavior",
    rows,
    operations,
    layer: Behavior.layer,
    jobs: [driftWatch]
  })
