/**
 * Monitors of models: inferences are counted as they come, and an alert begins or ends in the commit of what moved it.
 * Spec: document 2 sections 4 and 6; api.md "Document 2"; decision 0078.
 */
import {
  type Alert,
  AlertNotFound,
  detailItem,
  type Inference,
  type InferencesTaken,
  InvalidInput,
  type Monitor,
  type MonitorCreate,
  monitoringBounds,
  MonitorNotFound,
  PlanLimitReached
} from "@flyball/contract"
import {
  beside,
  commitAnswered,
  commitWithRetry,
  MONITORS,
  newId,
  sortable,
  unitOwner,
  type Writer
} from "@flyball/core"
import { type Document, isCountReached, type ReadFault, Storage } from "@flyball/core/storage"
import { parseInstant } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"
import {
  alertOut,
  ALERTS,
  INFERENCES,
  type MonitorDocument,
  monitorOut,
  putInferences,
  shownState,
  type Stored,
  storedAlert,
  storedMonitor
} from "./document.ts"
import { type Arrived, planCheck } from "./plan-check.ts"
import { planDelete } from "./plan-delete.ts"
import { planCreateMonitor, readMonitor } from "./plan-create.ts"

/** Operations on the monitors of one org unit. Spec: document 2 section 4. */
export interface MonitorsApi {
  /** Creates a monitor. `limit`: how many the plan of the caller allows; null: any. */
  readonly create: (
    unit: string,
    input: MonitorCreate,
    by: { readonly writer: Writer; readonly limit: number | null }
  ) => Effect.Effect<Monitor, InvalidInput | PlanLimitReached | ReadFault>
  readonly get: (unit: string, id: string) => Effect.Effect<Monitor, MonitorNotFound | ReadFault>
  /** Deletes a monitor. One that is deleted stays so. */
  readonly remove: (unit: string, id: string, writer: Writer) => Effect.Effect<Monitor, MonitorNotFound | ReadFault>
  /** Takes inferences, all or none: those of other times than about now are refused. */
  readonly log: (
    unit: string,
    inferences: ReadonlyArray<Inference>
  ) => Effect.Effect<InferencesTaken, InvalidInput | ReadFault>
  readonly alert: (unit: string, id: string) => Effect.Effect<Alert, AlertNotFound | ReadFault>
  /** Moves what time alone moves, and deletes inferences that were kept long enough. For the job. */
  readonly round: Effect.Effect<void, ReadFault>
}

/** Documents of one read of the job. */
const PAGE = 500

/** Service of monitors. Spec: document 2 sections 4 and 6; decision 0078. */
export class Monitors extends Context.Service<Monitors, MonitorsApi>()("flyball/platform/Monitors") {
  static readonly layer: Layer.Layer<Monitors, never, Storage> = Layer.effect(
    Monitors,
    Effect.gen(function* () {
      const storage = yield* Storage

      /** The lock of checks in an org unit, one after the other: each puts the counts of the one before. */
      const inTurn = (owner: string) => ({ collection: MONITORS, id: owner })

      const read = Effect.fnUntraced(function* (unit: string, id: string) {
        const document = yield* storage.get(MONITORS, id)
        const stored = document === null ? null : storedMonitor(document)
        return stored?.body.orgUnit === unit ? stored : yield* new MonitorNotFound({ monitorId: id })
      })

      const openAlert = Effect.fnUntraced(function* ({ body }: Stored<MonitorDocument>) {
        const id = body.state.alert?.id
        const document = id === undefined ? null : yield* storage.get(ALERTS, id)
        return document === null ? null : storedAlert(document)
      })

      const check = Effect.fnUntraced(function* (
        stored: Stored<MonitorDocument>,
        arrived: ReadonlyArray<Arrived>,
        nowMs: number
      ) {
        const [open, newAlertId] = [yield* openAlert(stored), yield* newId("alt")]
        return planCheck({ stored, open, newAlertId, nowMs }, arrived)
      })

      const create: MonitorsApi["create"] = Effect.fnUntraced(function* (unit, input, { limit, writer }) {
        const monitor = yield* Effect.fromResult(readMonitor(input))
        const id = yield* newId("mon")
        return yield* commitWithRetry(
          storage,
          Effect.gen(function* () {
            const { ms: nowMs } = yield* storage.asOf
            const { body, change } = planCreateMonitor(id, monitor, { orgUnit: unit, nowMs, writer: writer.id, limit })
            return yield* commitAnswered(storage.commit(change), monitorOut({ id, version: 1, body }))
          }).pipe(
            Effect.catchIf(isCountReached, () =>
              Effect.fail(new PlanLimitReached({ resource: "monitors", limit: limit! }))
            )
          )
        )
      })

      const remove: MonitorsApi["remove"] = (unit, id, writer) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const stored = yield* read(unit, id)
            if (stored.body.status === "deleted") return monitorOut(stored)
            const { ms: nowMs } = yield* storage.asOf
            const { body, change } = planDelete(stored, yield* openAlert(stored), nowMs, writer.id)
            yield* storage.commit(change)
            return monitorOut({ ...stored, body })
          }),
          inTurn(unitOwner(unit))
        )

      const log: MonitorsApi["log"] = Effect.fnUntraced(function* (unit, inferences) {
        const owner = unitOwner(unit)
        const rowsOf = Map.groupBy(inferences, ({ model_id: modelId }) => modelId)
        const monitorsOf = (modelId: string) => storage.find(MONITORS, "model", `${owner} ${modelId}`)
        const attempt = Effect.gen(function* () {
          const { ms: nowMs } = yield* storage.asOf
          const wrong = inferences.findIndex(({ at }) => !isTimely(parseInstant(at)!, nowMs))
          if (wrong >= 0) return yield* untimely(wrong, inferences[wrong]!.at)
          const puts = []
          const moves = []
          for (const [modelId, rows] of rowsOf) {
            puts.push(putInferences(yield* newId("inf"), owner, modelId, rows, nowMs))
            const arrived = rows.map((inference) => ({ inference, atMs: parseInstant(inference.at)! }))
            for (const document of yield* monitorsOf(modelId))
              moves.push({ id: document.id, checked: yield* check(storedMonitor(document), arrived, nowMs) })
          }
          const all = moves.map(({ checked }) => checked.change)
          const change = {
            puts: [...puts, ...all.flatMap((one) => one.puts)],
            records: all.flatMap((one) => one.records),
            events: all.flatMap((one) => one.events)
          }
          const taken: InferencesTaken = {
            accepted: inferences.length,
            monitors: moves.map(({ checked, id }) => ({ id, state: shownState(checked.body) }))
          }
          return yield* commitAnswered(storage.commit(change), taken)
        })
        // What nobody watches waits for nobody.
        for (const modelId of rowsOf.keys())
          if ((yield* monitorsOf(modelId)).length > 0) return yield* commitWithRetry(storage, attempt, inTurn(owner))
        return yield* commitWithRetry(storage, attempt)
      })

      /** Checks a monitor that is due; nothing where somebody else did, or it was deleted. */
      const checkAgain = (id: string, owner: string) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const document = yield* storage.get(MONITORS, id)
            const stored = document === null ? null : storedMonitor(document)
            const { ms: nowMs } = yield* storage.asOf
            if (stored === null || stored.body.dueMs === null || stored.body.dueMs > nowMs) return
            if (stored.body.status === "deleted" || stored.body.isErased) return
            const { change } = yield* check(stored, [], nowMs)
            yield* storage.commit(change)
          }),
          inTurn(owner)
        )

      /** Works on pages until one is not full. */
      const inPages = (
        page: Effect.Effect<ReadonlyArray<Document>, ReadFault>,
        work: (found: ReadonlyArray<Document>) => Effect.Effect<unknown, ReadFault>
      ): Effect.Effect<void, ReadFault> =>
        Effect.flatMap(page, (found) =>
          Effect.andThen(
            found.length === 0 ? Effect.void : work(found),
            found.length < PAGE ? Effect.void : Effect.suspend(() => inPages(page, work))
          )
        )

      const round: MonitorsApi["round"] = Effect.gen(function* () {
        const { ms: nowMs } = yield* storage.asOf
        const due = storage.range(MONITORS, "due", { before: sortable(nowMs + 1), limit: PAGE })
        yield* inPages(due, (found) =>
          Effect.forEach(found, ({ body, id }) => checkAgain(id, String(body["owner"])), { discard: true })
        )
        const before = sortable(Math.max(0, nowMs - monitoringBounds.keptMs))
        const old = storage.range(INFERENCES, "received", { before, limit: PAGE })
        yield* inPages(old, (found) =>
          // Another process deletes the same: what it left is there in the next round.
          Effect.catchTag(
            storage.commit({ deletes: found.map(({ collection, id, version }) => ({ collection, id, version })) }),
            "StorageConflict",
            () => Effect.void
          )
        )
      })

      return Monitors.of({
        create,
        get: (unit, id) => Effect.map(read(unit, id), monitorOut),
        remove,
        log,
        alert: Effect.fnUntraced(function* (unit, id) {
          const document = yield* storage.get(ALERTS, id)
          const stored = document === null ? null : storedAlert(document)
          return stored?.body.orgUnit === unit ? alertOut(stored) : yield* new AlertNotFound({ alertId: id })
        }),
        round: beside(round)
      })
    })
  )
}

const isTimely = (atMs: number, nowMs: number): boolean =>
  atMs >= nowMs - monitoringBounds.pastMs && atMs <= nowMs + monitoringBounds.futureMs

const untimely = (row: number, at: string) =>
  new InvalidInput({
    detail: [
      detailItem(
        ["body", "inferences", String(row), "at"],
        "value_error",
        "Time should be at most a day before the server's, and five minutes behind it",
        at
      )
    ]
  })
