/** Inferences a second that one process takes at its route, over SQLite. */
import { ephemeralKeys, openGovernor } from "@flyball/core"
import { openHttp } from "@flyball/http"
import { sqliteStorage } from "@flyball/storage-sql"
import { platform } from "../../../packages/platform/src/index.ts"

const BATCH = 1_000
/** Keys in use: each may send ten calls a minute. */
const KEYS = 12
const CALLS = 10

const bodyOf = (): string => {
  const at = new Date().toISOString()
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

/** Sends 120 calls of 1,000 inferences that 5 monitors watch, 20 of them to warm up; answers inferences a second. */
export const inferencesPerSecond = async (file: string): Promise<number> => {
  const storage = sqliteStorage({ file })
  const governor = await openGovernor({
    storage,
    keys: ephemeralKeys(),
    log: () => undefined,
    capabilities: [platform()]
  })
  const api = openHttp(governor)
  const send = async (key: string, path: string, body: string): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const request = new Request(`http://host.example/v1/monitoring/${path}`, { method: "POST", headers, body })
    const response = await api.fetch(request)
    if (response.status !== 201) throw new Error(await response.text())
  }
  try {
    const keys: Array<string> = []
    for (let at = 0; at < KEYS; at++)
      keys.push(
        (await governor.platformKeys.mint({ name: `k${at}`, org_unit: "ops", plan: "custom", scopes: ["*"] })).key
      )
    // What no window of these passes.
    const most = { error_rate: 0.999, latency_p95: 1e6, score_mean: 9_999, volume: 1e9, label_accuracy: 0.999 }
    for (const [metric, threshold] of Object.entries(most))
      await send(
        keys[0]!,
        "monitors",
        JSON.stringify({ name: "n", model_id: "m", comparator: "above", metric, threshold })
      )
    const body = bodyOf()
    const calls = async (key: string) => {
      for (let call = 0; call < CALLS; call++) await send(key, "inferences", body)
    }
    await Promise.all(keys.slice(0, 2).map(calls))
    const startedAt = performance.now()
    await Promise.all(keys.slice(2).map(calls))
    return (BATCH * CALLS * (KEYS - 2)) / ((performance.now() - startedAt) / 1_000)
  } finally {
    await governor.close()
  }
}
