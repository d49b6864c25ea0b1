import { assert, describe, it } from "@effect/vitest"
import { type BreakerCreate, type BreakerUpdate, type InvalidInput, InvalidTransition } from "@flyball/contract"
import type { JsonMap, Recomputed } from "@flyball/rules"
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { systemHost } from "../../foundation/writer.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Capture } from "../capture/service.ts"
import { ann, ask, findingsWith, governedAgent } from "../evaluations/testing/refunds.ts"
import { Kill } from "../kill/service.ts"
import { ResponsePolicies } from "../response-policy/service.ts"
import { Breakers } from "./service.ts"

const HOUR = 3_600_000
const errors = (more: Partial<BreakerCreate> = {}): BreakerCreate => ({
  name: "errors",
  metric: "error_rate",
  params: { window_ms: HOUR, min_samples: 4, threshold_bp: 5_000 },
  enabled: true,
  mode: "enforce",
  ...more
})

const arm = (agentId: string, input: BreakerCreate = errors()) =>
  Breakers.use((breakers) => breakers.arm(agentId, input, ann))

let refs = 0
const witness = (agentId: string, ...statuses: ReadonlyArray<"error" | "ok">) =>
  Capture.use((capture) =>
    capture.witness(
      agentId,
      statuses.map((status) => ({ client_ref: `d${refs++}`, kind: "tool_call" as const, action: "pay", status })),
      systemHost
    )
  )

const check = Breakers.use((breakers) => breakers.check())
const list = (agentId: string) => Breakers.use((breakers) => breakers.list(agentId))
const statusOf = (agentId: string) => Kill.use((kill) => kill.status({ type: "agent", id: agentId }))

/** Findings of replay, with the body of each record changed before. */
const replayed = (change: (kind: string, body: JsonMap, seq: number) => JsonMap = (_, body) => body) =>
  findingsWith((record) => ({ ...record, body: change(record.kind, record.body, record.seq) }))

const inOrder = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use((replay) => replay.check)).differences, [])
  assert.deepStrictEqual(yield* replayed(), [])
})

const kinds = Storage.use((storage) =>
  Effect.map(storage.records({ limit: 1_000 }), (records) =>
    records.map(({ kind }) => kind).filter((kind) => /^(breaker|kill)\./.test(kind))
  )
)

describe("a breaker", () => {
  it.effect("trips once its share is reached, and halts the agent; both name each other", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const armed = yield* arm(agentId)
      assert.deepInclude(armed, { state: "armed", fired_event_id: null, last_value: null, created_by: ann.id })
      yield* witness(agentId, "ok", "ok", "error")
      assert.deepStrictEqual(yield* check, [
        {
          breaker_id: armed.id,
          agent_id: agentId,
          name: "errors",
          metric: "error_rate",
          value: "1/3",
          samples: 3,
          tripped: false,
          fired_event_id: null
        }
      ])
      assert.deepInclude((yield* list(agentId))[0], { last_value: "1/3", state: "armed" })
      yield* witness(agentId, "error")
      const [tripped] = yield* check
      assert.deepInclude(tripped, { value: "2/4", samples: 4, tripped: true })
      const status = yield* statusOf(agentId)
      assert.deepInclude(status, { halted: true, drill: false, activation_event: tripped!.fired_event_id })
      const activation = yield* Kill.use((kill) => kill.activation(tripped!.fired_event_id!))
      assert.deepInclude(activation, { breaker_id: armed.id, response: "halt", actor: "breaker:errors" })
      assert.deepInclude((yield* list(agentId))[0], {
        state: "tripped",
        fired_event_id: tripped!.fired_event_id,
        last_value: "2/4"
      })
      // It stays tripped, and fires no second time.
      yield* witness(agentId, "error", "error")
      assert.deepInclude((yield* check)[0], { value: "2/4", tripped: true })
      assert.deepStrictEqual(yield* kinds, ["breaker.armed", "breaker.tripped", "kill.activated"])
      yield* inOrder
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("restarts when a person releases it: what tripped it cannot trip it again", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { id } = yield* arm(agentId)
      yield* witness(agentId, "error", "error", "error", "error")
      const [tripped] = yield* check
      const released = yield* Breakers.use((breakers) => breakers.release(id, { reason: "Fixed." }, ann))
      const fired = { state: "armed", fired_event_id: tripped!.fired_event_id } as const
      assert.deepInclude(released, { ...fired, last_value: "4/4" })
      assert.deepInclude((yield* check)[0], { value: "0/0", tripped: false })
      assert.deepInclude((yield* list(agentId))[0], { ...fired, last_value: "0/0" })
      // What it activated stays active.
      assert.isTrue((yield* statusOf(agentId)).halted)
      yield* witness(agentId, "error", "error", "error", "error")
      const [again] = yield* check
      assert.isTrue(again!.tripped)
      assert.notStrictEqual(again!.fired_event_id, tripped!.fired_event_id)
      yield* inOrder
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("that is due trips before the next evaluation is decided, which obeys it", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      assert.strictEqual((yield* ask(agentId, { tool: "search" })).outcome, "allow")
      yield* arm(agentId)
      yield* witness(agentId, "error", "error", "error", "error")
      const evaluation = yield* ask(agentId, { tool: "search" })
      assert.deepInclude(evaluation, { outcome: "deny", matched_rule: "@killed" })
      const [breaker] = yield* list(agentId)
      assert.strictEqual(evaluation.activation_event, breaker!.fired_event_id)
      assert.isNotNull(breaker!.fired_event_id)
      yield* inOrder
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("takes its own response, else that of the policy, else halt", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* ResponsePolicies.use((policies) =>
        policies.set([{ scope: "default", trigger: "breaker", response: "drain", notify: [] } as never], ann)
      )
      yield* arm(agentId, errors({ name: "own", response: "step_down" }))
      yield* arm(agentId, errors({ name: "policy" }))
      yield* witness(agentId, "error", "error", "error", "error")
      const rows = yield* check
      const responses = yield* Effect.forEach(rows, ({ fired_event_id, name }) =>
        Kill.use((kill) => Effect.map(kill.activation(fired_event_id!), ({ response }) => [name, response] as const))
      )
      assert.deepStrictEqual(Object.fromEntries(responses), { own: "step_down", policy: "drain" })
      yield* inOrder
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("in mode shadow or warn records its trip and stops nothing", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* arm(agentId, errors({ name: "shadow", mode: "shadow" }))
      yield* arm(agentId, errors({ name: "warn", mode: "warn" }))
      yield* witness(agentId, "error", "error", "error", "error")
      assert.strictEqual((yield* ask(agentId, { tool: "search" })).outcome, "allow")
      assert.deepStrictEqual(
        (yield* check).map(({ fired_event_id, tripped }) => [tripped, fired_event_id]),
        [
          [true, null],
          [true, null]
        ]
      )
      assert.isFalse((yield* statusOf(agentId)).halted)
      yield* inOrder
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("that watches for silence trips by time alone, at an evaluation too", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* arm(agentId, errors({ name: "silent", metric: "heartbeat_missing", params: { max_silence_ms: 60_000 } }))
      yield* witness(agentId, "ok")
      yield* TestClock.adjust(60_000)
      assert.deepInclude((yield* check)[0], { value: "60000", tripped: false })
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* ask(agentId, { tool: "search" })).matched_rule, "@killed")
      assert.deepInclude((yield* check)[0], { value: "60001", tripped: true })
      yield* inOrder
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is read by nobody while it is switched off, and restarts when it is switched on", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { id } = yield* arm(agentId, errors({ enabled: false }))
      yield* witness(agentId, "error", "error", "error", "error")
      assert.deepStrictEqual(yield* check, [])
      const changed = yield* Breakers.use((breakers) => breakers.update(id, { enabled: true }, ann))
      assert.deepInclude(changed, { enabled: true, metric: "error_rate", created_by: ann.id })
      assert.deepInclude((yield* check)[0], { value: "0/0", tripped: false })
      yield* inOrder
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("keeps its window and records nothing at a change that says what holds already", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const { id } = yield* arm(agentId)
      yield* witness(agentId, "error", "error", "error")
      const { enabled, mode, params } = errors()
      const sames: ReadonlyArray<BreakerUpdate> = [
        {},
        { enabled, mode },
        { params: { ...params }, confidence_bp: 0, response: null }
      ]
      for (const same of sames)
        assert.deepInclude(yield* Breakers.use((breakers) => breakers.update(id, same, ann)), { enabled, mode })
      assert.deepStrictEqual(yield* kinds, ["breaker.armed"])
      yield* witness(agentId, "error")
      assert.deepInclude((yield* check)[0], { value: "4/4", tripped: true })
      yield* inOrder
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("with a confidence does not stop an agent for a few failures", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const params = { window_ms: HOUR, min_samples: 1, threshold_bp: 5_000 }
      yield* arm(agentId, errors({ name: "plain", params, mode: "warn" }))
      yield* arm(agentId, errors({ name: "sure", params, mode: "warn", confidence_bp: 9_500 }))
      yield* witness(agentId, "ok", "error", "error")
      assert.deepStrictEqual((yield* check).map(({ name, tripped }) => [name, tripped]).toSorted(), [
        ["plain", true],
        ["sure", false]
      ])
      yield* inOrder
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("what is refused", () => {
  const problem = (input: Partial<BreakerCreate>) =>
    Effect.gen(function* () {
      const agent = yield* registered("a bot")
      const refused = yield* Effect.flip(arm(agent.id, errors(input)))
      assert.deepStrictEqual(yield* kinds, [])
      return refused
    }).pipe(Effect.provide(governorWorld()))
  const locs = (input: Partial<BreakerCreate>) =>
    Effect.map(problem(input), (refused) =>
      (refused as InvalidInput).detail.map(({ loc, type }) => [loc.join("."), type])
    )

  it.effect("an unknown metric, and one whose source is not built", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* locs({ metric: "luck" }), [["body.metric", "enum"]])
      for (const metric of ["confidence_floor", "envelope_lag"])
        assert.deepInclude(yield* problem({ metric }), { _tag: "MetricNotAvailable", metric })
    })
  )

  it.effect("parameters that the metric does not take, lacks or does not accept, each named", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* locs({ params: { window_ms: 1, min_samples: "20", cap: 5 } }), [
        ["body.params.cap", "extra_forbidden"],
        ["body.params.window_ms", "greater_than_equal"],
        ["body.params.min_samples", "int_type"],
        ["body.params.threshold_bp", "missing"]
      ])
      assert.deepStrictEqual(yield* locs({ params: { window_ms: HOUR, threshold_bp: 10_001 } }), [
        ["body.params.threshold_bp", "less_than_equal"]
      ])
      assert.deepStrictEqual(
        yield* locs({ metric: "spend", params: { window_ms: HOUR, cap: 1, meter: "two words" } }),
        [["body.params.meter", "string_pattern_mismatch"]]
      )
      assert.deepStrictEqual(
        yield* locs({ metric: "token_burn", params: { window_ms: HOUR, cap_tokens: 1, per: "team" } }),
        [["body.params.per", "enum"]]
      )
    })
  )

  it.effect("a confidence for what is no share, or where no share can prove it", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* locs({ metric: "action_velocity", params: { window_ms: HOUR, max_count: 1 }, confidence_bp: 9_500 }),
        [["body.confidence_bp", "value_error"]]
      )
      assert.deepStrictEqual(yield* locs({ params: { window_ms: HOUR, threshold_bp: 10_000 }, confidence_bp: 9_500 }), [
        ["body.params.threshold_bp", "value_error"]
      ])
    })
  )

  it.effect("one of an agent that was decommissioned, with 409", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* Agents.use((agents) => agents.decommission(agentId, ann))
      assert.deepInclude(yield* Effect.flip(arm(agentId)), { _tag: "InvalidTransition", status: "decommissioned" })
      assert.strictEqual(InvalidTransition.status, 409)
      assert.deepStrictEqual(yield* kinds, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("a name that the agent has, an agent of another unit, and the release of an armed breaker", () =>
    Effect.gen(function* () {
      const agent = yield* registered("a bot")
      const { id } = yield* arm(agent.id)
      assert.deepInclude(yield* Effect.flip(arm(agent.id)), { _tag: "BreakerNameTaken", breakerId: id })
      const other = { orgUnits: ["sales"] } as const
      const breakers = yield* Breakers
      assert.strictEqual((yield* Effect.flip(breakers.arm(agent.id, errors(), ann, other)))._tag, "AgentNotFound")
      assert.strictEqual((yield* Effect.flip(breakers.list(agent.id, other)))._tag, "AgentNotFound")
      assert.strictEqual((yield* Effect.flip(breakers.update(id, {}, ann, other)))._tag, "BreakerNotFound")
      assert.strictEqual((yield* Effect.flip(breakers.release(id, {}, ann, other)))._tag, "BreakerNotFound")
      yield* Agents.use((agents) => agents.decommission(agent.id, ann))
      assert.strictEqual((yield* Effect.flip(arm(agent.id, errors({ name: "late" }))))._tag, "InvalidTransition")
      assert.deepStrictEqual(yield* breakers.check(other), [])
      assert.strictEqual((yield* Effect.flip(breakers.release(id, {}, ann)))._tag, "BreakerNotTripped")
      assert.deepStrictEqual(yield* kinds, ["breaker.armed"])
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("the verifier", () => {
  /** An agent whose breaker tripped at an evaluation. */
  const tripped = Effect.gen(function* () {
    const { agentId } = yield* governedAgent()
    const { id } = yield* arm(agentId)
    yield* witness(agentId, "ok", "error", "error", "error")
    yield* ask(agentId, { tool: "search" })
    return { agentId, id }
  })
  const verdicts = Effect.map((found: ReadonlyArray<Recomputed>) => found.map(({ verdict }) => verdict))

  it.effect("finds a trip whose value, samples, time or breaker is another", () =>
    Effect.gen(function* () {
      yield* tripped
      const found = (change: object) =>
        verdicts(replayed((kind, body) => (kind === "breaker.tripped" ? { ...body, ...change } : body)))
      for (const change of [
        { value: "3/3" },
        { samples: 5 },
        { from_seq: 0 },
        { as_of_seq: 2 },
        { metric: "denial_rate" },
        { mode: "warn" }
      ])
        assert.include(yield* found(change), "breaker_value_mismatch", JSON.stringify(change))
      assert.include(yield* found({ writer: "breaker:other" }), "writer_mismatch")
      assert.include(yield* found({ breaker_id: `brk_${"0".repeat(26)}` }), "reference_mismatch")
      assert.include(yield* found({ activation_id: `kil_${"0".repeat(26)}` }), "reference_mismatch")
      assert.deepStrictEqual(yield* found({}), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds that a breaker had to trip where its trip is left out, or its threshold was lower", () =>
    Effect.gen(function* () {
      yield* tripped
      const hidden = yield* replayed((kind, body) =>
        kind === "breaker.tripped" ? { ...body, breaker_id: `brk_${"0".repeat(26)}` } : body
      )
      assert.include(
        hidden.map(({ verdict }) => verdict),
        "trip_missing"
      )
      assert.match(hidden.find(({ verdict }) => verdict === "trip_missing")!.reason!, /error_rate reads 3\/4/)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("finds a trip of a breaker that had not reached its limit", () =>
    Effect.gen(function* () {
      yield* tripped
      const found = yield* replayed((kind, body) =>
        kind === "breaker.armed"
          ? {
              ...body,
              params: [
                { name: "min_samples", number: 4 },
                { name: "threshold_bp", number: 9_000 },
                { name: "window_ms", number: HOUR }
              ]
            }
          : body
      )
      assert.match(found[0]!.reason!, /reads 3\/4, at which it does not trip/)
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("a preview", () => {
  it.effect("says when a breaker would have tripped, and records nothing", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* witness(agentId, "ok", "error", "error", "error", "error", "error", "error", "ok")
      const head = yield* Storage.use((storage) => storage.head)
      const { params, metric } = errors()
      const preview = yield* Breakers.use((breakers) => breakers.preview(agentId, { metric, params }))
      assert.deepStrictEqual(
        preview.trips.map(({ samples, value }) => [value, samples]),
        [
          ["3/4", 4],
          ["3/4", 4]
        ]
      )
      assert.strictEqual(preview.trip_count, 2)
      assert.strictEqual(preview.to_seq! - preview.from_seq!, 7)
      assert.lengthOf(preview.values, 8)
      assert.deepStrictEqual(yield* Storage.use((storage) => storage.head), head)
      const seq = preview.trips[0]!.seq
      const record = yield* Storage.use((storage) => storage.record(seq))
      assert.deepInclude((readRecord(record!.bytes) as { record: { body: object } }).record.body, { status: "error" })
    }).pipe(Effect.provide(governorWorld()))
  )
})
