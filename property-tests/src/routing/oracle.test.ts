/** The solver of routes against brute force: every instance of up to 8 jobs and 3 vehicles, at equal cost. */
import {
  checkPlan,
  replayRoutes,
  type RoutingJob,
  type RoutingMatrix,
  routingMatrix,
  type RoutingProblem,
  type RoutingVehicle,
  solveRoutes,
  type UnassignedReason,
  type Window
} from "@flyball/rules"
import { generator, type Generator32 } from "@flyball/statistics"
import { describe, expect, it } from "vitest"
import { runs } from "../runs.ts"

const [MOST_JOBS, MOST_VEHICLES, HORIZON] = [8, 3, 600]

const randomOf = (seed: number): Generator32 => {
  const bytes = new Uint8Array(16).fill(7)
  new DataView(bytes.buffer).setUint32(0, seed)
  return generator(bytes)
}

const pick = <A>(random: Generator32, ...choices: ReadonlyArray<A>): A => choices[random.below(choices.length)]!

/** An instance with tight loads, windows and limits. Every second matrix is of any numbers, triangles or not. */
const instanceOf = (seed: number): RoutingProblem => {
  const random = randomOf(seed)
  const [jobs, vehicles] = [1 + random.below(MOST_JOBS), 1 + random.below(MOST_VEHICLES)]
  const places = jobs + 2
  const at = Array.from({ length: places }, () => [random.below(60), random.below(60)] as const)
  const wild = random.below(2) === 0
  const metres = at.map(([x, y], from) =>
    at.map(([u, v], to) => (from === to ? 0 : wild ? random.below(100) : Math.abs(x - u) + Math.abs(y - v)))
  )
  const seconds = pick(
    random,
    metres,
    metres.map((row) => row.map((value) => value + random.below(10)))
  )
  const windows = (): ReadonlyArray<Window> => {
    const from = random.below(HORIZON / 2)
    const first = [from, from + random.below(150)] as const
    const later = first[1] + 1 + random.below(60)
    return pick(random, [], [first], [first, [later, later + random.below(60)]])
  }
  const limit = (most: number) => (random.below(3) === 0 ? most / 3 + random.below(most) : null)
  return {
    distances: { source: "matrix", metres, seconds },
    jobs: Array.from({ length: jobs }, (_, job): RoutingJob => ({
      id: `j${job}`,
      place: 2 + job,
      demand: [random.below(5), random.below(3)],
      windows: windows(),
      service: random.below(20),
      skills: pick(random, [], [], [], ["lift"]),
      priority: random.below(3),
      pinned: pick(random, null, null, null, null, "v0")
    })),
    vehicles: Array.from({ length: vehicles }, (_, vehicle): RoutingVehicle => ({
      id: `v${vehicle}`,
      start: pick(random, 0, 0, 1, null),
      end: pick(random, 0, 0, 1, null),
      capacity: [4 + random.below(12), 3 + random.below(6)],
      shift: [random.below(50), HORIZON - random.below(200)],
      max_metres: limit(300),
      max_seconds: limit(450),
      skills: pick(random, [], ["lift"]),
      fixed_cost: random.below(2),
      cost_per_km: 1 + random.below(3),
      cost_per_hour: random.below(3)
    }))
  }
}

/** Computes what one order of stops costs a vehicle; null: it is not allowed. `end` is known to grow with the start. */
const costOf = (problem: RoutingProblem, matrix: RoutingMatrix, its: RoutingVehicle, order: ReadonlyArray<number>) => {
  const jobs = order.map((job) => problem.jobs[job]!)
  const places = [its.start, ...jobs.map(({ place }) => place), its.end]
  const leg = (values: Int32Array, at: number) => {
    const [from, to] = [places[at]!, places[at + 1]!]
    return from === null || to === null ? 0 : values[from * matrix.places + to]!
  }
  const end = (start: number): number => {
    let time = start
    for (const [at, { windows, service }] of jobs.entries()) {
      time += leg(matrix.seconds, at)
      if (windows.length > 0) time = Math.max(time, windows.find(([, to]) => time <= to)?.[0] ?? Infinity)
      time += service
    }
    return time + leg(matrix.seconds, jobs.length)
  }
  const earliest = end(its.shift[0])
  if (earliest > its.shift[1]) return null
  if (its.capacity.some((holds, d) => jobs.reduce((sum, { demand }) => sum + demand[d]!, 0) > holds)) return null
  let start = its.shift[0]
  if (its.max_seconds !== null) for (; end(start + 1) === earliest && start < earliest;) start++
  if (its.max_seconds !== null && earliest - start > its.max_seconds) return null
  let [metres, driving] = [0, 0]
  for (let at = 0; at <= jobs.length; at++) {
    metres += leg(matrix.metres, at)
    driving += leg(matrix.seconds, at)
  }
  if (its.max_metres !== null && metres > its.max_metres) return null
  return 18_000 * its.fixed_cost + 18 * metres * its.cost_per_km + 5 * driving * its.cost_per_hour
}

/** The least that each set of jobs costs a vehicle that may make each of them. */
const costsOfSets = (problem: RoutingProblem, matrix: RoutingMatrix, its: RoutingVehicle): ReadonlyArray<number> => {
  const able = problem.jobs.flatMap(({ pinned, skills }, job) =>
    (pinned ?? its.id) === its.id &&
    skills.every((skill) => its.skills.includes(skill)) &&
    costOf(problem, matrix, its, [job]) !== null
      ? [job]
      : []
  )
  const costs = Array.from({ length: 2 ** problem.jobs.length }, () => Infinity)
  costs[0] = 0
  const walk = (order: ReadonlyArray<number>, set: number): void => {
    for (const job of able) {
      if ((set & (1 << job)) !== 0) continue
      const longer = [...order, job]
      const cost = costOf(problem, matrix, its, longer)
      const grown = set | (1 << job)
      if (cost !== null) costs[grown] = Math.min(costs[grown]!, cost)
      walk(longer, grown)
    }
  }
  walk([], 0)
  return costs
}

/** The best that exists: the least weight of jobs left out, then the least cost. */
const bestOf = (problem: RoutingProblem, matrix: RoutingMatrix): readonly [left: number, cost: number] => {
  let reached = costsOfSets(problem, matrix, problem.vehicles[0]!)
  for (const vehicle of problem.vehicles.slice(1)) {
    const costs = costsOfSets(problem, matrix, vehicle)
    reached = reached.map((_, set) => {
      let least = Infinity
      for (let part = set; ; part = (part - 1) & set) {
        least = Math.min(least, reached[set ^ part]! + costs[part]!)
        if (part === 0) return least
      }
    })
  }
  const left = (set: number) =>
    problem.jobs.reduce((sum, { priority }, job) => sum + ((set & (1 << job)) === 0 ? 1 + priority : 0), 0)
  return reached
    .map((cost, set) => [left(set), cost] as const)
    .filter(([, cost]) => cost < Infinity)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])[0]!
}

const solved = (problem: RoutingProblem, matrix: RoutingMatrix) => {
  let time = 0
  return solveRoutes(problem, matrix, { seed: "oracle", maxMs: 100, now: () => time++, stop: () => false })
}

describe("solveRoutes beside brute force", () => {
  it("finds a plan of equal cost, that the checker passes and its trace repeats", () => {
    const differ: Array<string> = []
    for (let seed = 0; seed < runs(200, 2_000); seed++) {
      const problem = instanceOf(seed)
      const matrix = routingMatrix(problem.distances)
      const { plan, trace } = solved(problem, matrix)
      expect(checkPlan(problem, matrix, plan)).toBe(null)
      expect(replayRoutes(problem, matrix, trace)).toEqual(plan)
      const left = plan.unassigned.reduce((sum, { job }) => sum + 1 + problem.jobs[job]!.priority, 0)
      const [least, cost] = bestOf(problem, matrix)
      if (left !== least || plan.cost !== cost)
        differ.push(`${seed}: leaves ${left} at ${plan.cost}, not ${least} at ${cost}`)
    }
    expect(differ).toEqual([])
  })

  const impossible: ReadonlyArray<readonly [UnassignedReason, Partial<RoutingJob>]> = [
    ["pinned", { pinned: "nobody" }],
    ["skills", { skills: ["flying"], demand: [1_000, 0] }],
    ["capacity", { demand: [0, 1_000] }],
    ["unreachable_in_time", { windows: [[HORIZON + 1, HORIZON + 2]] }]
  ]

  it("names the constraint of an impossible job, and makes the others", () => {
    for (let seed = 0; seed < runs(100, 1_000); seed++) {
      const problem = instanceOf(seed)
      const [reason, change] = impossible[seed % impossible.length]!
      const broken = { ...problem.jobs[0]!, skills: [], pinned: null, ...change }
      const harder = { ...problem, jobs: [broken, ...problem.jobs.slice(1)] }
      const { plan } = solved(harder, routingMatrix(problem.distances))
      expect(plan.unassigned[0]).toEqual({ job: 0, reason })
    }
  })
})
