/**
 * Reads published instances of routing problems. X: distances rounded to the nearest integer, as many vehicles as jobs.
 * Solomon, Gehring and Homberger: distances, windows and services in tenths, distances truncated. Several depots
 * (Cordeau) and mixed fleets (Golden, Taillard): thousandths, rounded.
 */
import type { RoutingProblem, RoutingVehicle } from "../routing/problem.ts"

/** An instance and the cost of its best known plan, in the units of plans. */
export interface Instance {
  readonly problem: RoutingProblem
  readonly best: number
}

interface Customer {
  readonly x: number
  readonly y: number
  readonly demand: number
  readonly window: readonly [number, number] | null
  readonly service: number
}

/** Reads an instance (`.vrp`, or a `.txt` of Solomon's) and its solution (`.sol`). */
export const readInstance = (text: string, solution: string): Instance => {
  const known = Number(/^Cost\s+([\d.]+)/mu.exec(solution)![1])
  if (!/^CUST NO|_SECTION/mu.test(text)) return readFleet(rows(text), /^\s*\/\//u.test(text), known)
  const [customers, vehicles, capacity] = /^CUST NO/mu.test(text) ? readSolomon(text) : readVrp(text)
  const unit = customers[0]!.window === null ? 1 : 10
  const distances = customers.map((a) =>
    customers.map((b) => {
      const apart = Math.sqrt((a.x - b.x) ** 2 + (a.y - b.y) ** 2)
      return unit === 1 ? Math.round(apart) : Math.floor(apart * unit)
    })
  )
  const shift = customers[0]!.window ?? ([0, 1e9] as const)
  const vehicle = (id: string): RoutingVehicle => ({
    id,
    start: 0,
    end: 0,
    capacity: [capacity],
    shift: [shift[0] * unit, shift[1] * unit],
    max_metres: null,
    max_seconds: null,
    skills: [],
    fixed_cost: 0,
    cost_per_km: 1,
    cost_per_hour: 0
  })
  const jobs = customers.slice(1).map(({ demand, window, service }, at) => ({
    id: `j${at + 1}`,
    place: at + 1,
    demand: [demand],
    windows: window === null ? [] : [[window[0] * unit, window[1] * unit] as const],
    service: service * unit,
    skills: [],
    priority: 0,
    pinned: null
  }))
  return {
    problem: {
      distances: { source: "matrix", metres: distances, seconds: distances },
      vehicles: Array.from({ length: vehicles }, (_, at) => vehicle(`v${at + 1}`)),
      jobs
    },
    best: 18 * Math.round(known * unit)
  }
}

/** Units of a distance; hundredths of a cost a distance. */
const [FLEET_UNIT, COST_PARTS] = [1_000, 100]

/** Reads vehicles of several depots, or those of several kinds at one. */
const readFleet = (lines: ReadonlyArray<ReadonlyArray<number>>, isMixed: boolean, known: number): Instance => {
  const [first, ...rest] = lines as ReadonlyArray<ReadonlyArray<number>> & { readonly 0: ReadonlyArray<number> }
  const [jobs, kinds] = isMixed ? [first[0]!, first[1]!] : [first[2]!, first[3]!]
  const [heads, points] = [rest.slice(0, kinds), rest.slice(kinds)]
  // Several depots: number, x, y, service, demand, depots last. Mixed: the depot first, each x, y, demand.
  const customers = isMixed
    ? points.slice(1, jobs + 1).map(([x, y, load]) => [0, x, y, 0, load])
    : points.slice(0, jobs)
  const depots = isMixed ? [[0, ...points[0]!]] : points.slice(jobs, jobs + kinds)
  const places = [...depots, ...customers]
  const distances = places.map(([, x, y]) =>
    places.map(([, u, v]) => Math.round(FLEET_UNIT * Math.sqrt((x! - u!) ** 2 + (y! - v!) ** 2)))
  )
  const vehicles = heads.flatMap((head, kind) => {
    const [count, longest, capacity, fixed, perKm] = isMixed
      ? [head[0]!, 0, head[1]!, head[2]!, head[3]!]
      : [first[1]!, head[0]!, head[1]!, 0, 1]
    const depot = isMixed ? 0 : kind
    return Array.from({ length: count }, (_, at): RoutingVehicle => ({
      id: `v${kind}-${at}`,
      start: depot,
      end: depot,
      capacity: [capacity],
      shift: [0, longest === 0 ? 1e9 : longest * FLEET_UNIT],
      max_metres: null,
      max_seconds: null,
      skills: [],
      fixed_cost: Math.round(fixed * COST_PARTS),
      cost_per_km: Math.round(perKm * COST_PARTS),
      cost_per_hour: 0
    }))
  })
  return {
    problem: {
      distances: { source: "matrix", metres: distances, seconds: distances },
      vehicles,
      jobs: customers.map(([, , , service, demand], at) => ({
        id: `j${at + 1}`,
        place: depots.length + at,
        demand: [demand!],
        windows: [],
        service: service! * FLEET_UNIT,
        skills: [],
        priority: 0,
        pinned: null
      }))
    },
    best: known * 18 * FLEET_UNIT * COST_PARTS
  }
}

type Read = readonly [customers: ReadonlyArray<Customer>, vehicles: number, capacity: number]

const rows = (text: string): ReadonlyArray<ReadonlyArray<number>> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^[-\d.\s]+$/u.test(line))
    .map((line) => line.split(/\s+/u).map(Number))

const readSolomon = (text: string): Read => {
  const [fleet, ...lines] = rows(text)
  const customers = lines.map(([, x, y, demand, from, to, service]): Customer => ({
    x: x!,
    y: y!,
    demand: demand!,
    window: [from!, to!],
    service: service!
  }))
  return [customers, fleet![0]!, fleet![1]!]
}

const readVrp = (text: string): Read => {
  const value = (key: string): number => Number(new RegExp(`^${key}\\s*:\\s*(\\d+)`, "mu").exec(text)?.[1] ?? 0)
  const section = (key: string) => rows(new RegExp(`^${key}_SECTION([^A-Z]*)`, "mu").exec(text)?.[1] ?? "")
  const [demands, windows] = [section("DEMAND"), section("TIME_WINDOW")]
  const customers = section("NODE_COORD").map(([, x, y], at): Customer => ({
    x: x!,
    y: y!,
    demand: demands[at]![1]!,
    window: windows.length === 0 ? null : [windows[at]![1]!, windows[at]![2]!],
    service: at === 0 ? 0 : value("SERVICE_TIME")
  }))
  return [customers, value("VEHICLES") || customers.length - 1, value("CAPACITY")]
}
