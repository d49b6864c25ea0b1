/** Refusals about vehicles that are tracked, and fences. */
import { Schema } from "effect"
import { reported } from "./members.ts"

/** No position of the vehicle is known, or it is of another org unit. Spec: api.md, Conventions. */
export class VehicleNotFound extends Schema.TaggedError<VehicleNotFound>()("VehicleNotFound", {
  vehicleId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): VehicleNotFound {
    return new VehicleNotFound({})
  }
  override get message(): string {
    return "No position of this vehicle is known in the caller's org unit."
  }
}

/** There is no such fence, or it is of another org unit. Spec: api.md, Conventions. */
export class GeofenceNotFound extends Schema.TaggedError<GeofenceNotFound>()("GeofenceNotFound", {
  geofenceId: reported(Schema.String)
}) {
  static readonly status = 404
  static get example(): GeofenceNotFound {
    return new GeofenceNotFound({})
  }
  override get message(): string {
    return "There is no such geofence in the caller's org unit."
  }
}
