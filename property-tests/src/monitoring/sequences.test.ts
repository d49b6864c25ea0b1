/** Random monitors over random calls, pauses and deletions: replay agrees with each alert, and one at most is open. */
import type { Inference, MonitorCreate } from "@flyball/contract"
import type { RecordDraft } from "@flyball/core/storage"
import { Result } from "effect"
import fc from "fast-check"
import { assert, it } from "vitest"
import { type AlertDocument, storedAlert } from "../../../packages/platform/src/monitoring/document.ts"
import { planCheck } from "../../../packages/platform/src/monitoring/plan-check.ts"
import { planDelete } from "../../../packages/platform/src/monitoring/plan-delete.ts"
import { planCreateMonitor, readMonitor } from "../../../packages/platform/src/monitoring/plan-create.ts"
import { AlertJudge } from "../../../packages/rules/src/recompute/checks/alerts.ts"
import { runs } from "../runs.ts"

const seed = 20_261_128

const metrics = fc.constantFrom<Partial<MonitorCreate>>(
  { metric: "error_rate", threshold: 0.3 },
  { metric: "error_rate", threshold: 0.3, mode: "anytime", alpha: 0.1 },
  { metric: "label_accuracy", threshold: 0.7, comparator: "below" },
  { metric: "label_accuracy", threshold: 0.7, comparator: "below", mode: "anytime", alpha: 0.2 },
  { metric: "latency_p95", threshold: 120 },
  { metric: "score_mean", threshold: -0.2, comparator: "below" },
  { metric: "volume", threshold: 30, comparator: "below" },
  { metric: "missing_rate", threshold: 0.3, field: "features.x" },
  { metric: "drift_psi", threshold: 0.4, field: "prediction", reference: { values: ["a", "b"], counts: [50, 40, 0] } }
)
const monitor = fc.record({
  of: metrics,
  pending: fc.constantFrom(0, 7, 45),
  clear: fc.constantFrom(0, 20),
  noData: fc.constantFrom(60, 150),
  onNoData: fc.constantFrom("keep" as const, "alert" as const, "resolve" as const)
})
/** A call of so many inferences, of which some are bad, after a pause in seconds. None: the clock alone. */
const step = fc.record({
  pause: fc.constantFrom(0, 1, 5, 13, 40, 100),
  count: fc.constantFrom(0, 0, 5, 40, 90),
  bad: fc.nat(10)
})

const inference = (isBad: boolean, at: string): Inference => ({
  model_id: "m",
  inference_id: "i",
  at,
  prediction: isBad ? "b" : "a",
  label: "a",
  score: isBad ? -1 : 0.5,
  latency_ms: isBad ? 333 : 12,
  features: isBad ? {} : { x: 1 },
  error: isBad
})

it("follow from their records, whatever comes in whatever order", () => {
  fc.assert(
    fc.property(monitor, fc.array(step, { minLength: 5, maxLength: 60 }), ({ of, ...times }, steps) => {
      const [anytime, volume] = [of.mode === "anytime", of.metric === "volume"]
      const read = readMonitor({
        name: "n",
        model_id: "m",
        comparator: "above",
        window_s: 60,
        min_samples: 10,
        pending_s: anytime ? 0 : times.pending,
        clear_s: times.clear,
        ...(volume ? {} : { no_data_s: times.noData, on_no_data: times.onNoData }),
        ...of
      } as MonitorCreate)
      const judge = new AlertJudge(true)
      let [seq, opened, ended] = [0, 0, 0]
      const take = (records: ReadonlyArray<RecordDraft> = []) => {
        for (const { body, kind, parts } of records) {
          const shown = new Map(parts.map(({ bytes, name }) => [name, { state: "present" as const, bytes }]))
          assert.isNull(judge.take({ seq: seq++, kind, body, parts: shown } as never), JSON.stringify(body))
          if (kind === "alert.triggered") opened++
          if (kind === "alert.resolved") ended++
          assert.include([0, 1], opened - ended)
        }
      }
      let nowMs = 1_700_000_000_123
      const by = { orgUnit: "ops", nowMs, writer: `usr_${"0".repeat(26)}`, limit: null }
      const planned = planCreateMonitor("mon", Result.getOrThrow(read), by)
      take(planned.change.records)
      let stored = { id: "mon", version: 1, body: planned.body }
      let open: { readonly id: string; readonly version: number; readonly body: AlertDocument } | null = null
      const check = (arrived: Parameters<typeof planCheck>[1]) => {
        const { body, change } = planCheck({ stored, open, newAlertId: `alt${seq}`, nowMs }, arrived)
        take(change.records)
        stored = { ...stored, body }
        const alert = change.puts.find(({ collection }) => collection === "alerts")
        if (alert !== undefined) open = storedAlert({ ...alert, version: 1 })
        if (body.state.alert === null) open = null
        assert.strictEqual(open?.id ?? null, body.state.alert?.id ?? null)
      }
      for (const { bad, count, pause } of steps) {
        const until = nowMs + pause * 1_000
        for (let due = stored.body.dueMs; due !== null && due <= until; due = stored.body.dueMs) {
          nowMs = Math.max(nowMs, due)
          check([])
        }
        nowMs = until
        const at = new Date(nowMs).toISOString()
        if (count > 0)
          check(Array.from({ length: count }, (_, row) => ({ atMs: nowMs, inference: inference(row % 10 < bad, at) })))
      }
      take(planDelete(stored, open, nowMs, by.writer).change.records)
      assert.strictEqual(opened, ended)
    }),
    { seed, numRuns: runs(150, 5_000) }
  )
})
