/** Monitors on every store: calls that come at once lose no count, one alert has one id, and replay agrees. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  memoryStorage,
  type StorageChoice
} from "@flyball/core"
import { layerOf, Storage } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { recorded } from "../../../packages/core/src/testing/recorded.ts"
import { findingsWith } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { platform } from "../../../packages/platform/src/index.ts"
import { Monitors } from "../../../packages/platform/src/monitoring/service.ts"
import { ALPHA, nullStreams } from "./null-streams.ts"

const database = givenDatabase({ beforeAll, afterAll })
const folder = mkdtempSync(join(tmpdir(), "flyball-monitors-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const stores: ReadonlyArray<readonly [string, () => StorageChoice]> = [
  ["memory", memoryStorage],
  ["sqlite", () => sqliteStorage({ file: join(folder, "store.db") })],
  ["postgres", () => postgresStorage({ url: database.url })]
]

it.each(stores)("counts every call of many at once, on %s", async (_, open) => {
  const layer = governorLayer({ origin: "flyball.example/stores", capabilities: [platform()] }).pipe(
    Layer.provideMerge(layerOf(open())),
    Layer.provide(keysLayerOf(ephemeralKeys()))
  ) as Layer.Layer<GovernorServices | Storage | Monitors, unknown>
  const runtime = ManagedRuntime.make(layer)
  const program = Effect.gen(function* () {
    const [monitors, storage] = [yield* Monitors, yield* Storage]
    const rule = { model_id: "m", comparator: "above", threshold: 0.2, clear_s: 0, window_s: 3_600 } as const
    const by = { writer: { id: `usr_${"0".repeat(25)}1` }, limit: 2 }
    const { id } = yield* monitors.create("ops", { name: "n", metric: "error_rate", ...rule }, by)
    yield* monitors.create("ops", { name: "p", metric: "latency_p95", ...rule, threshold: 50 }, by)
    const call = (error: boolean) =>
      Effect.flatMap(storage.asOf, ({ ms }) =>
        monitors.log(
          "ops",
          Array.from({ length: 50 }, (__, at) => ({
            model_id: "m",
            inference_id: `i${at}`,
            at: new Date(ms).toISOString(),
            prediction: null,
            latency_ms: error ? 90 : 10,
            error
          }))
        )
      )
    yield* Effect.forEach(Array.from({ length: 8 }), () => call(true), { concurrency: 8, discard: true })
    const triggered = yield* monitors.get("ops", id)
    assert.deepInclude(triggered, { state: "triggered", samples: 400, value_now: 1 })
    yield* Effect.forEach(Array.from({ length: 40 }), () => call(false), { concurrency: 8, discard: true })
    const ended = yield* monitors.get("ops", id)
    assert.deepInclude(ended, { state: "ok", samples: 2_400, alert_id: null })
    assert.strictEqual((yield* monitors.alert("ops", triggered.alert_id!)).status, "resolved")
    assert.strictEqual((yield* storage.list("inferences")).length, 48)
    const alerts = (yield* recorded).filter(({ kind }) => kind.startsWith("alert."))
    assert.deepStrictEqual(alerts.map(({ kind }) => kind).sort(), [
      "alert.resolved",
      "alert.triggered",
      "alert.triggered"
    ])
    assert.deepStrictEqual(yield* findingsWith((record) => record), [])
  })
  await runtime.runPromise(program)
  await runtime.dispose()
})

it("alerts falsely on at most the stated share of streams, in mode anytime", () => {
  const { anytime, found, streams, threshold } = nullStreams(20, "small round 2026")
  assert.isAtMost(anytime / streams, 3 * ALPHA)
  assert.deepStrictEqual([found, threshold], [streams, streams])
})
