/** Monitors over a governor in memory: counts, pending time, hysteresis, silence, and what replay finds of lies. */
import { assert, describe, it } from "@effect/vitest"
import type { Inference, MonitorCreate } from "@flyball/contract"
import {
  ephemeralKeys,
  Erasure,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  layerOf,
  memoryStorage
} from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import type { JsonMap, ReplayRecord } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { recorded } from "../../../packages/core/src/testing/recorded.ts"
import { findingsWith } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { platform } from "../../../packages/platform/src/index.ts"
import { Monitors } from "../../../packages/platform/src/monitoring/service.ts"
import { isFound, liesAbout, type Timed } from "../replay/lies.ts"
import { namedLies } from "../replay/named-lies.ts"

const ann = { id: `usr_${"0".repeat(25)}1` }
const NOON = Date.UTC(2026, 10, 28, 12)

const world = governorLayer({ origin: "flyball.example/test", capabilities: [platform()] }).pipe(
  Layer.provideMerge(layerOf(memoryStorage())),
  Layer.provide(keysLayerOf(ephemeralKeys()))
  // The cast: services of capabilities are not in the type of the layer.
) as Layer.Layer<GovernorServices | Storage | Monitors, unknown>

const create = (more: Partial<MonitorCreate> = {}) =>
  Monitors.use((monitors) =>
    monitors.create(
      "ops",
      {
        name: "errors",
        model_id: "fraud",
        metric: "error_rate",
        comparator: "above",
        threshold: 0.1,
        window_s: 60,
        min_samples: 10,
        clear_s: 30,
        ...more
      },
      { writer: ann, limit: 5 }
    )
  )
const get = (id: string) => Monitors.use((monitors) => monitors.get("ops", id))
const alert = (id: string) => Monitors.use((monitors) => monitors.alert("ops", id))

/** Sends inferences of now. `of` makes each from its place. */
const send = (count: number, of: (at: number) => Partial<Inference>, ageMs = 0) =>
  Effect.gen(function* () {
    const { ms } = yield* Storage.use((storage) => storage.asOf)
    const inferences = Array.from({ length: count }, (_, at) => ({
      model_id: "fraud",
      inference_id: `i${at}`,
      at: new Date(ms - ageMs).toISOString(),
      prediction: "ok",
      ...of(at)
    }))
    return yield* Monitors.use((monitors) => monitors.log("ops", inferences))
  })
/** So many of a hundred fail. */
const failing = (percent: number) => (at: number) => ({ error: at < percent })
/** Lets time pass, with the rounds of the job. */
const pass = (seconds: number) =>
  Effect.forEach(
    Array.from({ length: seconds }),
    () =>
      Effect.andThen(
        TestClock.adjust("1 seconds"),
        Monitors.use(({ round }) => round)
      ),
    { discard: true }
  )
const state = (id: string) => Effect.map(get(id), (monitor) => monitor.state)
const kinds = Effect.map(recorded, (records) =>
  records.filter(({ kind }) => kind.startsWith("alert.") || kind.startsWith("monitor.")).map(({ kind }) => kind)
)
const findings = (change: (record: ReplayRecord) => ReplayRecord = (record) => record) =>
  Effect.map(findingsWith(change), (found) => found.map(({ verdict }) => verdict))
const begin = TestClock.setTime(NOON)

describe("a monitor", () => {
  it.effect("opens one alert after its pending time, and ends it after a recovery that lasts", () =>
    Effect.gen(function* () {
      yield* begin
      const { id } = yield* create({ pending_s: 20 })
      assert.strictEqual(yield* state(id), "no_data")
      yield* send(100, failing(5))
      assert.deepInclude(yield* get(id), { state: "ok", samples: 100, value_now: 0.05 })
      assert.deepInclude((yield* send(100, failing(30))).monitors[0], { state: "pending" })
      yield* pass(10)
      assert.strictEqual(yield* state(id), "pending")
      yield* pass(10)
      const triggered = yield* get(id)
      assert.strictEqual(triggered.state, "triggered")
      const opened = yield* alert(triggered.alert_id!)
      assert.deepInclude(opened, { status: "triggered", cause: "threshold", value: 0.175, threshold: 0.1 })
      assert.deepInclude(opened.evidence, { samples: 200, counts: [35] })
      // Inside of the threshold, and not of the clearing one: it stays.
      yield* pass(60)
      yield* send(1_000, (at) => ({ error: at < 95 }))
      yield* pass(31)
      assert.strictEqual((yield* get(id)).alert_id, opened.id)
      yield* pass(30)
      yield* send(1_000, (at) => ({ error: at < 50 }))
      yield* pass(29)
      assert.strictEqual(yield* state(id), "triggered")
      yield* pass(1)
      assert.strictEqual(yield* state(id), "ok")
      assert.deepInclude(yield* alert(opened.id), { status: "resolved", resolved_because: "recovered", value: 0.175 })
      assert.deepStrictEqual(yield* kinds, ["monitor.changed", "alert.triggered", "alert.resolved"])
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.effect.each([
    ["keep", ["monitor.changed", "alert.triggered"], "threshold"],
    ["resolve", ["monitor.changed", "alert.triggered", "alert.resolved"], null],
    ["alert", ["monitor.changed", "alert.triggered"], "threshold"]
  ] as const)("has silence as a state of its own, which %ss what is open", ([onNoData, expected, open]) =>
    Effect.gen(function* () {
      yield* begin
      const { id } = yield* create({ on_no_data: onNoData, no_data_s: 120 })
      yield* send(100, failing(50))
      const { alert_id: opened } = yield* get(id)
      assert.isNotNull(opened)
      yield* pass(119)
      assert.strictEqual(yield* state(id), "triggered")
      yield* pass(1)
      assert.deepInclude(yield* get(id), { state: "no_data", samples: 0, value_now: null })
      assert.deepStrictEqual(yield* kinds, [...expected])
      assert.strictEqual((yield* get(id)).alert_id, open === null ? null : opened)
      yield* send(100, failing(0))
      yield* pass(31)
      assert.strictEqual(yield* state(id), "ok")
      assert.strictEqual((yield* alert(opened!)).status, "resolved")
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.effect("alerts of silence from its creation on, and once more after data came", () =>
    Effect.gen(function* () {
      yield* begin
      const { id } = yield* create({ on_no_data: "alert" })
      yield* pass(60)
      const first = (yield* get(id)).alert_id!
      const shown = yield* alert(first)
      assert.deepInclude(shown, { cause: "no_data", metric: "no_data", value: 60, threshold: 60 })
      // What ends silence is a breach: another alert, of its own id.
      yield* send(100, failing(50))
      yield* pass(1)
      const second = (yield* get(id)).alert_id!
      assert.notStrictEqual(second, first)
      assert.deepInclude(yield* alert(first), { status: "resolved", resolved_because: "data" })
      assert.strictEqual((yield* alert(second)).cause, "threshold")
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.effect.each([
    ["prediction_rate", { value: "no" }, { prediction: "no" }, 1],
    ["label_accuracy", {}, { label: "no" }, 0],
    ["missing_rate", { field: "features.age" }, { features: { age: null } }, 1],
    ["score_mean", {}, { score: 0.25 }, 0.25],
    ["latency_p95", {}, { latency_ms: 1_234.5 }, 1_300],
    ["volume", {}, {}, 20],
    ["drift_psi", { field: "score", reference: { edges: [0.5], counts: [10, 10] } }, { score: 0.9 }, 1.768]
  ] as const)("measures %s, and replay the same", ([metric, more, inference, expected]) =>
    Effect.gen(function* () {
      yield* begin
      const volume = metric === "volume"
      const sides = { comparator: expected === 0 ? "below" : "above", threshold: expected === 0 ? 0.5 : expected / 2 }
      const { id } = yield* create({ metric, ...sides, ...(more as object) } as Partial<MonitorCreate>)
      if (volume) yield* pass(50)
      yield* send(20, () => inference)
      if (volume) yield* pass(10)
      const shown = yield* get(id)
      assert.closeTo(shown.value_now!, expected, 0.001)
      assert.strictEqual(shown.state, "triggered")
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.effect("counts by the time of each inference, by segment, and refuses a batch of other times whole", () =>
    Effect.gen(function* () {
      yield* begin
      const { id } = yield* create({ segment: "eu" })
      yield* send(50, (at) => ({ segment: at < 20 ? "eu" : "us" }))
      yield* send(50, () => ({ segment: "eu", error: true }), 3_600_000)
      assert.deepInclude(yield* get(id), { samples: 20, value_now: 0 })
      for (const age of [86_401_000, -301_000]) {
        const refusal = yield* Effect.flip(send(3, (at) => (at < 2 ? {} : { at: new Date(NOON - age).toISOString() })))
        assert.include(JSON.stringify(refusal), '["body","inferences","2","at"]')
      }
      const storage = yield* Storage
      assert.strictEqual((yield* storage.list("inferences")).length, 2)
      assert.strictEqual((yield* get(id)).samples, 20)
      yield* TestClock.adjust("25 hours")
      yield* Monitors.use(({ round }) => round)
      assert.deepStrictEqual(yield* storage.list("inferences"), [])
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.effect("alerts in mode anytime once the evidence is there, and seldom on what is within the threshold", () =>
    Effect.gen(function* () {
      yield* begin
      const { id } = yield* create({ mode: "anytime", alpha: 0.01 })
      const calm = yield* create({ mode: "anytime", alpha: 0.01, segment: "calm" })
      let random = 1
      const next = () => (random = (random * 48_271) % 2_147_483_647) / 2_147_483_647
      for (let round = 0; round < 60; round++) {
        yield* send(100, () => ({ segment: "calm", error: next() < 0.1 }))
        yield* pass(5)
      }
      assert.strictEqual((yield* get(calm.id)).alert_id, null)
      assert.strictEqual((yield* get(id)).alert_id, null)
      for (let round = 0; round < 4; round++) yield* send(100, failing(25))
      const shown = yield* get(id)
      assert.strictEqual(shown.state, "triggered")
      const { evidence, message } = yield* alert(shown.alert_id!)
      assert.isAtLeast(evidence.log_e!, evidence.log_e_needed!)
      assert.include(message, "0.01 at most")
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.effect("is deleted with its alert, makes room for another, and forgets its name", () =>
    Effect.gen(function* () {
      yield* begin
      const ids: Array<string> = []
      for (let at = 0; at < 5; at++) ids.push((yield* create({ name: "Grace" })).id)
      assert.deepInclude(yield* Effect.flip(create()), { _tag: "PlanLimitReached", limit: 5 })
      yield* send(100, failing(50))
      const remove = Monitors.use((monitors) => monitors.remove("ops", ids[0]!, ann))
      const { alert_id: opened } = yield* get(ids[0]!)
      assert.deepInclude(yield* remove, { state: "deleted", alert_id: null })
      assert.deepInclude(yield* remove, { state: "deleted" })
      assert.deepInclude(yield* alert(opened!), { status: "resolved", resolved_because: "monitor_deleted" })
      yield* create()
      assert.strictEqual(
        (yield* Effect.flip(Monitors.use((monitors) => monitors.get("other", ids[0]!))))._tag,
        "MonitorNotFound"
      )
      for (const { kind, parts, seq } of yield* recorded)
        if (kind === "monitor.changed" && parts.has("definition"))
          yield* Erasure.use((erasure) => erasure.erase({ seq, name: "definition", reason: "retention" }, ann))
      const storage = yield* Storage
      assert.notInclude(JSON.stringify(yield* storage.list("monitors")), "Grace")
      assert.deepStrictEqual((yield* send(10, failing(0))).monitors, [])
      assert.deepStrictEqual(new Set(yield* findings()), new Set(["withheld"]))
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.effect("ends an alert that has no clear threshold of its own, however near to the best the threshold is", () =>
    Effect.gen(function* () {
      yield* begin
      const near = { metric: "label_accuracy", comparator: "below", threshold: 0.95 } as const
      assert.strictEqual((yield* create(near)).clear_threshold, 0.975)
      assert.strictEqual((yield* create({ ...near, threshold: 0.5 })).clear_threshold, 0.55)
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.effect.each([
    ["a clear threshold beyond the threshold", { clear_threshold: 0.2 }, "clear_threshold"],
    ["a threshold that no share passes", { threshold: 7 }, "threshold"],
    ["a threshold that nothing is below", { metric: "volume", comparator: "below", threshold: 0 }, "threshold"],
    ["an alert that never ends", { threshold: 0 }, "threshold"],
    ["a clear threshold that nothing passes", { clear_threshold: -1 }, "clear_threshold"],
    ["no field", { metric: "missing_rate" }, "field"],
    ["a member of another metric", { value: "x" }, "value"],
    ["silence of a volume", { metric: "volume", no_data_s: 60 }, "no_data_s"],
    ["a mean in mode anytime", { metric: "score_mean", mode: "anytime" }, "mode"],
    ["a threshold that is no share in mode anytime", { threshold: 1, mode: "anytime" }, "threshold"],
    [
      "edges that fall",
      { metric: "drift_psi", field: "score", reference: { edges: [2, 1], counts: [1, 1, 1] } },
      "reference"
    ]
  ] as ReadonlyArray<readonly [string, Partial<MonitorCreate>, string]>)("is refused with %s", ([, more, member]) =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(create(more))
      assert.include(JSON.stringify(refusal), `"${member}"`)
      assert.deepStrictEqual(yield* kinds, [])
    }).pipe(Effect.scoped, Effect.provide(world))
  )
})

describe("replay of alerts", () => {
  it.effect("finds every lie about their records but those that the page names", () =>
    Effect.gen(function* () {
      yield* begin
      yield* create({ pending_s: 5, on_no_data: "resolve" })
      yield* create({ mode: "anytime", on_no_data: "alert" })
      const { id } = yield* create()
      yield* send(100, failing(50))
      yield* pass(60)
      yield* send(1_000, failing(0))
      yield* pass(31)
      yield* send(1_000, (at) => ({ error: at < 800 }))
      yield* pass(70)
      yield* Monitors.use((monitors) => monitors.remove("ops", id, ann))
      const storage = yield* Storage
      const times = new Map((yield* storage.records({ limit: 1_000 })).map(({ atMs, seq }) => [seq, atMs]))
      const history = (yield* recorded).map((record): Timed => ({ record, atMs: times.get(record.seq)! }))
      const words = ["monitor.changed", "alert.triggered", "alert.resolved"]
      const accepted = new Set<string>()
      for (const [at, { record }] of history.entries())
        if (words.includes(record.kind))
          for (const { records, what } of liesAbout(history, at))
            if (!isFound(records, "flyball.example/test")) accepted.add(`${record.kind}: ${what}`)
      assert.deepStrictEqual([...accepted].sort(), [...namedLies(words)].sort())
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  const says = (kind: string, members: JsonMap) => (record: ReplayRecord) =>
    record.kind === kind ? { ...record, body: { ...record.body, ...members } } : record
  it.effect.each([
    ["counts of no breach", says("alert.triggered", { counts: [5], value: "0.05" })],
    ["a value that its counts do not have", says("alert.triggered", { value: "0.6" })],
    ["an alert before its time", says("alert.triggered", { before: "ok" })],
    ["an alert of another monitor", says("alert.triggered", { monitor_id: `mon_${"0".repeat(26)}` })],
    ["another threshold", says("monitor.changed", { threshold: "0.9" })],
    ["a longer pending time", says("monitor.changed", { pending_ms: 60_000 })],
    ["an end under another id", says("alert.resolved", { alert_id: `alt_${"0".repeat(26)}` })],
    ["a recovery that did not last", says("alert.resolved", { since_ms: NOON + 80_000 })]
  ] as ReadonlyArray<readonly [string, (record: ReplayRecord) => ReplayRecord]>)("finds %s", ([, change]) =>
    Effect.gen(function* () {
      yield* begin
      yield* create({ pending_s: 5 })
      yield* send(100, failing(50))
      yield* pass(60)
      yield* send(1_000, failing(0))
      yield* pass(31)
      assert.deepStrictEqual(yield* kinds, ["monitor.changed", "alert.triggered", "alert.resolved"])
      assert.isAbove((yield* findings(change)).length, 0)
    }).pipe(Effect.scoped, Effect.provide(world))
  )
})
