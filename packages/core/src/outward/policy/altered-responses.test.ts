/** Findings of replay in a chain in which the answers of the response policy were altered by who holds the key. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { suspendDue } from "../../registry/agents/clock.ts"
import { Agents } from "../../registry/agents/service.ts"
import { registered } from "../../testing/governor-world.ts"
import { Breakers } from "../../verdicts/breakers/service.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { ann, ben, key } from "../../verdicts/evaluations/testing/refunds.ts"
import { Kill } from "../../verdicts/kill/service.ts"
import { type Altered, alteredLife, LEFT_OUT, says, without } from "../../verdicts/kill/testing/altered.ts"
import { ResponsePolicies } from "../../verdicts/response-policy/service.ts"
import { followPolicy } from "./policy-follower.ts"

const MONTH_MS = 31 * 86_400_000
const OTHER_KEY = { id: `key_${"0".repeat(25)}9` }

/**
 * An agent whose key requests a stop: under no policy, under one that drains, while that holds, and after its release.
 * Then a breaker without a response of its own trips, and an agent without an owner is suspended.
 */
const life = Effect.gen(function* () {
  const [agents, breakers, kill, policies] = [yield* Agents, yield* Breakers, yield* Kill, yield* ResponsePolicies]
  const { agent } = yield* agents.register({ name: "courier", org_unit: "ops" }, key)
  const { id: other } = yield* registered("other")
  const request = Effect.map(
    kill.request({ agent_id: agent.id, reason: "I pay twice." }, key),
    ({ activation_event }) => activation_event
  )
  yield* request
  yield* policies.set(
    [
      { scope: "default", trigger: "agent_request", response: "drain", notify: [] },
      { scope: "org_unit", target: "ops", trigger: "breaker", response: "step_down", notify: [] },
      { scope: "agent", target: agent.id, trigger: "orphan", response: "quarantine", notify: [] }
    ],
    ann
  )
  const drained = yield* request
  assert.strictEqual(yield* request, drained)
  yield* kill.release({ activation_event: drained!, reason: "Fixed." }, ben)
  const again = yield* request
  yield* kill.release({ activation_event: again!, reason: "Fixed." }, ben)
  yield* breakers.arm(
    other,
    {
      name: "errors",
      metric: "error_rate",
      params: { window_ms: 3_600_000, min_samples: 1, threshold_bp: 5_000 },
      enabled: true,
      mode: "enforce"
    },
    ann
  )
  yield* Capture.use((capture) =>
    capture.witness(other, [{ client_ref: "1", kind: "tool_call", action: "pay", status: "error" }], key)
  )
  yield* breakers.check()
  yield* TestClock.adjust(MONTH_MS)
  yield* suspendDue
  while ((yield* followPolicy(false, 0)) > 0);
  yield* kill.activate({ target_type: "agent", target_id: other, response: "halt", reason: "It pays twice." }, ann)
  return { agentId: agent.id, other, drained: drained! }
})

const altered = alteredLife(life)

/** A policy of one row that answers requests, as the part of its record has it. */
const part = (response: string) => ({
  part: "policy",
  json: { rows: [{ notify: [], response, scope: "default", target: null, trigger: "agent_request" }] }
})

describe("replay of what the response policy answers", () => {
  it.effect("agrees with what was not altered", () =>
    Effect.map(altered(), (found) => assert.deepStrictEqual(found, []))
  )

  it.effect.each([
    ["a request that is answered with less than the policy says", ["kill.activated", 0, says({ response: "notify" })]],
    ["a request that is answered with more", ["kill.activated", 0, says({ response: "quarantine" })]],
    ["a request that stops another agent", ["kill.activated", 0, (body, { other }) => ({ ...body, target_id: other })]],
    ["a request of a key that did not register the agent", ["kill.requested", 1, says({ writer: OTHER_KEY.id })]],
    ["an activation of a key that requested nothing", ["kill.activated", 0, says({ requested_by: OTHER_KEY.id })]],
    ["an activation without its request", ["kill.requested", 1, LEFT_OUT]],
    ["a request whose activation was left out", ["kill.activated", 0, LEFT_OUT]],
    ["a request that is recorded as answered with nothing", ["kill.requested", 3, without(["activation_id"])]],
    ["a request that a policy would answer, which was dated back", ["response_policy.changed", 0, part("halt")]],
    [
      "an activation for requests that no row answers",
      ["response_policy.changed", 0, { part: "policy", json: { rows: [] } }]
    ],
    ["a second activation while the first holds", ["kill.released", 0, LEFT_OUT]],
    ["a halt by a person that names a key", ["kill.activated", 4, says({ requested_by: key.id })]],
    ["a halt by a rule that activates nothing", ["kill.activated", 4, says({ writer: "policy:drift" })]],
    ["a halt by a breaker that is none", ["kill.activated", 4, says({ writer: "breaker:errors" })]],
    ["a halt that is added to a suspension that never was", ["kill.activated", 4, says({ writer: "policy:orphan" })]],
    ["a halt that is added to a suspension, and not the policy's", ["kill.activated", 3, says({ response: "halt" })]],
    [
      "a response that is added to a suspension of another cause",
      ["kill.activated", 3, says({ writer: "policy:recert" })]
    ],
    ["a suspension that was left out before its response", ["agent.suspended", 0, LEFT_OUT]]
  ] as ReadonlyArray<readonly [string, Altered<Effect.Success<typeof life>>]>)("finds %s", ([, change]) =>
    Effect.map(altered(change), (found) => assert.include(found, "response_mismatch"))
  )

  it.effect("finds a breaker whose trip and halt are not the policy's", () =>
    Effect.gen(function* () {
      const found = yield* altered(
        ["breaker.tripped", 0, says({ response: "notify" })],
        ["kill.activated", 2, says({ response: "notify" })]
      )
      assert.deepStrictEqual(found, ["response_mismatch"])
    })
  )

  it.effect("accuses records that name no rules", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* altered(["kill.activated", 0, without(["rules"])]), ["rules_mismatch"])
      assert.deepStrictEqual(yield* altered(["kill.requested", 3, without(["rules"])]), ["rules_mismatch"])
    })
  )

  it.effect("cannot say where the policy is not shown", () =>
    Effect.gen(function* () {
      const found = yield* altered(["response_policy.changed", 0, { hides: "policy" }])
      assert.deepStrictEqual([...new Set(found)], ["withheld"])
    })
  )

  it.effect("judges nothing that newer rules chose", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* altered(["kill.activated", 0, says({ rules: 1_000, response: "quarantine" })]), [
        "withheld"
      ])
    })
  )
})
