/** The endpoints of the fleet. Spec: document 2 section 8, "fleet"; api.md "Document 2". */
import { FleetPositions, PositionsTaken, RoutePlan, RoutesOptimize } from "../../platform/products.ts"
import { platformAccess } from "../access.ts"
import { endpoint, json, jsonBody } from "../endpoint.ts"

const access = platformAccess("fleet:write")
const module = "fleet"

/** Endpoints of the fleet. Spec: document 2 section 8, "fleet". */
export const fleet = {
  optimize: endpoint({
    id: "fleet.optimize_routes",
    method: "POST",
    path: "/v1/fleet/routes/optimize",
    summary: "Plans routes for up to 1,000 vehicles.",
    access,
    platform: { module, operation: "fleet.optimize_routes" },
    body: jsonBody(RoutesOptimize),
    success: json(201, RoutePlan),
    refusals: ["ModuleNotInstalled"]
  }),
  track: endpoint({
    id: "fleet.track_fleet",
    method: "POST",
    path: "/v1/fleet/positions",
    summary: "Takes 1 to 1,000 positions of vehicles. Each position counts.",
    access,
    platform: {
      module,
      operation: "fleet.track_fleet",
      cost: ({ positions }: { readonly positions: ReadonlyArray<unknown> }) => positions.length
    },
    body: jsonBody(FleetPositions),
    success: json(200, PositionsTaken),
    refusals: ["ModuleNotInstalled"]
  })
} as const
