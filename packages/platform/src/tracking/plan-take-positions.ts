/** Plans what positions change: vehicles, their hours, and events of fences and plans. Pure. */
import { type PositionsTaken, trackingBounds } from "@flyball/contract"
import { platformEvent } from "@flyball/core"
import type { ChangeSet } from "@flyball/core/storage"
import { formatInstant } from "@flyball/evidence"
import {
  columnsOf,
  dueOf,
  E7,
  type FenceDocument,
  type Fix,
  fixesOf,
  HOUR_MS,
  putTrack,
  putVehicle,
  type Stored,
  type TrackDocument,
  type VehicleDocument
} from "./document.ts"
import { coursesByVehicle, type CoursesDocument, followCourse } from "./courses.ts"
import { boxed, type BoxedFence, type FenceState, isBeyond, outside, stepFence } from "./fences.ts"

/** A vehicle as far as it is known: version 0 where nothing is. */
export interface KnownVehicle {
  readonly id: string
  readonly version: number
  readonly body: VehicleDocument | null
  /** The hours of the positions that came, by their beginning. */
  readonly hours: ReadonlyMap<number, Stored<TrackDocument>>
  /** Its positions that came, in the order of time. */
  readonly came: ReadonlyArray<Fix>
}

/** Where the positions belong. */
export interface TrackedUnit {
  readonly owner: string
  readonly orgUnit: string
  readonly nowMs: number
  readonly fences: ReadonlyArray<Stored<FenceDocument>>
  readonly courses: ReadonlyArray<Stored<CoursesDocument>>
}

/** The beginning of the hour of a time. */
export const hourOf = (atMs: number): number => Math.floor(atMs / HOUR_MS) * HOUR_MS

/** Plans positions of many vehicles. `full`: the vehicle of which an hour has no room. */
export const planTakePositions = (
  vehicles: ReadonlyMap<string, KnownVehicle>,
  unit: TrackedUnit
): { readonly change: ChangeSet; readonly taken: PositionsTaken } | { readonly full: string } => {
  const puts = []
  const events = []
  const fences = unit.fences.map(({ body, id }) => ({ id, ...boxed(body) }))
  const courses = coursesByVehicle(unit.courses)
  let [late, repeated] = [0, 0]
  for (const [vehicleId, known] of vehicles) {
    const fresh: Array<Fix> = []
    for (const [fromMs, track] of known.hours) {
      const before = fixesOf(fromMs, track.body.columns)
      const times = new Set(before.map(({ atMs }) => atMs))
      const added = known.came.filter(({ atMs }) => {
        if (hourOf(atMs) !== fromMs) return false
        return times.has(atMs) ? (repeated++, false) : (times.add(atMs), true)
      })
      if (added.length === 0) continue
      if (times.size > trackingBounds.anHour) return { full: vehicleId }
      fresh.push(...added)
      const columns = columnsOf(
        fromMs,
        [...before, ...added].sort((one, other) => one.atMs - other.atMs)
      )
      puts.push(putTrack({ ...track, body: { ...track.body, columns, dueMs: dueOf(fromMs, unit.nowMs) } }))
    }
    const sinceMs = known.body?.latest.atMs ?? Number.NEGATIVE_INFINITY
    const moving = fresh.filter(({ atMs }) => atMs > sinceMs).sort((one, other) => one.atMs - other.atMs)
    late += fresh.length - moving.length
    if (moving.length === 0) continue
    const moved = moveVehicle(known.body?.fences ?? {}, moving, fences)
    events.push(
      ...moved.events.map(({ atMs, id, isInside }) =>
        platformEvent(isInside ? "fleet.geofence_entered" : "fleet.geofence_left", unit.orgUnit, {
          geofence_id: id,
          vehicle_id: vehicleId,
          at: formatInstant(atMs)
        })
      )
    )
    const { nowMs, orgUnit, owner } = unit
    const planned = courses.get(vehicleId)
    const followed = planned === undefined ? null : followCourse(known.body?.course ?? null, planned, moving)
    events.push(
      ...(followed?.left ?? []).map((atMs) =>
        platformEvent("fleet.off_plan", orgUnit, {
          plan_id: planned!.planId,
          vehicle_id: vehicleId,
          at: formatInstant(atMs)
        })
      )
    )
    const createdAtMs = known.body?.createdAtMs ?? nowMs
    const now = {
      latest: moving.at(-1)!,
      fences: moved.fences,
      ...(followed === null ? {} : { course: followed.state })
    }
    const body = { owner, orgUnit, vehicleId, ...now, createdAtMs }
    puts.push(putVehicle({ id: known.id, version: known.version, body }))
  }
  const came = [...vehicles.values()].reduce((all, known) => all + known.came.length, 0)
  return { change: { puts, events }, taken: { accepted: came - repeated, late, repeated } }
}

/** Moves a vehicle through the fences of its unit. What is not kept is outside; a fence that is gone is forgotten. */
const moveVehicle = (
  before: VehicleDocument["fences"],
  moving: ReadonlyArray<Fix>,
  fences: ReadonlyArray<BoxedFence & { readonly id: string }>
) => {
  const events: Array<{ readonly id: string; readonly isInside: boolean; readonly atMs: number }> = []
  const after: { [fenceId: string]: FenceState } = {}
  const places = moving.map(({ atMs, latitude, longitude }) => ({
    atMs,
    latitude: latitude / E7,
    longitude: longitude / E7
  }))
  const known = new Set(Object.keys(before))
  for (const fence of fences) {
    // Most vehicles are far from most fences.
    if (places.every((at) => isBeyond(fence.box, at)) && !known.has(fence.id)) continue
    let state = before[fence.id] ?? outside
    for (const at of places) {
      const step = stepFence(state, fence, at)
      state = step.state
      if (step.moved) events.push({ id: fence.id, isInside: state.isInside, atMs: at.atMs })
    }
    if (state.isInside || state.sinceMs !== null) after[fence.id] = state
  }
  return { fences: after, events: events.sort((one, other) => one.atMs - other.atMs) }
}
