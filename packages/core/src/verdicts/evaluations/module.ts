/** Evaluations as a module. Spec: document 1 section 4, `/bound/evaluations`; decision 0025. */
import { evaluations as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import type { Scope } from "../../foundation/scope.ts"
import { meterSweep } from "./meter-sweep.ts"
import { Evaluations } from "./service.ts"

const get = (id: string, scope: Scope) => Evaluations.use((evaluations) => evaluations.get(id, scope))

const operations = {
  inForce: Effect.fnUntraced(function* ({ params }, { scope }) {
    const { answer, tag } = yield* (yield* Evaluations).inForce(params.agent_id, scope)
    return { value: answer, tag, keptS: 0, asOf: { seq: answer.as_of_seq, ms: answer.as_of_ms } }
  }),
  evaluate: ({ body }, { scope, writer }) =>
    Effect.flatMap(writer, (who) => Evaluations.use((evaluations) => evaluations.evaluate(body, who, scope))),
  list: ({ query }, { scope }) => Evaluations.use((evaluations) => evaluations.list(query, scope)),
  get: ({ params }, { scope }) => get(params.evaluation_id, scope),
  explain: ({ params }, { scope }) =>
    Evaluations.use((evaluations) => evaluations.explain(params.evaluation_id, scope)),
  void: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* Evaluations).void(params.evaluation_id, body, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

/** Evaluations: verdicts on what agents intend. Spec: document 1 section 4, `/bound/evaluations`; decision 0025. */
export const evaluations: Module<
  "evaluations",
  typeof rows,
  typeof operations,
  typeof Evaluations.layer,
  typeof meterSweep
> = defineModule({
  name: "evaluations",
  rows,
  operations,
  layer: Evaluations.layer,
  jobs: [meterSweep],
  reads: [{ missing: "EvaluationNotFound", member: "evaluationId", param: "evaluation_id", get }]
})
