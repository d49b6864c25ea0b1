/** Vehicles, their positions by the hour, and fences as state. Times in milliseconds since 1970 UTC. */
import type { Geofence, TrackedVehicle } from "@flyball/contract"
import { type ListEntry, listKeys, sortable } from "@flyball/core"
import type { Document, DocumentPut, JsonObject } from "@flyball/core/storage"
import { canonicalBytes, formatInstant, utf8 } from "@flyball/evidence"
import type { CourseState } from "./courses.ts"
import type { Fence, FenceState } from "./fences.ts"

/** Collection of vehicles. */
export const VEHICLES = "fleet_vehicles"
/** Collection of positions: a document a vehicle and hour. */
export const TRACKS = "fleet_tracks"
/** Collection of fences. */
export const FENCES = "fleet_geofences"
/** Unit: milliseconds. */
export const HOUR_MS = 3_600_000
/** How long an hour waits for late positions before its digest is recorded. Unit: milliseconds. */
const GRACE_MS = 600_000

/** A position in whole numbers: 10^-7 degrees. */
export interface Fix {
  readonly atMs: number
  readonly latitude: number
  readonly longitude: number
}
/** The unit of {@link Fix}, in degrees. */
export const E7 = 10_000_000

/** A vehicle. */
export type VehicleDocument = {
  readonly owner: string
  readonly orgUnit: string
  readonly vehicleId: string
  readonly latest: Fix
  readonly fences: { readonly [fenceId: string]: FenceState }
  /** Where it is on the course of its plan. */
  readonly course?: CourseState
  readonly createdAtMs: number
}

/** Positions by time, each as the difference from the one before. */
export type Columns = {
  readonly at: ReadonlyArray<number>
  readonly latitude: ReadonlyArray<number>
  readonly longitude: ReadonlyArray<number>
}

/** The positions of one vehicle in one hour. */
export type TrackDocument = {
  readonly vehicle: string
  readonly fromMs: number
  /** Without it the digest on record says nothing of the positions. */
  readonly salt: string
  readonly columns: Columns
  /** The last record of the hour, and how many there were; null before. */
  readonly recorded: { readonly digest: string; readonly revision: number } | null
  /** When its digest is to be recorded; null: it is. */
  readonly dueMs: number | null
}

/** A fence with what a list shows. */
export type FenceDocument = Fence & {
  readonly owner: string
  readonly orgUnit: string
  readonly name: string
  readonly createdAtMs: number
}

/** A document with its version. */
export interface Stored<A> {
  readonly id: string
  readonly version: number
  readonly body: A
}

/** Reads a document of one of these collections. */
export const storedAs = <A>({ body, id, version }: Document): Stored<A> => ({ id, version, body: body as unknown as A })

/** The value of the look-up key `name` of vehicles. */
export const vehicleKey = (owner: string, vehicleId: string): string => `${owner} ${vehicleId}`
/** The value of the look-up key `hour` of tracks. */
export const trackKey = (vehicle: string, fromMs: number): string => `${vehicle} ${sortable(fromMs)}`

/** The place of a vehicle or a fence in lists. */
export const listedByOwner = ({ body, id }: Pick<Document, "body" | "id">): ListEntry => ({
  id,
  owner: String(body["owner"]),
  createdAtMs: Number(body["createdAtMs"])
})

const put = (collection: string, { body, id, version }: Stored<object>): DocumentPut => ({
  collection,
  id,
  expectedVersion: version,
  body: body as JsonObject
})
/** Puts a vehicle over the version that was read; 0: a new one. */
export const putVehicle = (stored: Stored<VehicleDocument>): DocumentPut => {
  const { owner, vehicleId } = stored.body
  const one = put(VEHICLES, stored)
  return { ...one, keys: listKeys(listedByOwner(one)), unique: { name: vehicleKey(owner, vehicleId) } }
}
/** Puts the positions of an hour. */
export const putTrack = (stored: Stored<TrackDocument>): DocumentPut => {
  const { dueMs, fromMs, vehicle } = stored.body
  return {
    ...put(TRACKS, stored),
    keys: { from: sortable(fromMs), ...(dueMs === null ? {} : { due: sortable(dueMs) }) },
    unique: { hour: trackKey(vehicle, fromMs) }
  }
}
/** Puts a fence. */
export const putFence = (stored: Stored<FenceDocument>): DocumentPut => {
  const one = put(FENCES, stored)
  return { ...one, keys: { ...listKeys(listedByOwner(one)), owner: stored.body.owner } }
}

/** The positions of columns, by time. */
export const fixesOf = (fromMs: number, { at, latitude, longitude }: Columns): ReadonlyArray<Fix> => {
  let [ms, north, east] = [fromMs, 0, 0]
  return at.map((step, index) => ({
    atMs: (ms += step),
    latitude: (north += latitude[index]!),
    longitude: (east += longitude[index]!)
  }))
}

/** The columns of positions in the order of time. */
export const columnsOf = (fromMs: number, fixes: ReadonlyArray<Fix>): Columns => {
  const steps = (of: (fix: Fix) => number, first: number) =>
    fixes.map((fix, index) => of(fix) - (index === 0 ? first : of(fixes[index - 1]!)))
  return {
    at: steps(({ atMs }) => atMs, fromMs),
    latitude: steps(({ latitude }) => latitude, 0),
    longitude: steps(({ longitude }) => longitude, 0)
  }
}

/** When the digest of an hour is due that changes now. */
export const dueOf = (fromMs: number, nowMs: number): number => Math.max(fromMs + HOUR_MS, nowMs) + GRACE_MS

/** The bytes that the digest of an hour covers. */
export const digested = ({ columns, salt }: TrackDocument): Uint8Array =>
  utf8(`${salt}\n${new TextDecoder().decode(canonicalBytes(columns))}`)

const shownFix = ({ atMs, latitude, longitude }: Fix) => ({
  at: formatInstant(atMs),
  latitude: latitude / E7,
  longitude: longitude / E7
})
/** Shows positions. */
export const shownFixes = (fixes: ReadonlyArray<Fix>) => fixes.map(shownFix)

/** Shows a vehicle. */
export const vehicleOut = ({ createdAtMs, fences, latest, vehicleId }: VehicleDocument): TrackedVehicle => ({
  vehicle_id: vehicleId,
  position: shownFix(latest),
  geofences: Object.keys(fences).filter((id) => fences[id]!.isInside),
  created_at: formatInstant(createdAtMs)
})

/** Shows a fence. */
export const fenceOut = ({ body, id }: Stored<FenceDocument>): Geofence => ({
  id,
  name: body.name,
  circle: body.circle,
  polygon: body.polygon,
  dwell_s: body.dwellMs / 1_000,
  margin_m: body.marginM,
  created_at: formatInstant(body.createdAtMs)
})
