/** Eval runs as a module. Spec: document 1 section 4, GET /evals/eval-runs; decision 0067. */
import { evals as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { EvalRuns } from "./service.ts"

const operations = {
  list: ({ query }, { scope }) => EvalRuns.use((runs) => runs.list(query, scope)),
  record: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* EvalRuns).record(body, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

/** Eval runs: results of suites, each compared with the run before it. Spec: decision 0067. */
export const evals: Module<"evals", typeof rows, typeof operations, typeof EvalRuns.layer> = defineModule({
  name: "evals",
  rows,
  operations,
  layer: EvalRuns.layer
})
