/**
 * Distances between all places, in whole numbers. The great circle uses only operations whose results IEEE 754 fixes,
 * so that every machine plans with the same metres.
 */
import type { Distances } from "./problem.ts"

/** Metres and seconds between places, row by row: `[from × places + to]`. */
export interface RoutingMatrix {
  readonly places: number
  readonly metres: Int32Array
  readonly seconds: Int32Array
}

/** Mean radius of the earth. Unit: metres. */
export const EARTH_RADIUS = 6_371_008.8
const LONGEST = 2 ** 31 - 1
const TURN = 6.283185307179586

/** Computes or copies the distances between all places. A value that passes 2^31 - 1 stays there. */
export const routingMatrix = (distances: Distances): RoutingMatrix => {
  if (distances.source === "great_circle") return greatCircle(distances.points, distances.detour, distances.speed)
  const places = distances.metres.length
  const flat = (rows: ReadonlyArray<ReadonlyArray<number>>): Int32Array => {
    const all = new Int32Array(places * places)
    rows.forEach((row, from) => all.set(row, from * places))
    return all
  }
  return { places, metres: flat(distances.metres), seconds: flat(distances.seconds) }
}

const greatCircle = (
  points: ReadonlyArray<readonly [number, number]>,
  detour: number,
  speed: number
): RoutingMatrix => {
  const places = points.length
  const metres = new Int32Array(places * places)
  const seconds = new Int32Array(places * places)
  const units = points.map(unitVector)
  for (let from = 0; from < places; from++) {
    const [x, y, z] = units[from]!
    for (let to = from + 1; to < places; to++) {
      const other = units[to]!
      const [dx, dy, dz] = [x - other[0], y - other[1], z - other[2]]
      const chord = Math.sqrt(dx * dx + dy * dy + dz * dz)
      const arc = 2 * arcSine(Math.min(1, chord / 2)) * EARTH_RADIUS
      const far = Math.min(LONGEST, Math.round((arc * detour) / 1_000))
      const long = Math.min(LONGEST, Math.round((far * 3_600) / speed))
      metres[from * places + to] = metres[to * places + from] = far
      seconds[from * places + to] = seconds[to * places + from] = long
    }
  }
  return { places, metres, seconds }
}

const unitVector = ([latitude, longitude]: readonly [number, number]): readonly [number, number, number] => {
  const [phi, lambda] = [(latitude / 3.6e9) * TURN, (longitude / 3.6e9) * TURN]
  const flat = sine(TURN / 4 - phi)
  return [flat * sine(TURN / 4 - lambda), flat * sine(lambda), sine(phi)]
}

/** Taylor's series, for angles to a turn and a half. */
const sine = (angle: number): number => {
  let term = angle
  let sum = angle
  for (let k = 2; k < 60; k += 2) {
    term = (-term * angle * angle) / (k * (k + 1))
    sum += term
  }
  return sum
}

/** The series of the arc sine for 0 to 1; above a half by the half angle. */
const arcSine = (x: number): number => {
  if (x > 0.5) return TURN / 4 - 2 * arcSine(Math.sqrt((1 - x) / 2))
  let term = x
  let sum = x
  for (let k = 1; term > 1e-12 * x; k += 2) {
    term = (term * x * x * k) / (k + 1)
    sum += term / (k + 2)
  }
  return sum
}
