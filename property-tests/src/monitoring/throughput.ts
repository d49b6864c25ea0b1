/** Inferences a second that one process takes, read from JSON and stored, over SQLite. */
import { InferencesIn } from "@flyball/contract"
import { jsonBody } from "@flyball/contract/http"
import { ephemeralKeys, governorLayer, type GovernorServices, keysLayerOf, layerOf } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect, Layer, ManagedRuntime, Result } from "effect"
import { platform } from "../../../packages/platform/src/index.ts"
import { Monitors } from "../../../packages/platform/src/monitoring/service.ts"

const BATCH = 1_000
const BATCHES = 100
const writer = { id: `usr_${"0".repeat(25)}1` }

/** Takes 100 calls of 1,000 inferences, two at a time, that 5 monitors watch; answers inferences a second. */
export const inferencesPerSecond = async (file: string): Promise<number> => {
  const layer = governorLayer({ origin: "flyball.example/rate", capabilities: [platform()] }).pipe(
    Layer.provideMerge(layerOf(sqliteStorage({ file }))),
    Layer.provide(keysLayerOf(ephemeralKeys()))
  ) as Layer.Layer<GovernorServices | Storage | Monitors, unknown>
  const runtime = ManagedRuntime.make(layer)
  const body = jsonBody(InferencesIn)
  const textAt = (nowMs: number): string => {
    const at = new Date(nowMs).toISOString()
    const inferences = Array.from({ length: BATCH }, (_, row) => ({
      model_id: "m",
      inference_id: `i-${row}`,
      at,
      prediction: row % 3 === 0 ? "no" : "yes",
      score: row / BATCH,
      latency_ms: 20 + (row % 50),
      features: { age: 20 + (row % 60), country: row % 2 === 0 ? "IN" : "DE" }
    }))
    return JSON.stringify({ inferences })
  }
  try {
    return await runtime.runPromise(
      Effect.gen(function* () {
        const monitors = yield* Monitors
        const shared = { name: "n", model_id: "m", comparator: "above", threshold: 1_000_000 } as const
        for (const metric of ["error_rate", "latency_p95", "score_mean", "volume", "label_accuracy"] as const)
          yield* monitors.create("ops", { ...shared, metric }, { writer, limit: null })
        const text = textAt((yield* Storage.use((storage) => storage.asOf)).ms)
        const one = Effect.suspend(() => {
          const read = body.decode(JSON.parse(text))
          return monitors.log("ops", Result.getOrThrow(read).inferences)
        })
        const many = (count: number) =>
          Effect.forEach(Array.from({ length: count }), () => one, { concurrency: 2, discard: true })
        yield* many(10)
        const startedAt = performance.now()
        yield* many(BATCHES)
        return (BATCH * BATCHES) / ((performance.now() - startedAt) / 1_000)
      })
    )
  } finally {
    await runtime.dispose()
  }
}
