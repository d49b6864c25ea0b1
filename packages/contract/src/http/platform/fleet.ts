/** The endpoints of the fleet. Spec: document 2 section 8, "fleet"; api.md "Document 2". */
import { RoutePlan, RoutesOptimize } from "../../platform/products.ts"
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
  })
} as const
