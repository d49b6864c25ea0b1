/**
 * Positions of vehicles: the latest one, a document a vehicle and hour, and events of fences, in one commit. The digest
 * of an hour is recorded when it is over; positions never are. Spec: document 2 section 8; decision 0082.
 */
import {
  detailItem,
  type FleetPosition,
  type Geofence,
  type GeofenceCreate,
  GeofenceNotFound,
  InvalidInput,
  PlanLimitReached,
  type PositionsTaken,
  type TrackedVehicle,
  trackingBounds,
  VehicleNotFound,
  type VehicleTrack
} from "@flyball/contract"
import {
  beside,
  commitAnswered,
  commitWithRetry,
  Entropy,
  EvidenceCrypto,
  newId,
  ROUTE_COURSES,
  sortable,
  unitOwner
} from "@flyball/core"
import { type Document, type ReadFault, Storage } from "@flyball/core/storage"
import { formatInstant, parseInstant, toHex } from "@flyball/evidence"
import { TRACKING_WRITER } from "@flyball/rules"
import { Context, Effect, Layer } from "effect"
import type { CoursesDocument } from "./courses.ts"
import {
  digested,
  E7,
  type FenceDocument,
  fenceOut,
  FENCES,
  fixesOf,
  HOUR_MS,
  putFence,
  putTrack,
  shownFixes,
  type Stored,
  storedAs,
  type TrackDocument,
  trackKey,
  TRACKS,
  type VehicleDocument,
  vehicleKey,
  vehicleOut,
  VEHICLES
} from "./document.ts"
import { hourOf, type KnownVehicle, planTakePositions } from "./plan-take-positions.ts"

/** Operations on the vehicles of one org unit. Spec: document 2 section 8. */
export interface TrackingApi {
  /** Takes positions, all or none: those of other times than about now are refused. */
  readonly track: (
    unit: string,
    positions: ReadonlyArray<FleetPosition>
  ) => Effect.Effect<PositionsTaken, InvalidInput | ReadFault>
  readonly vehicle: (unit: string, vehicleId: string) => Effect.Effect<TrackedVehicle, VehicleNotFound | ReadFault>
  /** The positions of a span, by default of the hour before `to`, and `to` by default now. */
  readonly history: (
    unit: string,
    vehicleId: string,
    span: { readonly from?: string; readonly to?: string }
  ) => Effect.Effect<VehicleTrack, InvalidInput | VehicleNotFound | ReadFault>
  readonly erase: (unit: string, vehicleId: string) => Effect.Effect<TrackedVehicle, VehicleNotFound | ReadFault>
  readonly createFence: (unit: string, input: GeofenceCreate) => Effect.Effect<Geofence, PlanLimitReached | ReadFault>
  readonly deleteFence: (unit: string, id: string) => Effect.Effect<Geofence, GeofenceNotFound | ReadFault>
  /** Records the digests of hours that are over, and deletes positions that were kept long enough. For the job. */
  readonly round: Effect.Effect<void, ReadFault>
}

/** Documents of one read. */
const PAGE = 500

/** Service of positions and fences. Spec: document 2 section 8; decision 0082. */
export class Tracking extends Context.Service<Tracking, TrackingApi>()("flyball/platform/Tracking") {
  static readonly layer: Layer.Layer<Tracking, never, Storage> = Layer.effect(
    Tracking,
    Effect.gen(function* () {
      const storage = yield* Storage
      const entropy = yield* Entropy
      const { sha256 } = yield* EvidenceCrypto

      const only = <A>(documents: ReadonlyArray<Document>): Stored<A> | null =>
        documents[0] === undefined ? null : storedAs<A>(documents[0])
      const vehicleOf = (owner: string, vehicleId: string) =>
        Effect.map(storage.find(VEHICLES, "name", vehicleKey(owner, vehicleId)), only<VehicleDocument>)
      const fencesOf = (owner: string) =>
        Effect.map(storage.find(FENCES, "owner", owner), (found) => found.map(storedAs<FenceDocument>))

      const known = Effect.fnUntraced(function* (
        owner: string,
        vehicleId: string,
        came: KnownVehicle["came"]
      ): Effect.fn.Return<KnownVehicle, ReadFault> {
        const stored = yield* vehicleOf(owner, vehicleId)
        const id = stored?.id ?? (yield* newId("vcl"))
        const hours = new Map<number, Stored<TrackDocument>>()
        for (const fromMs of new Set(came.map(({ atMs }) => hourOf(atMs)))) {
          const found = only<TrackDocument>(yield* storage.find(TRACKS, "hour", trackKey(id, fromMs)))
          const columns = { at: [], latitude: [], longitude: [] }
          const salt = toHex(entropy.bytes(16))
          const body: TrackDocument = { vehicle: id, fromMs, salt, columns, recorded: null, dueMs: null }
          hours.set(fromMs, found ?? { id: yield* newId("bkt"), version: 0, body })
        }
        return { id, version: stored?.version ?? 0, body: stored?.body ?? null, hours, came }
      })

      const track: TrackingApi["track"] = (unit, positions) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const { ms: nowMs } = yield* storage.asOf
            const fixes = positions.map(({ at, latitude, longitude }) => ({
              atMs: parseInstant(at)!,
              latitude: Math.round(latitude * E7),
              longitude: Math.round(longitude * E7)
            }))
            const wrong = fixes.findIndex(({ atMs }) => !isTimely(atMs, nowMs))
            if (wrong >= 0) return yield* refused(wrong, "at", UNTIMELY, positions[wrong]!.at)
            const owner = unitOwner(unit)
            const rows = Map.groupBy(positions.keys(), (at) => positions[at]!.vehicle_id)
            const vehicles = yield* Effect.forEach(
              rows,
              ([vehicleId, places]) =>
                Effect.map(
                  known(
                    owner,
                    vehicleId,
                    [...places].map((at) => fixes[at]!)
                  ),
                  (one) => [vehicleId, one] as const
                ),
              { concurrency: 16 }
            )
            const fences = yield* fencesOf(owner)
            const courses = (yield* storage.find(ROUTE_COURSES, "owner", owner)).map(storedAs<CoursesDocument>)
            const planned = planTakePositions(new Map(vehicles), { owner, orgUnit: unit, nowMs, fences, courses })
            if ("full" in planned) return yield* refused(rows.get(planned.full)![0]!, "vehicle_id", FULL, planned.full)
            return yield* commitAnswered(storage.commit(planned.change), planned.taken)
          }),
          { collection: VEHICLES, id: unitOwner(unit) }
        )

      const vehicle = Effect.fnUntraced(function* (unit: string, vehicleId: string) {
        return (yield* vehicleOf(unitOwner(unit), vehicleId)) ?? (yield* new VehicleNotFound({ vehicleId }))
      })

      const history: TrackingApi["history"] = Effect.fnUntraced(function* (unit, vehicleId, { from, to }) {
        const { id } = yield* vehicle(unit, vehicleId)
        const { ms: nowMs } = yield* storage.asOf
        const toMs = to === undefined ? nowMs : parseInstant(to)!
        const fromMs = from === undefined ? toMs - HOUR_MS : parseInstant(from)!
        if (fromMs > toMs || toMs - fromMs > trackingBounds.trackMs)
          return yield* new InvalidInput({ detail: [detailItem(["query", "from"], "value_error", SPAN, from ?? null)] })
        const tracks: Array<Stored<TrackDocument>> = []
        for (let hour = hourOf(fromMs); hour <= toMs; hour += HOUR_MS) {
          const found = only<TrackDocument>(yield* storage.find(TRACKS, "hour", trackKey(id, hour)))
          if (found !== null) tracks.push(found)
        }
        return {
          vehicle_id: vehicleId,
          positions: tracks.flatMap(({ body }) =>
            shownFixes(fixesOf(body.fromMs, body.columns).filter(({ atMs }) => atMs >= fromMs && atMs <= toMs))
          ),
          hours: tracks.map(({ body, id: bucketId }) => ({
            bucket_id: bucketId,
            from: formatInstant(body.fromMs),
            positions: body.columns.at.length,
            salt: body.salt,
            columns: body.columns,
            digest: body.dueMs === null ? (body.recorded?.digest ?? null) : null
          }))
        }
      })

      const deleteAll = (documents: ReadonlyArray<Document>) =>
        storage.commit({ deletes: documents.map(({ collection, id, version }) => ({ collection, id, version })) })

      const erase: TrackingApi["erase"] = (unit, vehicleId) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const stored = yield* vehicle(unit, vehicleId)
            const { ms: nowMs } = yield* storage.asOf
            // All hours that can be there: those that are kept, and those that have begun.
            const hours = []
            for (let hour = hourOf(nowMs - trackingBounds.keptMs); hour <= nowMs + HOUR_MS; hour += HOUR_MS)
              hours.push(hour)
            const tracks = yield* Effect.forEach(
              hours,
              (hour) => storage.find(TRACKS, "hour", trackKey(stored.id, hour)),
              { concurrency: 16 }
            )
            yield* deleteAll([...tracks.flat(), { ...(yield* storage.get(VEHICLES, stored.id))! }])
            return vehicleOut(stored.body)
          }),
          { collection: VEHICLES, id: unitOwner(unit) }
        )

      const createFence: TrackingApi["createFence"] = Effect.fnUntraced(function* (unit, input) {
        const id = yield* newId("gfc")
        return yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const owner = unitOwner(unit)
            if ((yield* fencesOf(owner)).length >= trackingBounds.fences)
              return yield* new PlanLimitReached({ resource: "geofences", limit: trackingBounds.fences })
            const { ms: createdAtMs } = yield* storage.asOf
            const { circle = null, dwell_s: dwellS = 30, margin_m: marginM = 50, name, polygon = null } = input
            const body = { owner, orgUnit: unit, name, circle, polygon, dwellMs: dwellS * 1_000, marginM, createdAtMs }
            const fence = { id, version: 0, body }
            return yield* commitAnswered(storage.commit({ puts: [putFence(fence)] }), fenceOut(fence))
          }),
          { collection: FENCES, id: unitOwner(unit) }
        )
      })

      const deleteFence: TrackingApi["deleteFence"] = (unit, id) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const document = yield* storage.get(FENCES, id)
            const stored = document === null ? null : storedAs<FenceDocument>(document)
            if (stored === null || stored.body.orgUnit !== unit) return yield* new GeofenceNotFound({ geofenceId: id })
            yield* deleteAll([document!])
            return fenceOut(stored)
          })
        )

      /** Records the digests of some hours, unless somebody changed them meanwhile: then the next round does. */
      const record = (due: ReadonlyArray<Document>) => {
        const tracks = due.map(storedAs<TrackDocument>).map(({ body, id, version }) => {
          const revision = (body.recorded?.revision ?? 0) + 1
          const recorded = { digest: toHex(sha256(digested(body))), revision }
          return { id, version, body: { ...body, recorded, dueMs: null } }
        })
        const records = tracks.map(({ body: { columns, fromMs, recorded }, id }) => ({
          kind: "positions.recorded",
          agentId: null,
          parts: [],
          body: {
            bucket_id: id,
            digest: recorded.digest,
            from_ms: fromMs,
            positions: columns.at.length,
            revision: recorded.revision,
            writer: TRACKING_WRITER
          }
        }))
        return storage.commit({ puts: tracks.map(putTrack), records })
      }

      const round: TrackingApi["round"] = Effect.gen(function* () {
        const { ms: nowMs } = yield* storage.asOf
        const due = yield* storage.range(TRACKS, "due", { before: sortable(nowMs + 1), limit: PAGE })
        if (due.length > 0) yield* record(due)
        const before = sortable(Math.max(0, nowMs - trackingBounds.keptMs))
        const old = yield* storage.range(TRACKS, "from", { before, limit: PAGE })
        if (old.length > 0) yield* deleteAll(old)
        const overMs = Math.max(0, nowMs - trackingBounds.pastMs)
        const over = yield* storage.range(ROUTE_COURSES, "until", { before: sortable(overMs), limit: PAGE })
        if (over.length > 0) yield* deleteAll(over)
        if ([due, old, over].some(({ length }) => length === PAGE)) yield* Effect.suspend(() => round)
      }).pipe(Effect.catchTag("StorageConflict", () => Effect.void))

      return Tracking.of({
        track,
        vehicle: (unit, vehicleId) => Effect.map(vehicle(unit, vehicleId), ({ body }) => vehicleOut(body)),
        history,
        erase,
        createFence,
        deleteFence,
        round: beside(round)
      })
    })
  )
}

const UNTIMELY = "Time should be at most a day before the server's, and five minutes behind it"
const FULL = `A vehicle has at most ${trackingBounds.anHour.toLocaleString("en-US")} positions an hour`
const SPAN = "Input should be before `to`, by a day at most"

const isTimely = (atMs: number, nowMs: number): boolean =>
  atMs >= nowMs - trackingBounds.pastMs && atMs <= nowMs + trackingBounds.futureMs

const refused = (row: number, member: string, text: string, input: string) =>
  new InvalidInput({ detail: [detailItem(["body", "positions", String(row), member], "value_error", text, input)] })
