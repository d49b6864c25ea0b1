/** Positions of vehicles: fences over ten thousand of them, and an hour's rate on SQLite. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ephemeralKeys, governorLayer, type GovernorServices, keysLayerOf } from "@flyball/core"
import { layerOf, type Storage } from "@flyball/core/storage"
import { platform } from "@flyball/platform"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect, Layer, ManagedRuntime } from "effect"
import { boxed, type FenceState, isBeyond, outside, stepFence } from "../packages/platform/src/tracking/fences.ts"
import { Tracking } from "../packages/platform/src/tracking/service.ts"
import { absolute, type Benchmark, median } from "./harness.ts"

const FENCES = 200
const POSITIONS = 10_000
const VEHICLES = 1_000

const corners = (n: number) =>
  Array.from({ length: 12 }, (_, corner) => ({
    latitude: 52 + (n % 14) * 0.05 + 0.02 * Math.sin(corner / 1.91),
    longitude: 13 + Math.floor(n / 14) * 0.05 + 0.02 * Math.cos(corner / 1.91)
  }))
const polygons = Array.from({ length: FENCES }, (_, n) => corners(n))
/** A place of a grid that fences cover in part. */
const place = (n: number) => ({
  latitude: 52 + ((n * 7_919) % 7_001) / 1e4,
  longitude: 13 + ((n * 104_729) % 7_001) / 1e4
})

const processorMs = (work: () => void): number => {
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user / 1_000
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "tracking",
  about:
    `processor time of ${FENCES} polygons of 12 corners over ${POSITIONS} positions; and of ten calls of 1,000 ` +
    `positions of ${VEHICLES} vehicles through the service on SQLite, as a share of a minute of one core`,
  run: async () => {
    const fences = polygons.map((polygon) => boxed({ circle: null, polygon, dwellMs: 0, marginM: 50 }))
    const fixes = Array.from({ length: POSITIONS }, (_, n) => ({ ...place(n), atMs: n }))
    const times = Array.from({ length: 9 }, () =>
      processorMs(() => {
        for (const fence of fences) {
          let state: FenceState = outside
          for (const at of fixes)
            if (state !== outside || !isBeyond(fence.box, at)) state = stepFence(state, fence, at).state
        }
      })
    )
    const fencesMs = median(times)
    const share = (100 * (await minuteMs())) / 60_000
    return [
      { name: "tracking.fences", value: round(fencesMs), unit: "ms", ...absolute, goal: "< 20", met: fencesMs < 20 },
      { name: "tracking.minute", value: round(share), unit: "% of a core", ...absolute, goal: "< 5", met: share < 5 }
    ]
  }
}

const round = (value: number): number => Math.round(value * 100) / 100

/** Processor time of the whole process for the positions of a minute, threads included. */
const minuteMs = async (): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
  const runtime = ManagedRuntime.make(
    governorLayer({ origin: "flyball.example/bench", capabilities: [platform()] }).pipe(
      Layer.provideMerge(layerOf(sqliteStorage({ file: join(folder, "store.db") }))),
      Layer.provide(keysLayerOf(ephemeralKeys()))
    ) as Layer.Layer<GovernorServices | Storage | Tracking, unknown>
  )
  try {
    return await runtime.runPromise(
      Effect.gen(function* () {
        const tracking = yield* Tracking
        for (const polygon of polygons) yield* tracking.createFence("ops", { name: "f", polygon })
        const began = Date.now() - 3_000_000
        const minute = (from: number) =>
          Effect.forEach(Array.from({ length: POSITIONS / VEHICLES }), (_, call) =>
            tracking.track(
              "ops",
              Array.from({ length: VEHICLES }, (__, vehicle) => ({
                vehicle_id: `v${vehicle}`,
                at: new Date(began + (from + call) * 6_000).toISOString(),
                ...place(vehicle + from + call)
              }))
            )
          )
        // Half an hour lies in the columns before.
        for (let from = 0; from < 300; from += 10) yield* minute(from)
        const before = process.cpuUsage()
        yield* minute(300)
        const { system, user } = process.cpuUsage(before)
        return (system + user) / 1_000
      })
    )
  } finally {
    await runtime.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
}
