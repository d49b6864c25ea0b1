/** Findings of replay in a chain in which a stop was altered by who holds the key and the store. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { systemHost } from "../../foundation/writer.ts"
import { Agents } from "../../registry/agents/service.ts"
import { registered } from "../../testing/governor-world.ts"
import { Breakers } from "../breakers/service.ts"
import { Capture } from "../capture/service.ts"
import { Drills } from "../drills/service.ts"
import { ann, ask, ben, governedAgent, key } from "../evaluations/testing/refunds.ts"
import { Kill } from "./service.ts"
import { type Altered, alteredLife, LEFT_OUT, says, without } from "./testing/altered.ts"

const HOUR = 3_600_000

/**
 * Two drilled agents; a breaker that trips; and a halt of a model that an agent at L3 uses.
 * Records are found by kind and number.
 */
const life = Effect.gen(function* () {
  const [agents, breakers, drills, kill] = [yield* Agents, yield* Breakers, yield* Drills, yield* Kill]
  const { agentId } = yield* governedAgent()
  const { id: other } = yield* registered("other")
  const { agent: high } = yield* agents.register(
    { name: "high", org_unit: "ops", autonomy_tier: "L3", model_ids: ["gpt-9"] },
    ann
  )
  const started: Array<string> = []
  for (const target_id of [agentId, other]) {
    const { activation_event, id } = yield* drills.start(
      { target_type: "agent", target_id, mode: "shadow", scenario: "One is stopped.", slo_ms: 1_000 },
      ann
    )
    yield* kill.ack({ activation_event, agent_id: target_id, instance_id: "pod", stopped: false }, key)
    started.push(id)
    yield* drills.complete(id, ann)
    yield* drills.attest(id, ben)
  }
  const { activation_event: model } = yield* kill.activate(
    { target_type: "model", target_id: "gpt-9", response: "halt", reason: "It pays twice." },
    ann
  )
  yield* kill.release({ activation_event: model!, reason: "Fixed." }, ben)
  yield* breakers.arm(
    agentId,
    {
      name: "errors",
      metric: "error_rate",
      params: { window_ms: HOUR, min_samples: 1, threshold_bp: 5_000 },
      enabled: true,
      mode: "enforce",
      response: "quarantine"
    },
    ann
  )
  const fails = (client_ref: string) =>
    Capture.use((capture) =>
      capture.witness(agentId, [{ client_ref, kind: "tool_call", action: "pay", status: "error" }], systemHost)
    )
  yield* fails("first")
  yield* breakers.check()
  yield* fails("second")
  yield* ask(agentId, { tool: "search" })
  return { agentId, drills: started, high: high.id, other }
})

const altered = alteredLife(life)

describe("replay of a stop", () => {
  it.effect("agrees with what was not altered", () =>
    Effect.map(altered(), (found) => assert.deepStrictEqual(found, []))
  )

  it.effect.each([
    ["an activation that begins another epoch", [["kill.activated", 2, says({ epoch: 9 })]], "activation_mismatch"],
    ["a release that begins no epoch", [["kill.released", 2, says({ epoch: 1 })]], "activation_mismatch"],
    ["a halt made by a key", [["kill.activated", 2, says({ writer: key.id })]], "writer_mismatch"],
    ["a breaker armed by a key", [["breaker.armed", 0, says({ writer: key.id })]], "writer_mismatch"],
    [
      "a halt at L3 released by who made it, and no tier in either record",
      [
        ["kill.activated", 2, without(["highest_tier"])],
        ["kill.released", 2, without(["highest_tier"], { writer: ann.id })]
      ],
      "release_not_allowed"
    ],
    ["a breaker's weaker activation", [["kill.activated", 3, says({ response: "notify" })]], "breaker_value_mismatch"],
    [
      "a trip and activation weaker than the breaker",
      [
        ["breaker.tripped", 0, says({ response: "notify" })],
        ["kill.activated", 3, says({ response: "notify" })]
      ],
      "breaker_value_mismatch"
    ],
    [
      "a breaker that stops another agent",
      [["kill.activated", 3, (body, { other }) => ({ ...body, target_id: other })]],
      "breaker_value_mismatch"
    ],
    ["a trip whose activation is not there", [["kill.activated", 3, LEFT_OUT]], "breaker_value_mismatch"],
    [
      "a drill of one agent that stopped another",
      [["kill.activated", 0, (body, { other }) => ({ ...body, target_id: other })]],
      "drill_result_mismatch"
    ],
    [
      "an attestation that counts for another agent",
      [["drill.attested", 0, (body, { high }) => ({ ...body, agent_id: high })]],
      "drill_result_mismatch"
    ],
    ["an attestation by a key", [["drill.attested", 0, says({ writer: key.id })]], "writer_mismatch"],
    [
      "a second attestation",
      [["drill.attested", 1, (body, { agentId, drills }) => ({ ...body, agent_id: agentId, drill_id: drills[0]! })]],
      "drill_result_mismatch"
    ],
    [
      "an attestation of what nobody acknowledged",
      [
        ["kill.acknowledged", 0, LEFT_OUT],
        ["drill.completed", 0, without(["max_ms", "p50_ms", "p95_ms"], { acknowledged: 0, expected: 0, met: false })]
      ],
      "drill_result_mismatch"
    ]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<Altered<Effect.Success<typeof life>>>, string]>)(
    "finds %s",
    ([, changes, verdict]) => Effect.map(altered(...changes), (found) => assert.include(found, verdict))
  )
})
