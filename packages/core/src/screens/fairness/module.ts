/** Fairness screens as a module. Spec: document 1 section 4, `/fairness/screens`; decision 0074. */
import { fairness as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { FairnessScreens } from "./service.ts"

const operations = {
  list: ({ query }, { scope }) => FairnessScreens.use((screens) => screens.list(query, scope)),
  screen: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* FairnessScreens).screen(body, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

/** Fairness screens: rates of outcomes between groups of decisions. Spec: decision 0074. */
export const fairness: Module<"fairness", typeof rows, typeof operations, typeof FairnessScreens.layer> = defineModule({
  name: "fairness",
  rows,
  operations,
  layer: FairnessScreens.layer
})
