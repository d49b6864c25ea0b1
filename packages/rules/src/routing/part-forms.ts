/** Reads problems and plans of routes out of parts and messages: what has another form is none. */
import { canonicalBytes, canonicalizeInSlices, type Slices, utf8 } from "@flyball/evidence"
import type { RoutePlan, RoutingProblem, SolveTrace } from "./problem.ts"

type Form = (value: unknown) => boolean

/** Rows of the distances: two of each of 1,000 vehicles, and one of each of 2,000 jobs. */
export const MAX_PLACES = 4_000
/** Levels of a problem. */
const MAX_DEPTH = 8
/** Characters of a problem, more than any body of a request gives. */
const MAX_LENGTH = 64 * 1_048_576
/** Largest time, distance and load: so much fits in 32 bits. */
const MOST = 2_147_483_647

const whole =
  (max: number, min = 0): Form =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
const text: Form = (value) => typeof value === "string" && value.length > 0 && value.length <= 200
const orNull =
  (form: Form): Form =>
  (value) =>
    value === null || form(value)
const list =
  (of: Form, max: number, min = 0): Form =>
  (value) =>
    Array.isArray(value) && value.length >= min && value.length <= max && value.every(of)
const pair =
  (first: Form, second: Form): Form =>
  (value) =>
    Array.isArray(value) && value.length === 2 && first(value[0]) && second(value[1])
const object =
  (members: { readonly [name: string]: Form }): Form =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.keys(value).length === Object.keys(members).length &&
    Object.entries(members).every(
      ([name, form]) => Object.hasOwn(value, name) && form((value as { readonly [name: string]: unknown })[name])
    )

const window = pair(whole(MOST), whole(MOST))
const place = whole(MAX_PLACES - 1)
const loads = list(whole(MOST), 4)
const rows = list(list(whole(MOST), MAX_PLACES), MAX_PLACES, 1)
const distances: Form = (value) =>
  object({ source: (source) => source === "matrix", metres: rows, seconds: rows })(value) ||
  object({
    source: (source) => source === "great_circle",
    points: list(pair(whole(900_000_000, -900_000_000), whole(1_800_000_000, -1_800_000_000)), MAX_PLACES, 1),
    detour: whole(10_000, 1),
    speed: whole(1_000_000, 1)
  })(value)
const vehicle = object({
  id: text,
  start: orNull(place),
  end: orNull(place),
  capacity: loads,
  shift: window,
  max_metres: orNull(whole(Number.MAX_SAFE_INTEGER)),
  max_seconds: orNull(whole(MOST)),
  skills: list(text, 32),
  fixed_cost: whole(1_000_000),
  cost_per_km: whole(10_000),
  cost_per_hour: whole(10_000)
})
const job = object({
  id: text,
  place,
  demand: loads,
  windows: list(window, 10),
  service: whole(MOST),
  skills: list(text, 32),
  priority: whole(100),
  pinned: orNull(text)
})
const problemForm = object({ distances, vehicles: list(vehicle, 1_000, 1), jobs: list(job, 2_000, 1) })

const count = whole(Number.MAX_SAFE_INTEGER)
const planForm = object({
  routes: list(
    object({
      vehicle: whole(999),
      start: count,
      end: count,
      metres: count,
      driving: count,
      stops: list(object({ job: whole(1_999), arrival: count, begin: count, load: list(count, 4) }), 2_000, 1)
    }),
    1_000
  ),
  unassigned: list(object({ job: whole(1_999), reason: text }), 2_000),
  metres: count,
  driving: count,
  cost: count
})

/** Reads a problem whose places are rows of its distances, and whose distances are square; null where it is none. */
export const readProblem = (value: unknown): RoutingProblem | null => {
  if (!problemForm(value)) return null
  const problem = value as RoutingProblem
  const { distances: of, jobs, vehicles } = problem
  const size = of.source === "matrix" ? of.metres.length : of.points.length
  const isSquare =
    of.source === "great_circle" || [of.metres, of.seconds].every((one) => one.every((row) => row.length === size))
  const dimensions = vehicles[0]!.capacity.length
  const isWithin =
    jobs.every(({ demand, place: at }) => at < size && demand.length === dimensions) &&
    vehicles.every(
      ({ capacity, end, start }) => (start ?? 0) < size && (end ?? 0) < size && capacity.length === dimensions
    )
  return isSquare && isWithin && (of.source === "great_circle" || of.seconds.length === size) ? problem : null
}

/** Reads a plan; null where it is none. It may be wrong: `checkPlan` says so. */
export const readPlan = (value: unknown): RoutePlan | null => (planForm(value) ? (value as RoutePlan) : null)

/** Writes a problem as the bytes that its digest is of, in slices: a matrix has a million numbers. */
export function* problemBytes(problem: RoutingProblem): Slices<Uint8Array> {
  return utf8(yield* canonicalizeInSlices(problem, MAX_DEPTH, MAX_LENGTH))
}

/** Writes a plan as the bytes that its digest is of. */
export const planBytes = (plan: RoutePlan): Uint8Array => canonicalBytes(plan)

/** A plan that was found, and how. `fault`: why the checker refuses it. */
export interface Solved {
  readonly plan: RoutePlan
  readonly trace: SolveTrace
  readonly fault: string | null
}
