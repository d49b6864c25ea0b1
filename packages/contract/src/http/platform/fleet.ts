/** The endpoints of the fleet. Spec: document 2 section 8, "fleet"; api.md "Document 2". */
import { Schema } from "effect"
import { unitQuery } from "../../platform/list.ts"
import {
  routeBounds,
  RouteDispatch,
  RoutePlanOut,
  RoutePlansPage,
  RoutePlansQuery,
  RoutesOptimize,
  RoutesOptimizeQuery
} from "../../platform/routes.ts"
import { RoutePlanNotFound } from "../../refusals.ts"
import { access, platformAccess } from "../access.ts"
import { endpoint, idParam, json, jsonBody, queryOf } from "../endpoint.ts"

const write = platformAccess("fleet:write", access.operate.roles)
const read = platformAccess("fleet:read")
const platform = { module: "fleet" }
const query = queryOf(Schema.Struct(unitQuery))
const ofPlan = { plan_id: idParam("routePlan", () => new RoutePlanNotFound({})) } as const

/** Endpoints of routes. Spec: document 2 section 8, "fleet". */
export const fleet = {
  optimize: endpoint({
    id: "fleet.optimize_routes",
    method: "POST",
    path: "/v1/fleet/routes/optimize",
    summary: "Plans routes for up to 1,000 vehicles and 2,000 stops. The plan is made behind the answer.",
    access: write,
    platform: { ...platform, operation: "fleet.optimize_routes" },
    query: queryOf(RoutesOptimizeQuery),
    body: jsonBody(RoutesOptimize, { limitBytes: routeBounds.bodyBytes }),
    success: json(201, RoutePlanOut),
    refusals: ["RateLimitExceeded"]
  }),
  plans: endpoint({
    id: "fleet.plans",
    method: "GET",
    path: "/v1/fleet/plans",
    summary: "Lists plans of routes, the newest first.",
    access: read,
    platform,
    query: queryOf(RoutePlansQuery),
    success: json(200, RoutePlansPage)
  }),
  plan: endpoint({
    id: "fleet.plan",
    method: "GET",
    path: "/v1/fleet/plans/{plan_id}",
    summary: "Returns one plan with its routes and what is in none of them.",
    access: read,
    platform,
    params: ofPlan,
    query,
    success: json(200, RoutePlanOut),
    refusals: ["RoutePlanNotFound"]
  }),
  cancel: endpoint({
    id: "fleet.cancel_plan",
    method: "POST",
    path: "/v1/fleet/plans/{plan_id}/cancel",
    summary: "Ends the search of a plan. The best routes so far are kept.",
    access: write,
    platform,
    params: ofPlan,
    query,
    success: json(200, RoutePlanOut),
    refusals: ["RoutePlanNotFound", "RoutePlanState"]
  }),
  dispatch: endpoint({
    id: "fleet.dispatch_plan",
    method: "POST",
    path: "/v1/fleet/plans/{plan_id}/dispatch",
    summary: "Dispatches a plan as an act of an agent, under its envelope.",
    access: write,
    platform,
    params: ofPlan,
    query,
    success: json(200, RouteDispatch),
    refusals: ["AgentNotFound", "DispatchDenied", "DispatchInReview", "RoutePlanNotFound", "RoutePlanState"]
  })
} as const
