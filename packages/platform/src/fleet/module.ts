/** Routes of a fleet as a module. Spec: document 2 sections 4 and 8; api.md "Document 2". */
import { fleet as rows } from "@flyball/contract/http"
import {
  defineModule,
  Lists,
  type Module,
  oneUnit,
  type OperationsOf,
  rounds,
  ROUTE_PLANS,
  type Scope,
  unitOfDocument,
  unitOwner
} from "@flyball/core"
import { Effect, Layer } from "effect"
import { callingAgent } from "../calling-agent.ts"
import { listedPlan, planOut, storedPlan } from "./document.ts"
import { RoutePlans } from "./service.ts"

const ofPlan = (scope: Scope, { org_unit }: { readonly org_unit?: string }, id: string) =>
  unitOfDocument(scope, org_unit, { collection: ROUTE_PLANS, id })

const operations = {
  optimize: Effect.fnUntraced(function* ({ body, query }, { scope, writer }) {
    const unit = yield* oneUnit(scope, query.org_unit)
    return yield* (yield* RoutePlans).optimize(unit, body, yield* writer, 1_000 * (query.wait ?? 0))
  }),
  plans: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* oneUnit(scope, query.org_unit))
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.plans.id, owner, query }, ROUTE_PLANS, listedPlan, "status")
    )
    return { data: found.map((document) => planOut(storedPlan(document), false)), ...page }
  }),
  plan: Effect.fnUntraced(function* ({ params: { plan_id: id }, query }, { scope }) {
    return yield* (yield* RoutePlans).get(yield* ofPlan(scope, query, id), id)
  }),
  cancel: Effect.fnUntraced(function* ({ params: { plan_id: id }, query }, { scope, writer }) {
    return yield* (yield* RoutePlans).cancel(yield* ofPlan(scope, query, id), id, yield* writer)
  }),
  dispatch: Effect.fnUntraced(function* ({ params: { plan_id: id }, query }, caller) {
    const unit = yield* ofPlan(caller.scope, query, id)
    return yield* (yield* RoutePlans).dispatch(unit, id, callingAgent(caller), yield* caller.writer)
  })
} satisfies OperationsOf<typeof rows>

/** How often plans are searched whose process ended. Unit: milliseconds. */
const ROUND_MS = 60_000

/** Problems one after another, and the end of those that another process left. */
const jobs: Layer.Layer<never, never, RoutePlans> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { endOverdue, work } = yield* RoutePlans
    const failed = (what: string) =>
      Effect.catchCause((cause) => Effect.logError(`${what} The plan fails as interrupted.`, cause))
    yield* work.pipe(failed("A plan could not be recorded."), Effect.forever, Effect.forkScoped)
    yield* rounds(endOverdue, {
      failed: "Interrupted plans are not ended; each minute tries again.",
      over: "Interrupted plans are ended again.",
      pause: Effect.sleep(ROUND_MS)
    })
  })
)

/** Plans of routes, and their dispatch. Spec: document 2 section 4. */
export const fleetRoutes: Module<"fleet", typeof rows, typeof operations, typeof RoutePlans.layer, typeof jobs> =
  defineModule({ name: "fleet", rows, operations, layer: RoutePlans.layer, jobs: [jobs] })
