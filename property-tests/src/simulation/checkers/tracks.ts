/**
 * Positions: each that was taken is in the track of its vehicle once, the digests on record are of these tracks, and
 * events of fences come one after the other and say where the vehicle is.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { formatInstant } from "@flyball/evidence"
import {
  E7,
  FENCES,
  fixesOf,
  type TrackDocument,
  TRACKS,
  type VehicleDocument,
  VEHICLES
} from "../../../../packages/platform/src/tracking/document.ts"
import { type Checker, recordsBy } from "./checked.ts"

/** More than any run keeps. */
const limit = 1_000
const types = ["fleet.geofence_entered", "fleet.geofence_left"]

/** See the file's first line. */
export const tracksChecker: Checker = ({ ledger, ports: { storage }, records }) =>
  Effect.gen(function* () {
    const problems: Array<string> = []
    const vehicles = (yield* storage.list(VEHICLES, { limit })).map(({ body, id }) => ({
      id,
      ...(body as unknown as VehicleDocument)
    }))
    const tracks = (yield* storage.list(TRACKS, { limit })).map(({ body, id }) => ({
      id,
      ...(body as unknown as TrackDocument)
    }))
    const recorded = recordsBy(records, "positions.recorded", ({ body }) => String(body["bucket_id"]))
    const kept = new Set<string>()
    for (const { columns, dueMs, fromMs, id, salt, vehicle } of tracks) {
      const name = vehicles.find((one) => one.id === vehicle)?.vehicleId
      for (const { atMs, latitude } of fixesOf(fromMs, columns)) {
        const key = `${name} ${formatInstant(atMs)}`
        if (kept.has(key)) problems.push(`${key} is kept twice`)
        kept.add(key)
        if (ledger.positions.get(key)?.latitudes.has(latitude / E7) !== true) problems.push(`nobody sent ${key}`)
      }
      const own = recorded.get(id) ?? []
      const digest = createHash("sha256")
        .update(`${salt}\n${JSON.stringify(columns)}`)
        .digest("hex")
      const last = own.at(-1)?.body
      if (dueMs !== null || last?.["digest"] !== digest || last["positions"] !== columns.at.length)
        problems.push(`the digest of ${id} is not of its ${columns.at.length} positions`)
      if (own.some(({ body }, at) => body["revision"] !== at + 1)) problems.push(`revisions of ${id} have a gap`)
    }
    for (const [key, { acknowledged }] of ledger.positions)
      if (acknowledged > 0 && !kept.has(key)) problems.push(`${key} was acknowledged, and is gone`)
    const fences = new Set((yield* storage.list(FENCES, { limit })).map(({ id }) => id))
    for (const { acknowledged, id } of ledger.fences.values())
      if (acknowledged > 0 && !fences.has(id)) problems.push(`the fence ${id} was acknowledged, and is gone`)
    const events = (yield* storage.outbox.events({ types, limit })).map(
      ({ data, type }) => ({ type, ...data }) as Moved
    )
    for (const { fences: inside, latest, vehicleId } of vehicles) {
      const times = [...kept].flatMap((key) => (key.startsWith(`${vehicleId} `) ? [key.split(" ")[1]!] : []))
      if (formatInstant(latest.atMs) !== times.sort().at(-1)) problems.push(`${vehicleId} is not at its last position`)
      for (const fence of fences) {
        const own = events.filter(({ geofence_id: of, vehicle_id: by }) => of === fence && by === vehicleId)
        own.sort((one, other) => (one.at < other.at ? -1 : 1))
        const course = own.map(({ type }) => type.slice("fleet.geofence_".length)).join(" ")
        if (!/^(entered left ?)*(entered)?$/.test(course) || new Set(own.map(({ at }) => at)).size !== own.length)
          problems.push(`${vehicleId} has ${course} of ${fence}`)
        if (course.endsWith("entered") !== (inside[fence]?.isInside === true))
          problems.push(`${vehicleId} has ${course} of ${fence}, and its state says otherwise`)
      }
    }
    return problems.map((problem) => `tracks: ${problem}`)
  })

interface Moved {
  readonly type: string
  readonly geofence_id: string
  readonly vehicle_id: string
  readonly at: string
}
