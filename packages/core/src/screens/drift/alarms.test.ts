import { assert, describe, it } from "@effect/vitest"
import { readRecord } from "@flyball/evidence"
import type { PolicyRow } from "@flyball/rules"
import { Effect } from "effect"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Storage } from "../../storage/port.ts"
import { Breakers } from "../../verdicts/breakers/service.ts"
import { ann } from "../../verdicts/evaluations/testing/refunds.ts"
import { type Altered, alteredLife, LEFT_OUT, says, without } from "../../verdicts/kill/testing/altered.ts"
import { Kill } from "../../verdicts/kill/service.ts"
import { ResponsePolicies } from "../../verdicts/response-policy/service.ts"
import { driftAlarms } from "./alarms.ts"
import { changedRuns, witnessRuns } from "./testing/witness-runs.ts"

const policy = (...rows: ReadonlyArray<Pick<PolicyRow, "response" | "scope">>) =>
  ResponsePolicies.use((policies) =>
    policies.set(
      rows.map((row) => ({ ...row, trigger: "drift" as const, notify: [] })),
      ann
    )
  )

const alarmsOf = (agentId: string) =>
  Effect.flatMap(Storage, (storage) =>
    Effect.map(storage.records({ agentId, kinds: ["drift.alarmed"], limit: 10 }), (records) =>
      records.map(({ bytes }) => {
        const read = readRecord(bytes)
        assert.isTrue(read.ok)
        return read.record!.body
      })
    )
  )

const haltOf = (agentId: string) => Kill.use((kill) => kill.status({ type: "agent", id: agentId }))

describe("alarms of behaviour", () => {
  it.effect("are recorded once, and stop the agent as the policy says", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const { id: steady } = yield* registered("steady")
      yield* policy({ scope: "default", response: "halt" })
      const { round } = yield* driftAlarms()
      yield* round
      yield* witnessRuns(steady, 100, ["search", "pay"], "s")
      yield* changedRuns(id)
      assert.strictEqual(yield* round, 1)
      const [alarm] = yield* alarmsOf(id)
      assert.deepInclude(alarm, { agent_id: id, writer: "policy:drift" })
      assert.isAtLeast(Number(alarm!["e_value"]), 20)
      assert.isAbove(Number(alarm!["runs"]), 60)
      assert.include(["action", "sequence"], alarm!["dimension"])
      assert.strictEqual((yield* haltOf(id)).activation_event, alarm!["activation_id"])
      assert.isNull((yield* haltOf(steady)).activation_event)
      assert.strictEqual(yield* round, 0)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("follow nobody without a row, and only report where the row notifies", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const { round } = yield* driftAlarms()
      yield* round
      yield* changedRuns(id)
      assert.strictEqual(yield* round, 0)
      yield* policy({ scope: "default", response: "notify" })
      yield* round
      const { id: other } = yield* registered("other")
      yield* changedRuns(other)
      assert.strictEqual(yield* round, 1)
      assert.isUndefined((yield* alarmsOf(other))[0]!["activation_id"])
      assert.isNull((yield* haltOf(other)).activation_event)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are the same after a restart in the middle, and of two processes at once", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      yield* policy({ scope: "default", response: "drain" })
      const first = yield* driftAlarms()
      const second = yield* driftAlarms()
      yield* first.round
      yield* witnessRuns(id, 30, ["search", "pay", "read"], "x")
      yield* first.round
      yield* changedRuns(id)
      assert.strictEqual((yield* second.round) + (yield* first.round) + (yield* second.round), 1)
      assert.lengthOf(yield* alarmsOf(id), 1)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are the same where another agent takes its place in memory", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const { id: other } = yield* registered("other")
      yield* policy({ scope: "default", response: "notify" })
      const { round } = yield* driftAlarms(1)
      yield* round
      yield* witnessRuns(id, 60, ["search", "pay", "read"], "a")
      yield* witnessRuns(other, 5, ["search"], "o")
      yield* round
      yield* witnessRuns(id, 40, ["search", "pay", "delete"], "b")
      assert.strictEqual(yield* round, 1)
      assert.lengthOf(yield* alarmsOf(id), 1)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("trip a breaker of the metric drift_score, which follows its agent", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("courier")
      const breakers = yield* Breakers
      yield* breakers.arm(
        id,
        { name: "drift", metric: "drift_score", params: { window_ms: 3_600_000 }, enabled: true, mode: "enforce" },
        ann
      )
      const { round } = yield* driftAlarms()
      yield* round
      yield* changedRuns(id)
      assert.strictEqual(yield* round, 1)
      const [found] = yield* breakers.check()
      assert.deepInclude(found, { metric: "drift_score", value: "1", tripped: true })
    }).pipe(Effect.provide(governorWorld()))
  )
})

/** An agent under a policy that drains at an alarm changes; another acts on. */
const life = Effect.gen(function* () {
  const { id: agentId } = yield* registered("courier")
  const { id: other } = yield* registered("other")
  yield* policy({ scope: "default", response: "drain" })
  const { round } = yield* driftAlarms()
  yield* round
  yield* changedRuns(agentId)
  assert.strictEqual(yield* round, 1)
  yield* witnessRuns(other, 1, ["search"], "o")
  return { agentId, other }
})
const altered = alteredLife(life)

describe("replay of alarms", () => {
  it.effect("agrees with what was not altered", () =>
    Effect.map(altered(), (found) => assert.deepStrictEqual(found, []))
  )

  it.effect.each([
    ["a larger e-value", ["drift.alarmed", 0, says({ e_value: "99.1234" })], "drift_mismatch"],
    ["another dimension", ["drift.alarmed", 0, says({ dimension: "outcome" })], "drift_mismatch"],
    ["an epoch that began later", ["drift.alarmed", 0, says({ epoch_from_seq: 100 })], "drift_mismatch"],
    [
      "an alarm of another agent",
      ["drift.alarmed", 0, (body, { other }) => ({ ...body, agent_id: other })],
      "drift_mismatch"
    ],
    ["a decision that was altered", ["decision.witnessed", 150, says({ run_id: "another" })], "drift_mismatch"],
    [
      "a policy that follows nobody",
      ["response_policy.changed", 0, { part: "policy", json: { rows: [] } }],
      "drift_mismatch"
    ],
    ["an activation that was left out", ["kill.activated", 0, LEFT_OUT], "response_mismatch"],
    ["an alarm that was left out", ["drift.alarmed", 0, LEFT_OUT], "response_mismatch"],
    ["an alarm that activates nothing", ["drift.alarmed", 0, without(["activation_id"])], "response_mismatch"],
    ["a milder response", ["kill.activated", 0, says({ response: "step_down" })], "response_mismatch"],
    ["an alarm by a person", ["drift.alarmed", 0, says({ writer: ann.id })], "writer_mismatch"]
  ] as ReadonlyArray<readonly [string, Altered<Effect.Success<typeof life>>, string]>)(
    "finds %s",
    ([, change, verdict]) => Effect.map(altered(change), (found) => assert.include(found, verdict))
  )
})
