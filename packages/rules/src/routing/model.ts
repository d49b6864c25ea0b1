/** The problem of routes in typed arrays, as the search reads it. Nodes: jobs, then one per vehicle, its depot. */
import type { RoutingMatrix } from "./matrix.ts"
import type { RoutingProblem, UnassignedReason } from "./problem.ts"

/** Neighbours of a job that the search tries. */
export const NEIGHBOURS = 40

/** Shares of a way's worth that waiting and lateness between two neighbours cost. */
const [WAITING, LATENESS] = [0.2, 1]

/** The model. Vehicles that are equal in all but the id are of one kind. */
export class Model {
  readonly problem: RoutingProblem
  readonly jobs: number
  readonly vehicles: number
  readonly dimensions: number
  /** Places; where a route is open, behind them one that is no distance from any, where it starts or ends. */
  readonly places: number
  readonly metres: Int32Array
  readonly seconds: Int32Array
  /** The same, `[to × places + from]`. */
  readonly metresTo: Int32Array
  readonly secondsTo: Int32Array
  /** The place where one leaves a node, and where one arrives at it. They differ for vehicles. */
  readonly leave: Int32Array
  readonly arrive: Int32Array
  readonly service: Float64Array
  /** Windows of job `j`: from `windows[j]` to before `windows[j + 1]`. */
  readonly windows: Int32Array
  readonly opens: Float64Array
  readonly closes: Float64Array
  readonly demand: Float64Array
  readonly capacity: Float64Array
  readonly shiftFrom: Float64Array
  readonly shiftTo: Float64Array
  readonly maxMetres: Float64Array
  readonly maxSeconds: Float64Array
  readonly fixed: Float64Array
  readonly perMetre: Float64Array
  readonly perSecond: Float64Array
  /** The weight of a job that is left out. */
  readonly weight: Float64Array
  readonly kind: Int32Array
  readonly kinds: number
  /** One for a job that the kind of vehicle can make alone: `[kind × jobs + job]`. */
  readonly allowed: Uint8Array
  /** Start and end of the route that `times` saw last. */
  start = 0
  end = 0

  constructor(problem: RoutingProblem, matrix: RoutingMatrix) {
    const { jobs, vehicles } = problem
    const [n, count] = [jobs.length, vehicles.length]
    this.problem = problem
    this.jobs = n
    this.vehicles = count
    this.dimensions = vehicles[0]?.capacity.length ?? 0
    const nowhere = matrix.places
    const isOpen = vehicles.some(({ start, end }) => start === null || end === null)
    this.places = isOpen ? nowhere + 1 : nowhere
    this.metres = isOpen ? withNowhere(matrix.metres, nowhere) : matrix.metres
    this.seconds = isOpen ? withNowhere(matrix.seconds, nowhere) : matrix.seconds
    this.metresTo = transposed(this.metres, this.places)
    this.secondsTo = transposed(this.seconds, this.places)
    const places = (of: "start" | "end") =>
      Int32Array.from([...jobs.map(({ place }) => place), ...vehicles.map((vehicle) => vehicle[of] ?? nowhere)])
    this.leave = places("start")
    this.arrive = places("end")
    this.service = Float64Array.from(jobs, ({ service }) => service)
    const windows = jobs.map((job) => (job.windows.length === 0 ? [[-Infinity, Infinity] as const] : job.windows))
    this.windows = new Int32Array(n + 1)
    for (let job = 0; job < n; job++) this.windows[job + 1] = this.windows[job]! + windows[job]!.length
    this.opens = Float64Array.from(windows.flat(), ([from]) => from)
    this.closes = Float64Array.from(windows.flat(), ([, to]) => to)
    this.demand = Float64Array.from(jobs.flatMap(({ demand }) => demand))
    this.capacity = Float64Array.from(vehicles.flatMap(({ capacity }) => capacity))
    this.shiftFrom = Float64Array.from(vehicles, ({ shift }) => shift[0])
    this.shiftTo = Float64Array.from(vehicles, ({ shift }) => shift[1])
    this.maxMetres = Float64Array.from(vehicles, (vehicle) => vehicle.max_metres ?? Infinity)
    this.maxSeconds = Float64Array.from(vehicles, (vehicle) => vehicle.max_seconds ?? Infinity)
    this.fixed = Float64Array.from(vehicles, (vehicle) => 18_000 * vehicle.fixed_cost)
    this.perMetre = Float64Array.from(vehicles, (vehicle) => 18 * vehicle.cost_per_km)
    this.perSecond = Float64Array.from(vehicles, (vehicle) => 5 * vehicle.cost_per_hour)
    this.weight = Float64Array.from(jobs, ({ priority }) => 1 + priority)
    const kinds = kindsOf(problem)
    this.kind = kinds.of
    this.kinds = kinds.first.length
    this.allowed = new Uint8Array(this.kinds * n)
    kinds.first.forEach((vehicle, kind) => {
      for (let job = 0; job < n; job++) if (excludes(this, vehicle, job) === null) this.allowed[kind * n + job] = 1
    })
  }

  /** When a job begins that one reaches at a time; Infinity: behind its last window. */
  beginAt(job: number, time: number): number {
    for (let at = this.windows[job]!; at < this.windows[job + 1]!; at++)
      if (time <= this.closes[at]!) return Math.max(time, this.opens[at]!)
    return Infinity
  }

  /** The latest begin of a job that is not behind a time; -Infinity: none. */
  latestBegin(job: number, time: number): number {
    for (let at = this.windows[job + 1]! - 1; at >= this.windows[job]!; at--)
      if (time >= this.opens[at]!) return Math.min(time, this.closes[at]!)
    return -Infinity
  }

  /**
   * Times a route: it ends as early as it can, and starts as late as that end allows. Sets `start` and `end`, and
   * answers false for a route that windows or the shift do not allow.
   */
  times(vehicle: number, stops: ArrayLike<number>, length: number): boolean {
    const depot = this.jobs + vehicle
    let [from, time] = [depot, this.shiftFrom[vehicle]!]
    for (let at = 0; at < length; at++) {
      const job = stops[at]!
      time = this.beginAt(job, time + this.travel(from, job)) + this.service[job]!
      from = job
    }
    this.end = time + this.travel(from, depot)
    if (this.end > this.shiftTo[vehicle]!) return false
    let [to, bound] = [depot, this.end]
    for (let at = length - 1; at >= 0; at--) {
      const job = stops[at]!
      bound = this.latestBegin(job, bound - this.travel(job, to) - this.service[job]!)
      to = job
    }
    this.start = bound - this.travel(depot, to)
    return true
  }

  /** Seconds between two nodes. */
  travel(from: number, to: number): number {
    return this.seconds[this.leave[from]! * this.places + this.arrive[to]!]!
  }

  /** Metres between two nodes. */
  distance(from: number, to: number): number {
    return this.metres[this.leave[from]! * this.places + this.arrive[to]!]!
  }
}

/** The first constraint that keeps a vehicle from making this job and no other; null: it can. */
export const excludes = (model: Model, vehicle: number, job: number): UnassignedReason | null => {
  const its = model.problem.vehicles[vehicle]!
  const wanted = model.problem.jobs[job]!
  if (wanted.pinned !== null && wanted.pinned !== its.id) return "pinned"
  if (!wanted.skills.every((skill) => its.skills.includes(skill))) return "skills"
  if (wanted.demand.some((demand, dimension) => demand > its.capacity[dimension]!)) return "capacity"
  if (!model.times(vehicle, [job], 1)) return "unreachable_in_time"
  const depot = model.jobs + vehicle
  if (model.distance(depot, job) + model.distance(job, depot) > model.maxMetres[vehicle]!) return "distance"
  return model.end - model.start > model.maxSeconds[vehicle]! ? "duration" : null
}

const withNowhere = (values: Int32Array, places: number): Int32Array => {
  const all = new Int32Array((places + 1) ** 2)
  for (let from = 0; from < places; from++)
    all.set(values.subarray(from * places, (from + 1) * places), from * (places + 1))
  return all
}

/** The values of the other direction; the same array where both directions are equal. */
const transposed = (values: Int32Array, places: number): Int32Array => {
  const isEqual = (from: number): boolean => {
    for (let to = 0; to < from; to++) if (values[from * places + to] !== values[to * places + from]) return false
    return true
  }
  let equal = 0
  while (equal < places && isEqual(equal)) equal++
  if (equal === places) return values
  const other = new Int32Array(values.length)
  for (let from = 0; from < places; from++)
    for (let to = 0; to < places; to++) other[to * places + from] = values[from * places + to]!
  return other
}

const kindsOf = ({ vehicles, jobs }: RoutingProblem): { readonly of: Int32Array; readonly first: Array<number> } => {
  const pinned = new Set(jobs.map((job) => job.pinned))
  const known = new Map<string, number>()
  const first: Array<number> = []
  const of = Int32Array.from(vehicles, ({ id, skills, ...rest }, vehicle) => {
    const key = JSON.stringify([pinned.has(id) ? id : null, [...skills].sort(), Object.entries(rest).sort()])
    const kind = known.get(key) ?? first.push(vehicle) - 1
    known.set(key, kind)
    return kind
  })
  return { of, first }
}

/** `NEIGHBOURS` of each job by the cost of the way, wait and lateness. The nearest is first; -1 fills up. */
export const neighboursOf = (model: Model): Int32Array => {
  const { jobs, places, windows, opens, closes, service, metres, seconds, leave } = model
  const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
  let [perMetre, perSecond] = [mean(model.perMetre), mean(model.perSecond)]
  if (perMetre + perSecond === 0) [perMetre, perSecond] = [1, 1]
  let [far, long] = [0, 1]
  for (let at = 0; at < metres.length; at++) {
    far += perMetre * metres[at]! + perSecond * seconds[at]!
    long += seconds[at]!
  }
  const worth = far / long
  const way = (from: number, to: number): number => {
    const at = leave[from]! * places + leave[to]!
    const between = service[from]! + seconds[at]!
    const waiting = opens[windows[to]!]! - between - closes[windows[from + 1]! - 1]!
    const late = opens[windows[from]!]! + between - closes[windows[to + 1]! - 1]!
    const lost = worth * (WAITING * Math.max(0, waiting) + LATENESS * Math.max(0, late))
    return perMetre * metres[at]! + perSecond * seconds[at]! + lost
  }
  const found = new Int32Array(jobs * NEIGHBOURS).fill(-1)
  const keys = new Float64Array(NEIGHBOURS)
  for (let job = 0; job < jobs; job++) {
    keys.fill(Infinity)
    const base = job * NEIGHBOURS
    for (let other = 0; other < jobs; other++) {
      if (other === job) continue
      const key = Math.min(way(job, other), way(other, job))
      let at = NEIGHBOURS - 1
      if (!(key < keys[at]!)) continue
      for (; at > 0 && key < keys[at - 1]!; at--) {
        keys[at] = keys[at - 1]!
        found[base + at] = found[base + at - 1]!
      }
      keys[at] = key
      found[base + at] = other
    }
  }
  return found
}
