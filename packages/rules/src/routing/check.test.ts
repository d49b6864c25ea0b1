import { describe, expect, it } from "vitest"
import { checkPlan } from "./check.ts"
import type { Route, RoutePlan, RoutingJob, RoutingProblem, RoutingVehicle } from "./problem.ts"
import { routingMatrix } from "./matrix.ts"

/** Places on a line, 10 apart: 10 metres and 10 seconds. */
const line = Array.from({ length: 4 }, (_, from) => Array.from({ length: 4 }, (_, to) => 10 * Math.abs(from - to)))

const job = (id: string, place: number, rest: Partial<RoutingJob> = {}): RoutingJob => ({
  id,
  place,
  demand: [1],
  windows: [],
  service: 5,
  skills: [],
  priority: 0,
  pinned: null,
  ...rest
})

const vehicle = (id: string): RoutingVehicle => ({
  id,
  start: 0,
  end: 0,
  capacity: [2],
  shift: [0, 200],
  max_metres: 60,
  max_seconds: 80,
  skills: ["lift"],
  fixed_cost: 1,
  cost_per_km: 2,
  cost_per_hour: 3
})

const problem: RoutingProblem = {
  distances: { source: "matrix", metres: line, seconds: line },
  jobs: [
    job("a", 1, {
      windows: [
        [20, 30],
        [50, 60]
      ]
    }),
    job("b", 2, { skills: ["lift"] }),
    job("c", 3, { pinned: "w" })
  ],
  vehicles: [vehicle("v"), vehicle("w")]
}

const route: Route = {
  vehicle: 0,
  start: 10,
  end: 60,
  metres: 40,
  driving: 40,
  stops: [
    { job: 0, arrival: 20, begin: 20, load: [1] },
    { job: 1, arrival: 35, begin: 35, load: [2] }
  ]
}

const good: RoutePlan = {
  routes: [route],
  unassigned: [{ job: 2, reason: "no_feasible_vehicle" }],
  metres: 40,
  driving: 40,
  cost: 18_000 + 18 * 40 * 2 + 5 * 40 * 3
}

const [first, second] = route.stops as readonly [Route["stops"][number], Route["stops"][number]]
const withRoute = (change: Partial<Route>): RoutePlan => ({ ...good, routes: [{ ...route, ...change }] })
const withStops = (...stops: Route["stops"]): RoutePlan => withRoute({ stops })
const withVehicle = (change: Partial<RoutingVehicle>): RoutingProblem => ({
  ...problem,
  vehicles: [{ ...problem.vehicles[0]!, ...change }, problem.vehicles[1]!]
})
const withJob = (at: number, change: Partial<RoutingJob>): RoutingProblem => ({
  ...problem,
  jobs: problem.jobs.map((each, index) => (index === at ? { ...each, ...change } : each))
})

const broken: ReadonlyArray<readonly [fault: string, plan: RoutePlan, changed?: RoutingProblem]> = [
  ["No vehicle has the index 7.", withRoute({ vehicle: 7 })],
  ["out of order or its second", { ...good, routes: [route, route] }],
  ["has no stop", withStops()],
  ["No job has the index 9.", withStops(first, { ...second, job: 9 })],
  ["No job has the index 9.", { ...good, unassigned: [{ job: 9, reason: "skills" }] }],
  ["Job a is made twice.", withStops(first, { ...second, job: 0 })],
  ["Job b is made and unassigned.", { ...good, unassigned: [{ job: 1, reason: "skills" }, ...good.unassigned] }],
  ["Unassigned job c is out of order", { ...good, unassigned: [2, 2].map((at) => ({ job: at, reason: "skills" })) }],
  ["Job c is neither made nor unassigned.", { ...good, unassigned: [] }],
  ["starts at -1, before the shift", withRoute({ start: -1 })],
  ["starts at NaN, before the shift", withRoute({ start: Number.NaN })],
  ["The arrival at job a of vehicle v is 20, not 21.", withStops({ ...first, arrival: 21 }, second)],
  ["The service at job b of vehicle v begins at 35, not 36.", withStops(first, { ...second, begin: 36 })],
  [
    "The service at job a of vehicle v begins at 50, not 45.",
    withRoute({ start: 35, stops: [{ ...first, arrival: 45, begin: 45 }, second] })
  ],
  ["behind the last window", withRoute({ start: 51, stops: [{ ...first, arrival: 61, begin: 61 }, second] })],
  ["The load at job b of vehicle v is 2, not 1.", withStops(first, { ...second, load: [1] })],
  ["has 2 dimensions, not 1", withStops({ ...first, load: [1, 0] }, second)],
  ["more than the vehicle holds", good, withVehicle({ capacity: [1] })],
  ["ends at 60, not 61", withRoute({ end: 61 })],
  ["ends at 60, behind the shift", good, withVehicle({ shift: [0, 59] })],
  ["has 40 metres, and states 41", withRoute({ metres: 41 })],
  ["drives 40 seconds, and states 39", withRoute({ driving: 39 })],
  ["more than it may have", good, withVehicle({ max_metres: 39 })],
  ["takes 50 s: too long", good, withVehicle({ max_seconds: 49 })],
  ["Skill lift is missing at job b", good, withVehicle({ skills: [] })],
  ["Job b is pinned to w", good, withJob(1, { pinned: "w" })],
  ["The plan has 40 metres, and states 41.", { ...good, metres: 41 }],
  ["The plan drives 40 seconds, and states 41.", { ...good, driving: 41 }],
  ["The plan costs 20040, and states 20041.", { ...good, cost: 20_041 }]
]

describe("checkPlan", () => {
  const matrix = routingMatrix(problem.distances)

  it("passes a plan without a fault", () => {
    expect(checkPlan(problem, matrix, good)).toBe(null)
  })

  for (const [fault, plan, changed] of broken)
    it(`finds: ${fault}`, () => {
      expect(checkPlan(changed ?? problem, matrix, plan)).toContain(fault)
    })
})
