/** Rows of the catalogue: plans of routes, and their dispatch. */
import { distanceSources, routePlanFailures } from "../words.ts"
import type { BodyOf } from "./body-type.ts"
import { agentId, choice, count, hash, id, type KindRow, MIB, must, name, part, writer } from "./row.ts"

const planId = must("plan_id", id("pln_"))
const budget = { type: "object", members: [must("at", count), must("until", count)] } as const
const completed = [
  must("cost", count),
  must("distance_source", choice(...distanceSources)),
  must("driving_seconds", count),
  must("iterations", count),
  must("jobs", { type: "integer", min: 1, max: 2_000 }),
  must("metres", count),
  must("plan_digest", hash),
  planId,
  must("problem_digest", hash),
  must("routes", count),
  must("schedule", { type: "list", of: budget, min: 0, max: 1_000 }),
  must("seed", name(64)),
  must("unassigned", count),
  must("vehicles", { type: "integer", min: 1, max: 1_000 }),
  writer
] as const
const failed = [must("code", choice(...routePlanFailures)), planId, must("problem_digest", hash), writer] as const
const dispatched = [agentId, must("evaluation_id", id("evl_")), must("plan_digest", hash), planId, writer] as const

/** The body of `route_plan.completed`. */
export type RoutePlanCompletedBody = BodyOf<typeof completed>
/** The body of `route_plan.failed`. */
export type RoutePlanFailedBody = BodyOf<typeof failed>

/** The rows, in the order of the specification's table. */
export const routeKinds: ReadonlyArray<KindRow> = [
  {
    kind: "route_plan.completed",
    about:
      "Routes of vehicles were planned. `problem_digest` and `plan_digest` are SHA-256 over the parts. The problem, " +
      "`seed`, `iterations` and `schedule` give the same plan again. `cost` has 18,000 to one unit of the costs.",
    body: completed,
    parts: [
      part("plan", MIB, "`{cost, driving, metres, routes, unassigned}`: whole numbers."),
      part("problem", MIB, "`{distances, jobs, vehicles}`. Left out where it is larger than a part may be.")
    ]
  },
  {
    kind: "route_plan.failed",
    about:
      "A plan of routes ended without routes: it was cancelled before there were any, its process ended, or the " +
      "checker refused it.",
    body: failed,
    parts: []
  },
  {
    kind: "route_plan.dispatched",
    about: "An agent dispatched a plan, as the evaluation allowed.",
    body: dispatched,
    parts: []
  }
]
