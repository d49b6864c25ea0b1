/** Monitors, inferences and alerts as a module. Spec: document 2 sections 4 and 6; api.md "Document 2". */
import { planQuotas } from "@flyball/contract"
import { monitoring as rows } from "@flyball/contract/http"
import {
  type Account,
  defineModule,
  Lists,
  type Module,
  MONITORS,
  oneUnit,
  type OperationsOf,
  rounds,
  type Scope,
  unitOfDocument,
  unitOwner
} from "@flyball/core"
import { Effect, Layer } from "effect"
import { alertOut, ALERTS, listedAlert, listedMonitor, monitorOut, storedAlert, storedMonitor } from "./document.ts"
import { Monitors } from "./service.ts"

const own = (scope: Scope, { org_unit }: { readonly org_unit?: string }) => oneUnit(scope, org_unit)
const of = (collection: string, scope: Scope, { org_unit }: { readonly org_unit?: string }, id: string) =>
  unitOfDocument(scope, org_unit, { collection, id })

/** Rows of the platform API are served by its dialect alone, which makes the account. */
const limitOf = (account: Account | null): number | null =>
  account === null ? 0 : planQuotas[account.plan].monitors.limit

const operations = {
  create: Effect.fnUntraced(function* ({ body, query }, { account, scope, writer }) {
    const unit = yield* own(scope, query)
    return yield* (yield* Monitors).create(unit, body, { writer: yield* writer, limit: limitOf(account) })
  }),
  list: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* own(scope, query))
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.list.id, owner, query }, MONITORS, listedMonitor)
    )
    return { data: found.map((document) => monitorOut(storedMonitor(document))), ...page }
  }),
  get: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* Monitors).get(yield* of(MONITORS, scope, query, params.monitor_id), params.monitor_id)
  }),
  delete: Effect.fnUntraced(function* ({ params, query }, { scope, writer }) {
    const unit = yield* of(MONITORS, scope, query, params.monitor_id)
    return yield* (yield* Monitors).remove(unit, params.monitor_id, yield* writer)
  }),
  log: Effect.fnUntraced(function* ({ body, query }, { scope }) {
    return yield* (yield* Monitors).log(yield* own(scope, query), body.inferences)
  }),
  alerts: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* own(scope, query))
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.alerts.id, owner, query }, ALERTS, listedAlert, "status")
    )
    return { data: found.map((document) => alertOut(storedAlert(document))), ...page }
  }),
  alert: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* Monitors).alert(yield* of(ALERTS, scope, query, params.alert_id), params.alert_id)
  })
} satisfies OperationsOf<typeof rows>

/** How often monitors that are due are read. Unit: milliseconds. */
const ROUND_MS = 1_000

/** Moves what time alone moves. Every process does: a monitor is taken by its version. */
const clock: Layer.Layer<never, never, Monitors> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { round } = yield* Monitors
    yield* rounds(round, {
      failed: "Monitors are not checked; each second tries again.",
      over: "Monitors are checked again.",
      pause: Effect.sleep(ROUND_MS)
    })
  })
)

/** Monitors of models, their inferences and alerts. Spec: document 2 sections 4 and 6. */
export const monitoring: Module<"monitoring", typeof rows, typeof operations, typeof Monitors.layer, typeof clock> =
  defineModule({ name: "monitoring", rows, operations, layer: Monitors.layer, jobs: [clock] })
