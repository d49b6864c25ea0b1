/** Makes the problem that is planned out of the body of a request: times in seconds, places as numbers. Pure. */
import { routeBounds, type RoutesOptimize } from "@flyball/contract"
import { parseInstant, type Slices } from "@flyball/evidence"
import { MAX_PLACES, type RoutingJob, type RoutingProblem, type RoutingVehicle, type Window } from "@flyball/rules"

/** A problem of routes, and the time of its second 0. */
export interface Posed {
  readonly problem: RoutingProblem
  readonly baseMs: number
}

/** A value that cannot be planned with. */
export class Unfit extends Error {
  readonly path: ReadonlyArray<string>
  readonly input: unknown
  constructor(path: ReadonlyArray<string | number>, msg: string, input?: unknown) {
    super(msg)
    this.path = path.map(String)
    this.input = input
  }
}

type Span = { readonly start: string; readonly end: string }
type Location = RoutesOptimize["jobs"][number]["location"]

const SECOND_MS = 1_000
/** Rows of a matrix that are read in one slice. */
const ROWS = 25

const msOf = (instant: string): number => parseInstant(instant)!

/** Reads a request in slices. Throws {@link Unfit}. `nowMs`: second 0 of a problem without times. */
export function* poseProblem(input: RoutesOptimize, nowMs: number): Slices<Posed> {
  const { detour, jobs, matrix, speed_kmh: speed, vehicles } = input
  const spans = [
    ...vehicles.flatMap(({ shift }) => (shift == null ? [] : [shift])),
    ...jobs.flatMap(({ time_windows: windows }) => windows ?? [])
  ]
  const firstMs = spans.reduce(
    (first, { start }) => Math.min(first, msOf(start)),
    spans.length === 0 ? nowMs : Infinity
  )
  const baseMs = Math.floor(firstMs / SECOND_MS) * SECOND_MS
  const windowOf = ({ end, start }: Span, path: ReadonlyArray<string | number>): Window => {
    const [from, to] = [start, end].map((one) => Math.floor((msOf(one) - baseMs) / SECOND_MS)) as [number, number]
    if (to < from) throw new Unfit(path, "The end is before the start", { start, end })
    if (to > routeBounds.horizonS) throw new Unfit(path, "A plan spans 14 days at most", { start, end })
    return [from, to]
  }
  const size = matrix == null ? null : yield* squareOf(matrix)
  const points = new Map<string, readonly [number, number]>()
  const numbers = new Map<string, number>()
  const placeOf = (location: Location, path: ReadonlyArray<string | number>): number => {
    if (typeof location === "number") {
      if (size !== null && location < size) return location
      const msg = size === null ? "Without a matrix a place is {latitude, longitude}" : `The matrix has ${size} places`
      throw new Unfit(path, msg, location)
    }
    if (size !== null) throw new Unfit(path, "With a matrix a place is the number of its row", location)
    const point = [location.latitude, location.longitude].map((degrees) => Math.round(degrees * 10_000_000))
    const key = point.join(" ")
    if (!numbers.has(key)) {
      numbers.set(key, points.size)
      points.set(key, point as [number, number])
    }
    return numbers.get(key)!
  }
  const dimensions = vehicles[0]!.capacity?.length ?? 0
  const loadsOf = (loads: ReadonlyArray<number>, path: ReadonlyArray<string | number>) => {
    if (loads.length !== dimensions) throw new Unfit(path, `Expected ${dimensions} numbers, as the first vehicle has`)
    return loads
  }
  const ids = unique(vehicles, "vehicles")
  unique(jobs, "jobs")
  const routed = vehicles.map((one, at): RoutingVehicle => {
    const path = ["vehicles", at]
    return {
      id: one.id,
      start: one.start == null ? null : placeOf(one.start, [...path, "start"]),
      end: one.end == null ? null : placeOf(one.end, [...path, "end"]),
      capacity: loadsOf(one.capacity ?? [], [...path, "capacity"]),
      shift: one.shift == null ? [0, routeBounds.horizonS] : windowOf(one.shift, [...path, "shift"]),
      max_metres: one.max_metres ?? null,
      max_seconds: one.max_duration_seconds ?? null,
      skills: one.skills ?? [],
      fixed_cost: one.costs?.fixed ?? 0,
      cost_per_km: one.costs?.per_km ?? 1,
      cost_per_hour: one.costs?.per_hour ?? 0
    }
  })
  yield
  const stops = jobs.map((one, at): RoutingJob => {
    const path = ["jobs", at]
    const windows = (one.time_windows ?? []).map((span, window) => windowOf(span, [...path, "time_windows", window]))
    const overlap = windows.findIndex(([from], window) => window > 0 && from <= windows[window - 1]![1])
    if (overlap >= 0) throw new Unfit([...path, "time_windows", overlap], "Windows are in order and do not overlap")
    if (one.vehicle != null && !ids.has(one.vehicle))
      throw new Unfit([...path, "vehicle"], "No vehicle of the request has this id", one.vehicle)
    return {
      id: one.id,
      place: placeOf(one.location, [...path, "location"]),
      demand: loadsOf(one.demand ?? routed[0]!.capacity.map(() => 0), [...path, "demand"]),
      windows,
      service: one.service_seconds ?? 0,
      skills: one.skills ?? [],
      priority: one.priority ?? 0,
      pinned: one.vehicle ?? null
    }
  })
  const distances: RoutingProblem["distances"] =
    matrix == null
      ? {
          source: "great_circle",
          points: [...points.values()],
          detour: Math.round((detour ?? routeBounds.detour.default) * 1_000),
          speed: Math.round((speed ?? routeBounds.speedKmh.default) * 1_000)
        }
      : ({ source: "matrix", metres: matrix.metres, seconds: matrix.seconds } as RoutingProblem["distances"])
  return { problem: { distances, vehicles: routed, jobs: stops }, baseMs }
}

const unique = (all: ReadonlyArray<{ readonly id: string }>, name: string): ReadonlySet<string> => {
  const seen = new Set<string>()
  for (const [at, { id }] of all.entries()) {
    if (seen.has(id)) throw new Unfit([name, at, "id"], "Another one has this id", id)
    seen.add(id)
  }
  return seen
}

/** Checks that both parts of a matrix are square and of one size, and answers the size. */
function* squareOf(matrix: NonNullable<RoutesOptimize["matrix"]>): Slices<number> {
  const size = (matrix.metres as ReadonlyArray<unknown>).length
  if (size === 0 || size > MAX_PLACES) throw new Unfit(["matrix", "metres"], `Expected 1 to ${MAX_PLACES} rows`)
  for (const name of ["metres", "seconds"] as const) {
    const rows = matrix[name] as ReadonlyArray<unknown>
    const most = name === "metres" ? routeBounds.metres : routeBounds.horizonS
    if (rows.length !== size) throw new Unfit(["matrix", name], `Expected ${size} rows, as metres has`)
    for (const [at, row] of rows.entries()) {
      if (!Array.isArray(row) || row.length !== size)
        throw new Unfit(["matrix", name, at], `Expected a list of ${size} numbers: the matrix is square`)
      const wrong = row.findIndex((one) => !Number.isInteger(one) || one < 0 || one > most)
      if (wrong >= 0)
        throw new Unfit(["matrix", name, at, wrong], `Expected a whole number from 0 to ${most}`, row[wrong])
      if (at % ROWS === ROWS - 1) yield
    }
  }
  return size
}
