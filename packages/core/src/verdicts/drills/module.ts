/** Drills as a module. Spec: decision 0048. */
import { drills as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { knownAfter } from "../../capability/page-of.ts"
import type { Scope } from "../../foundation/scope.ts"
import { channelClock } from "./channel-clock.ts"
import { drillClock } from "./drill-clock.ts"
import { Drills } from "./service.ts"

const get = (id: string, scope: Scope) => Drills.use((drills) => drills.get(id, scope))

const operations = {
  start: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* Drills).start(body, yield* writer, scope)
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    yield* knownAfter(query.after, (id) => get(id, scope))
    return yield* (yield* Drills).list(query, scope)
  }),
  get: ({ params }, { scope }) => get(params.drill_id, scope),
  complete: Effect.fnUntraced(function* ({ params }, { scope, writer }) {
    return yield* (yield* Drills).complete(params.drill_id, yield* writer, scope)
  }),
  attest: Effect.fnUntraced(function* ({ params }, { scope, writer }) {
    return yield* (yield* Drills).attest(params.drill_id, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

/** Drills: exercises of the kill switch. Spec: decision 0048. */
export const drills: Module<
  "drills",
  typeof rows,
  typeof operations,
  typeof Drills.layer,
  typeof channelClock | typeof drillClock
> = defineModule({
  name: "drills",
  rows,
  operations,
  layer: Drills.layer,
  jobs: [channelClock, drillClock],
  reads: [{ missing: "DrillNotFound", member: "drillId", param: "drill_id", get }]
})
