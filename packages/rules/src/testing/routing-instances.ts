/**
 * Reads published instances of routing problems. X: distances rounded to the nearest integer, as many vehicles as jobs.
 * Solomon, Gehring and Homberger: distances, windows and services in tenths, distances truncated.
 */
import type { RoutingProblem, RoutingVehicle } from "../routing/problem.ts"

/** An instance and the best known sum of its distances, in the units of its problem. */
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
    best: Math.round(Number(/^Cost\s+([\d.]+)/mu.exec(solution)![1]) * unit)
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
