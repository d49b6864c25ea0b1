/** The endpoints of positions and fences. Spec: document 2 section 8, "fleet"; api.md "Document 2". */
import { Result, Schema } from "effect"
import { decode } from "../../foundation/decode.ts"
import { unitQuery } from "../../platform/list.ts"
import {
  FleetPositions,
  Geofence,
  GeofenceCreate,
  GeofencesPage,
  GeofencesQuery,
  PositionsTaken,
  TrackedVehicle,
  TrackQuery,
  vehicleId,
  VehiclesPage,
  VehiclesQuery,
  VehicleTrack
} from "../../platform/tracking.ts"
import { GeofenceNotFound, VehicleNotFound } from "../../refusals.ts"
import { access, platformAccess } from "../access.ts"
import { endpoint, idParam, json, jsonBody, type Param, queryOf } from "../endpoint.ts"

const write = platformAccess("fleet:write", access.operate.roles)
const read = platformAccess("fleet:read")
const platform = { module: "tracking" }
const query = queryOf(Schema.Struct(unitQuery))

const decodeVehicle = decode(vehicleId)
/** The caller's own name of a vehicle. One that cannot be one names none. */
const vehicle: Param<string> = {
  schema: vehicleId,
  plain: "string",
  decode: (text, name) => Result.mapError(decodeVehicle(text, "path", [name]), () => new VehicleNotFound({})),
  example: "van-7"
}
const ofVehicle = { vehicle_id: vehicle } as const
const ofFence = { geofence_id: idParam("geofence", () => new GeofenceNotFound({})) } as const

/** Endpoints of positions and fences. Spec: document 2 section 8, "fleet". */
export const tracking = {
  track: endpoint({
    id: "fleet.track_fleet",
    method: "POST",
    path: "/v1/fleet/positions",
    summary: "Takes 1 to 1,000 positions of vehicles. Each position counts.",
    access: write,
    platform: {
      ...platform,
      operation: "fleet.track_fleet",
      cost: ({ positions }: { readonly positions: ReadonlyArray<unknown> }) => positions.length
    },
    query,
    body: jsonBody(FleetPositions),
    success: json(200, PositionsTaken)
  }),
  vehicles: endpoint({
    id: "fleet.vehicles",
    method: "GET",
    path: "/v1/fleet/vehicles",
    summary: "Lists vehicles with their latest positions.",
    access: read,
    platform,
    query: queryOf(VehiclesQuery),
    success: json(200, VehiclesPage)
  }),
  vehicle: endpoint({
    id: "fleet.vehicle",
    method: "GET",
    path: "/v1/fleet/vehicles/{vehicle_id}",
    summary: "Returns the latest position of a vehicle.",
    access: read,
    platform,
    params: ofVehicle,
    query,
    success: json(200, TrackedVehicle),
    refusals: ["VehicleNotFound"]
  }),
  history: endpoint({
    id: "fleet.vehicle_track",
    method: "GET",
    path: "/v1/fleet/vehicles/{vehicle_id}/track",
    summary: "Returns the positions of a vehicle between two times, by default of the last hour.",
    access: read,
    platform,
    params: ofVehicle,
    query: queryOf(TrackQuery),
    success: json(200, VehicleTrack),
    refusals: ["VehicleNotFound"]
  }),
  erase: endpoint({
    id: "fleet.erase_vehicle",
    method: "DELETE",
    path: "/v1/fleet/vehicles/{vehicle_id}",
    summary: "Erases a vehicle and its positions. Digests on record stay, and say nothing without their salts.",
    access: write,
    platform,
    params: ofVehicle,
    query,
    success: json(200, TrackedVehicle),
    refusals: ["VehicleNotFound"]
  }),
  createFence: endpoint({
    id: "fleet.create_geofence",
    method: "POST",
    path: "/v1/fleet/geofences",
    summary: "Creates a fence: a circle, or a polygon of up to 200 corners.",
    access: write,
    platform,
    query,
    body: jsonBody(GeofenceCreate),
    success: json(201, Geofence),
    refusals: ["PlanLimitReached"]
  }),
  fences: endpoint({
    id: "fleet.geofences",
    method: "GET",
    path: "/v1/fleet/geofences",
    summary: "Lists fences, the newest first.",
    access: read,
    platform,
    query: queryOf(GeofencesQuery),
    success: json(200, GeofencesPage)
  }),
  deleteFence: endpoint({
    id: "fleet.delete_geofence",
    method: "DELETE",
    path: "/v1/fleet/geofences/{geofence_id}",
    summary: "Deletes a fence.",
    access: write,
    platform,
    params: ofFence,
    query,
    success: json(200, Geofence),
    refusals: ["GeofenceNotFound"]
  })
} as const
