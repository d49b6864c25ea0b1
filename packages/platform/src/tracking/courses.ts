/**
 * The places that a dispatched plan has its vehicles pass, and when a vehicle has left them: with a margin and a dwell,
 * like fences. Pure.
 */
import { ROUTE_COURSES, sortable } from "@flyball/core"
import type { DocumentPut, JsonObject } from "@flyball/core/storage"
import { metresBetween } from "./fences.ts"
import { E7, type Fix, type Stored } from "./document.ts"

/** A place in whole numbers: 10^-7 degrees. */
export type Place = readonly [latitude: number, longitude: number]

/** The places that one vehicle is to pass, in order. It is judged between two times of its positions. */
export type Course = {
  readonly vehicleId: string
  /** Start, stops and end, those that it has. */
  readonly places: ReadonlyArray<Place>
  /** It starts wherever it likes, so it is not judged before it was on its way between two places. */
  readonly isOpen: boolean
  readonly fromMs: number
  readonly untilMs: number
}

/** The courses of a plan, under its id. Erasing its routes or its places leaves none. */
export type CoursesDocument = {
  readonly owner: string
  readonly dispatchedAtMs: number
  /** A way between two places may be so much longer than the straight line. Unit: thousandths. */
  readonly detour: number
  readonly courses: ReadonlyArray<Course>
}

/** Where a vehicle is on its course. `sinceMs`: since when its positions are off; null: they are not. */
export type CourseState = {
  readonly planId: string
  /** Index of the place that it goes to; behind the last one: its course is over. */
  readonly next: number
  readonly isOn: boolean
  readonly sinceMs: number | null
}

/** A vehicle has left farther away than this, is back within the other, where it also has passed a place. */
const [MARGIN_M, NEAR_M] = [1_000, 500]
/** How long a vehicle is off before it has left its plan. Unit: milliseconds. */
const DWELL_MS = 300_000

/** Puts the courses of a plan that is dispatched. */
export const putCourses = (id: string, body: CoursesDocument): DocumentPut => ({
  collection: ROUTE_COURSES,
  id,
  expectedVersion: 0,
  body: body as unknown as JsonObject,
  keys: { owner: body.owner, until: sortable(Math.max(0, ...body.courses.map(({ untilMs }) => untilMs))) }
})

/** A course with the plan that it is of. */
export interface PlannedCourse {
  readonly planId: string
  readonly detour: number
  readonly course: Course
}

/** The course of each vehicle: that of the plan which was dispatched last. */
export const coursesByVehicle = (all: ReadonlyArray<Stored<CoursesDocument>>): ReadonlyMap<string, PlannedCourse> =>
  new Map(
    all
      .toSorted((one, other) => one.body.dispatchedAtMs - other.body.dispatchedAtMs)
      .flatMap(({ body: { courses, detour }, id }) =>
        courses.map((course) => [course.vehicleId, { planId: id, detour, course }] as const)
      )
  )

/** Follows a vehicle over positions in the order of time. `left`: when it left its plan. */
export const followCourse = (
  before: CourseState | null,
  of: PlannedCourse,
  moving: ReadonlyArray<Fix>
): { readonly state: CourseState; readonly left: ReadonlyArray<number> } => {
  const { course, planId } = of
  let state = before?.planId === planId ? before : { planId, next: 1, isOn: !course.isOpen, sinceMs: null }
  const left: Array<number> = []
  for (const at of moving) {
    if (at.atMs < course.fromMs || at.atMs > course.untilMs) continue
    const after = stepCourse(state, of, at)
    if (state.isOn && !after.isOn) left.push(at.atMs)
    state = after
  }
  return { state, left }
}

/**
 * Takes the next position. It is on the way to a place where the way from the place before, over it, is not much longer
 * than the plan allows. One place may be passed over; a vehicle that has left may come back at any later one.
 */
const stepCourse = (before: CourseState, { course: { places }, detour }: PlannedCourse, at: Fix): CourseState => {
  const last = before.isOn ? Math.min(before.next + 1, places.length - 1) : places.length - 1
  if (before.next >= places.length) return before
  const metresTo = (place: Place): number => metresBetween(pointOf(place), pointOf([at.latitude, at.longitude]))
  const isOnWay = (next: number): boolean => {
    const [from, to] = [places[next - 1]!, places[next]!]
    const allowed = (detour / 1_000) * metresBetween(pointOf(from), pointOf(to))
    return metresTo(from) + metresTo(to) <= allowed + 2 * (before.isOn ? MARGIN_M : NEAR_M)
  }
  let { next } = before
  while (next <= last && !isOnWay(next)) next++
  if (next <= last) {
    while (next < places.length && metresTo(places[next]!) <= NEAR_M) next++
    return { ...before, next, isOn: true, sinceMs: null }
  }
  if (!before.isOn) return before
  const sinceMs = before.sinceMs ?? at.atMs
  return at.atMs - sinceMs < DWELL_MS ? { ...before, sinceMs } : { ...before, isOn: false, sinceMs: null }
}

const pointOf = ([latitude, longitude]: Place) => ({ latitude: latitude / E7, longitude: longitude / E7 })
