/**
 * The problem of routes and its answer, in whole numbers: what is digested, solved, checked and recorded. Spec:
 * document 2 sections 4 and 8, "fleet".
 */
import { unassignedReasons } from "@flyball/evidence"

/** A window of time. Unit: seconds since the start of the plan's horizon, both ends included. */
export type Window = readonly [from: number, to: number]

/** Where distances come from. A matrix is row by row: `[from][to]`, metres and seconds, and need not be symmetric. */
export type Distances =
  | {
      readonly source: "matrix"
      readonly metres: ReadonlyArray<ReadonlyArray<number>>
      readonly seconds: ReadonlyArray<ReadonlyArray<number>>
    }
  | {
      readonly source: "great_circle"
      /** Latitude and longitude in 10^-7 degrees. */
      readonly points: ReadonlyArray<readonly [latitude: number, longitude: number]>
      /** The great circle times this is the distance. Unit: thousandths. */
      readonly detour: number
      /** Unit: metres an hour. */
      readonly speed: number
    }

/** A vehicle. Places are rows of the distances. */
export interface RoutingVehicle {
  readonly id: string
  /** Where it starts; null: at its first stop. */
  readonly start: number | null
  /** Where it ends; null: at its last stop. */
  readonly end: number | null
  /** The load that it holds, in up to 4 dimensions, as many as every job has. */
  readonly capacity: ReadonlyArray<number>
  readonly shift: Window
  readonly max_metres: number | null
  /** The longest time from start to end. Unit: seconds. */
  readonly max_seconds: number | null
  readonly skills: ReadonlyArray<string>
  /** Costs of use, of a kilometre, of an hour of driving. Whole numbers. */
  readonly fixed_cost: number
  readonly cost_per_km: number
  readonly cost_per_hour: number
}

/** A stop to make. */
export interface RoutingJob {
  readonly id: string
  readonly place: number
  readonly demand: ReadonlyArray<number>
  /** When it may begin; none: at any time. In order, without overlap. */
  readonly windows: ReadonlyArray<Window>
  /** Unit: seconds. */
  readonly service: number
  /** Every one of them its vehicle must have. */
  readonly skills: ReadonlyArray<string>
  /** 0 to 100. The sum of 1 + priority of the jobs left out is least, and only then the cost. */
  readonly priority: number
  /** The id of the vehicle that must make it; null: any. */
  readonly pinned: string | null
}

/** The problem to plan. */
export interface RoutingProblem {
  readonly distances: Distances
  readonly vehicles: ReadonlyArray<RoutingVehicle>
  readonly jobs: ReadonlyArray<RoutingJob>
}

/** A stop of a route. Times in seconds of the horizon. */
export interface RouteStop {
  /** Index of the job. */
  readonly job: number
  readonly arrival: number
  /** When its service begins: `arrival` and the wait. */
  readonly begin: number
  /** The load behind it: the sum of demands so far. */
  readonly load: ReadonlyArray<number>
}

/** The route of one vehicle, which has stops. It ends as early as it can, and starts as late as that end allows. */
export interface Route {
  /** Index of the vehicle. */
  readonly vehicle: number
  readonly start: number
  readonly end: number
  readonly metres: number
  /** Seconds of driving. */
  readonly driving: number
  readonly stops: ReadonlyArray<RouteStop>
}

export { unassignedReasons }
/** The first constraint that excludes a job. */
export type UnassignedReason = (typeof unassignedReasons)[number]

/** A plan. */
export interface RoutePlan {
  /** In the order of vehicles. */
  readonly routes: ReadonlyArray<Route>
  /** In the order of jobs. */
  readonly unassigned: ReadonlyArray<{ readonly job: number; readonly reason: UnassignedReason }>
  readonly metres: number
  readonly driving: number
  /** `18,000 × fixed + 18 × metres × cost_per_km + 5 × driving × cost_per_hour`: 18,000 make one unit of the costs. */
  readonly cost: number
}

/** The facts that anybody needs to find the same plan again. */
export interface SolveTrace {
  readonly seed: string
  readonly iterations: number
  /** The budgets of iterations that the clock set: from iteration `at`, the search is to end at `until`. */
  readonly schedule: ReadonlyArray<{ readonly at: number; readonly until: number }>
}
