/** Decides when a vehicle has entered or left a fence: with a margin and a dwell, like alerts. Pure. */
import type { GeofenceCreate } from "@flyball/contract"

/** A fence. */
export type Fence = {
  readonly circle: NonNullable<GeofenceCreate["circle"]> | null
  readonly polygon: NonNullable<GeofenceCreate["polygon"]> | null
  readonly dwellMs: number
  readonly marginM: number
}

/** Where a vehicle is to a fence. `sinceMs`: since when its positions say the other; null: they do not. */
export type FenceState = { readonly isInside: boolean; readonly sinceMs: number | null }

interface Point {
  readonly latitude: number
  readonly longitude: number
}

/** Metres of one degree of latitude. */
const DEGREE_M = 111_195

/** Metres of one degree of longitude. */
const degreeEastM = (latitude: number): number => DEGREE_M * Math.cos((latitude * Math.PI) / 180)

/** Degrees from one longitude to another, the shorter way round, over the 180th meridian too. */
const degreesEast = (from: number, to: number): number => {
  const degrees = to - from
  return degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees
}

/** Metres between two points, by the middle latitude: right to a part in a thousand over some hundred kilometres. */
export const metresBetween = (from: Point, to: Point): number =>
  Math.hypot(
    degreesEast(from.longitude, to.longitude) * degreeEastM((from.latitude + to.latitude) / 2),
    (to.latitude - from.latitude) * DEGREE_M
  )

/** Metres from a point to the border of a fence; below 0 inside. */
export const metresToFence = ({ circle, polygon }: Pick<Fence, "circle" | "polygon">, at: Point): number => {
  if (circle !== null) return metresBetween(at, circle) - circle.radius_m
  // Metres east and north of the point.
  const eastM = degreeEastM(at.latitude)
  const x = (corner: Point): number => degreesEast(at.longitude, corner.longitude) * eastM
  const y = (corner: Point): number => (corner.latitude - at.latitude) * DEGREE_M
  let isInside = false
  let nearest = Number.POSITIVE_INFINITY
  let [x1, y1] = [x(polygon!.at(-1)!), y(polygon!.at(-1)!)]
  for (const corner of polygon!) {
    const [x2, y2] = [x(corner), y(corner)]
    if (y1 > 0 !== y2 > 0 && 0 < x1 - (y1 * (x2 - x1)) / (y2 - y1)) isInside = !isInside
    const [dx, dy] = [x2 - x1, y2 - y1]
    const share = dx === 0 && dy === 0 ? 0 : Math.min(1, Math.max(0, -(x1 * dx + y1 * dy) / (dx * dx + dy * dy)))
    const [east, north] = [x1 + share * dx, y1 + share * dy]
    nearest = Math.min(nearest, east * east + north * north)
    x1 = x2
    y1 = y2
  }
  return isInside ? -Math.sqrt(nearest) : Math.sqrt(nearest)
}

/** Degrees outside of which a vehicle is surely outside a fence and its margin; null: anywhere may be near. */
type Box = { readonly south: number; readonly north: number; readonly west: number; readonly east: number } | null

/** A fence with the box around it. */
export interface BoxedFence {
  readonly fence: Fence
  readonly box: Box
}

/** Finds the box around a fence, once for many positions. */
export const boxed = (fence: Fence): BoxedFence => {
  const { circle, marginM, polygon } = fence
  const corners = circle === null ? polygon! : [circle]
  const north = ((circle?.radius_m ?? 0) + marginM + 1) / DEGREE_M
  const [latitudes, longitudes] = [corners.map(({ latitude }) => latitude), corners.map(({ longitude }) => longitude)]
  const furthest = Math.max(...latitudes.map(Math.abs)) + north
  const east = (2 * north) / Math.cos((furthest * Math.PI) / 180)
  const [west, to] = [Math.min(...longitudes) - east, Math.max(...longitudes) + east]
  const isPlain = furthest < 85 && west >= -180 && to <= 180 && to - west < 180
  return {
    fence,
    box: isPlain
      ? { south: Math.min(...latitudes) - north, north: Math.max(...latitudes) + north, west, east: to }
      : null
  }
}

/** True for a position that is surely outside a fence and its margin. */
export const isBeyond = (box: Box, { latitude, longitude }: Point): boolean =>
  box !== null && (latitude < box.south || latitude > box.north || longitude < box.west || longitude > box.east)

/** The state of a vehicle of which nothing is known: outside. */
export const outside: FenceState = { isInside: false, sinceMs: null }

/** Takes the next position. `moved`: the vehicle has entered or left with it. */
export const stepFence = (
  before: FenceState,
  { box, fence }: BoxedFence,
  at: Point & { readonly atMs: number }
): { readonly state: FenceState; readonly moved: boolean } => {
  const metres = isBeyond(box, at) ? Number.POSITIVE_INFINITY : metresToFence(fence, at)
  const { isInside } = before
  const isOther = isInside ? metres > fence.marginM : metres <= 0
  if (!isOther) return { state: before.sinceMs === null ? before : { isInside, sinceMs: null }, moved: false }
  const sinceMs = before.sinceMs ?? at.atMs
  return at.atMs - sinceMs < fence.dwellMs
    ? { state: { isInside, sinceMs }, moved: false }
    : { state: { isInside: !isInside, sinceMs: null }, moved: true }
}
