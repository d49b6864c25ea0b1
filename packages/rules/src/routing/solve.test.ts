import { generator } from "@flyball/statistics"
import { describe, expect, it } from "vitest"
import { replayRoutes, solveRoutes } from "./anneal.ts"
import { checkPlan } from "./check.ts"
import { routingMatrix } from "./matrix.ts"
import type { RoutingJob, RoutingProblem, RoutingVehicle, Window } from "./problem.ts"

/** A clock that each reading moves by a millisecond: 32 iterations. */
const ticking = () => {
  let time = 0
  return () => time++
}

const options = (seed: string, maxMs: number) => ({ seed, maxMs, now: ticking(), stop: () => false })

/** A town with everything that a problem may have. */
const town = (jobs: number, vehicles: number): RoutingProblem => {
  const random = generator(Uint8Array.from({ length: 16 }, (_, at) => at + jobs))
  const place = (): readonly [number, number] => [
    525_000_000 + random.below(2_000_000),
    134_000_000 + random.below(2_000_000)
  ]
  const windows = (): ReadonlyArray<Window> => {
    const from = random.below(20_000)
    return [
      [],
      [[from, from + 7_200] as const],
      [[from, from + 3_600] as const, [from + 7_200, from + 9_000] as const]
    ][random.below(3)]!
  }
  return {
    distances: {
      source: "great_circle",
      points: Array.from({ length: jobs + 2 }, place),
      detour: 1_300,
      speed: 40_000
    },
    jobs: Array.from({ length: jobs }, (_, at): RoutingJob => ({
      id: `j${at}`,
      place: at + 2,
      demand: [1 + random.below(9), 1 + random.below(3)],
      windows: windows(),
      service: random.below(600),
      skills: random.below(5) === 0 ? ["cold"] : [],
      priority: random.below(3),
      pinned: random.below(20) === 0 ? "v1" : null
    })),
    vehicles: Array.from({ length: vehicles }, (_, at): RoutingVehicle => ({
      id: `v${at}`,
      start: at % 3 === 2 ? null : at % 2,
      end: at % 4 === 3 ? null : at % 2,
      capacity: [60, 25],
      shift: [0, 28_800],
      max_metres: at % 2 === 0 ? 120_000 : null,
      max_seconds: at % 3 === 0 ? 20_000 : null,
      skills: at % 2 === 0 ? ["cold"] : [],
      fixed_cost: at % 2,
      cost_per_km: 1 + (at % 2),
      cost_per_hour: 20
    }))
  }
}

describe("solveRoutes", () => {
  it("finds a plan that the checker passes, and the same bytes again by its trace", () => {
    for (const [jobs, vehicles] of [
      [1, 1],
      [60, 4],
      [60, 12],
      [150, 30]
    ] as const) {
      const problem = town(jobs, vehicles)
      const matrix = routingMatrix(problem.distances)
      const { plan, trace } = solveRoutes(problem, matrix, options("s", 40))
      expect(checkPlan(problem, matrix, plan)).toBe(null)
      expect(JSON.stringify(replayRoutes(problem, matrix, trace))).toBe(JSON.stringify(plan))
    }
  })

  it("ends by itself, as soon as the problem is small, with the same plan whatever the clock says", () => {
    for (const [jobs, most] of [
      [3, 40_986],
      [5, 69_750]
    ] as const) {
      const problem = town(jobs, 3)
      const matrix = routingMatrix(problem.distances)
      const search = (now: () => number) => solveRoutes(problem, matrix, { ...options("s", 60_000), now })
      const { plan, trace } = search(() => 0)
      expect(trace.iterations).toBe(most)
      expect(search(ticking()).plan).toEqual(plan)
      expect(replayRoutes(problem, matrix, trace)).toEqual(plan)
    }
    const { jobs, ...rest } = town(3, 3)
    const none = { ...rest, jobs: jobs.map((job) => ({ ...job, skills: ["flying"], pinned: null })) }
    expect(solveRoutes(none, routingMatrix(none.distances), options("s", 60_000)).trace.iterations).toBe(0)
  })
})
