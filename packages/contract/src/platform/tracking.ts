/** Positions of vehicles, and the fences that they enter and leave. Spec: document 2 sections 4 and 8, "fleet". */
import { Schema } from "effect"
import { check, instant, integer, leftOut, list, name, optional, patterned } from "../foundation/fields.ts"
import { listOf, listQuery, unitQuery } from "./list.ts"
import { requestBounds } from "./plans.ts"

/** Bounds of positions and fences. */
export const trackingBounds = {
  /** How old a position may be when it comes. Unit: milliseconds. */
  pastMs: 86_400_000,
  /** How far ahead of the server's time it may be. Unit: milliseconds. */
  futureMs: 300_000,
  /** How long positions are kept. Unit: milliseconds. */
  keptMs: 30 * 86_400_000,
  /** Positions of one vehicle in one hour. */
  anHour: 7_200,
  /** Fences of an org unit. */
  fences: 200,
  corners: 200,
  /** The longest span of a track in one answer. Unit: milliseconds. */
  trackMs: 86_400_000
} as const

const degrees = (limit: number) =>
  Schema.Number.check(
    check<number>(
      (value) => Math.abs(value) <= limit,
      { type: "value_error", msg: `Input should be from -${limit} to ${limit}` },
      { minimum: -limit, maximum: limit }
    )
  )
const place = { latitude: degrees(90), longitude: degrees(180) }

/** The caller's own name of a vehicle, of letters, digits and `._:@+-`. */
export const vehicleId = patterned(/^[A-Za-z0-9._:@+-]+$/, 100)

/** Body of POST /v1/fleet/positions: 1 to 1,000 positions, each of which counts. */
export const FleetPositions = Schema.Struct({
  positions: list(Schema.Struct({ vehicle_id: vehicleId, at: instant, ...place }), 1, requestBounds.positions)
})
/** A position as it is sent. */
export type FleetPosition = (typeof FleetPositions.Type)["positions"][number]

/**
 * How many positions were taken. `late`: older than one that is known of their vehicle; they are in its track alone.
 * `repeated`: of a time that its track has already; they change nothing.
 */
export const PositionsTaken = Schema.Struct({ accepted: Schema.Int, late: Schema.Int, repeated: Schema.Int })
/** See {@link PositionsTaken}. */
export type PositionsTaken = typeof PositionsTaken.Type

/** A vehicle with its latest position by measured time, and the fences that it is in. */
export const TrackedVehicle = Schema.Struct({
  vehicle_id: Schema.String,
  position: Schema.Struct({ at: instant, ...place }),
  geofences: Schema.Array(Schema.String),
  created_at: instant
})
/** See {@link TrackedVehicle}. */
export type TrackedVehicle = typeof TrackedVehicle.Type
/** Query of GET /v1/fleet/vehicles. */
export const VehiclesQuery = listQuery({})
/** Answer of GET /v1/fleet/vehicles. */
export const VehiclesPage = listOf(TrackedVehicle)

/** Query of GET /v1/fleet/vehicles/{vehicle_id}/track: a day at most, by default the last hour. */
export const TrackQuery = Schema.Struct({
  ...unitQuery,
  from: Schema.optionalKey(instant),
  to: Schema.optionalKey(instant)
})
/**
 * The positions of a vehicle in a span, by measured time, and the hours that they are of. The digest that a record
 * holds of an hour is the SHA-256 of its salt (as text), a line feed and its columns as canonical JSON.
 */
export const VehicleTrack = Schema.Struct({
  vehicle_id: Schema.String,
  positions: Schema.Array(Schema.Struct({ at: instant, ...place })),
  hours: Schema.Array(
    Schema.Struct({
      bucket_id: Schema.String,
      from: instant,
      positions: Schema.Int,
      salt: Schema.String,
      /** Milliseconds of the hour and 10^-7 degrees, each as the difference from the one before. */
      columns: Schema.Struct({
        at: Schema.Array(Schema.Int),
        latitude: Schema.Array(Schema.Int),
        longitude: Schema.Array(Schema.Int)
      }),
      /** The digest that is on record; null until the hour is over. */
      digest: Schema.NullOr(Schema.String)
    })
  )
})
/** See {@link VehicleTrack}. */
export type VehicleTrack = typeof VehicleTrack.Type

const shape = {
  name: name(200),
  circle: optional(Schema.Struct({ ...place, radius_m: integer(1, 1_000_000) })),
  polygon: optional(list(Schema.Struct(place), 3, trackingBounds.corners))
}

/**
 * Body of POST /v1/fleet/geofences: a circle or a polygon. A vehicle has entered when it was inside for `dwell_s`, and
 * has left when it was `margin_m` outside as long: one that stands on the border raises one event.
 */
export const GeofenceCreate = Schema.Struct({
  ...shape,
  dwell_s: leftOut(integer(0, 3_600), 30),
  margin_m: leftOut(integer(0, 10_000), 50)
}).check(
  check(
    ({ circle, polygon }) => (circle == null) !== (polygon == null),
    { type: "value_error", msg: "A fence is a circle or a polygon, not both" },
    {}
  )
)
/** See {@link GeofenceCreate}. */
export type GeofenceCreate = typeof GeofenceCreate.Type

/** A fence. */
export const Geofence = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  circle: Schema.NullOr(Schema.Struct({ ...place, radius_m: Schema.Int })),
  polygon: Schema.NullOr(Schema.Array(Schema.Struct(place))),
  dwell_s: Schema.Int,
  margin_m: Schema.Int,
  created_at: instant
})
/** See {@link Geofence}. */
export type Geofence = typeof Geofence.Type
/** Query of GET /v1/fleet/geofences. */
export const GeofencesQuery = listQuery({})
/** Answer of GET /v1/fleet/geofences. */
export const GeofencesPage = listOf(Geofence)
