/** Positions and fences as a module. Spec: document 2 section 8, "fleet"; decision 0082. */
import { tracking as rows } from "@flyball/contract/http"
import {
  defineModule,
  Lists,
  type Module,
  oneUnit,
  type OperationsOf,
  rounds,
  type Scope,
  unitOwner
} from "@flyball/core"
import { Effect, Layer } from "effect"
import {
  type FenceDocument,
  fenceOut,
  FENCES,
  listedByOwner,
  storedAs,
  type VehicleDocument,
  vehicleOut,
  VEHICLES
} from "./document.ts"
import { Tracking } from "./service.ts"

const own = (scope: Scope, { org_unit }: { readonly org_unit?: string }) => oneUnit(scope, org_unit)

const operations = {
  track: Effect.fnUntraced(function* ({ body, query }, { scope }) {
    return yield* (yield* Tracking).track(yield* own(scope, query), body.positions)
  }),
  vehicles: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* own(scope, query))
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.vehicles.id, owner, query }, VEHICLES, listedByOwner)
    )
    return { data: found.map((document) => vehicleOut(storedAs<VehicleDocument>(document).body)), ...page }
  }),
  vehicle: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* Tracking).vehicle(yield* own(scope, query), params.vehicle_id)
  }),
  history: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* Tracking).history(yield* own(scope, query), params.vehicle_id, query)
  }),
  erase: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* Tracking).erase(yield* own(scope, query), params.vehicle_id)
  }),
  createFence: Effect.fnUntraced(function* ({ body, query }, { scope }) {
    return yield* (yield* Tracking).createFence(yield* own(scope, query), body)
  }),
  fences: Effect.fnUntraced(function* ({ query }, { scope }) {
    const owner = unitOwner(yield* own(scope, query))
    const { rows: found, ...page } = yield* Lists.use((lists) =>
      lists.documents({ route: rows.fences.id, owner, query }, FENCES, listedByOwner)
    )
    return { data: found.map((document) => fenceOut(storedAs<FenceDocument>(document))), ...page }
  }),
  deleteFence: Effect.fnUntraced(function* ({ params, query }, { scope }) {
    return yield* (yield* Tracking).deleteFence(yield* own(scope, query), params.geofence_id)
  })
} satisfies OperationsOf<typeof rows>

/** How often hours that are over are searched. Unit: milliseconds. */
const ROUND_MS = 60_000

/** Records digests. Every process does: an hour is taken by its version. */
const clock: Layer.Layer<never, never, Tracking> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { round } = yield* Tracking
    yield* rounds(round, {
      failed: "Positions are not recorded; each minute tries again.",
      over: "Positions are recorded again.",
      pause: Effect.sleep(ROUND_MS)
    })
  })
)

/** Positions of vehicles, and fences. Spec: document 2 section 8, "fleet". */
export const tracking: Module<"tracking", typeof rows, typeof operations, typeof Tracking.layer, typeof clock> =
  defineModule({ name: "tracking", rows, operations, layer: Tracking.layer, jobs: [clock] })
