/** Findings of replay about acknowledgements that who holds the key and the store altered or invented. */
import { assert, describe, it } from "@effect/vitest"
import { KILL_TTL_MS } from "@flyball/contract"
import { CONFIRM_MS } from "@flyball/rules"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../../registry/agents/service.ts"
import { registered } from "../../testing/governor-world.ts"
import { Capture } from "../capture/service.ts"
import { ann, key } from "../evaluations/testing/refunds.ts"
import { confirmStops } from "./confirm-stops.ts"
import { recordExpected } from "./expected.ts"
import { Kill } from "./service.ts"
import { type Altered, alteredLife, LEFT_OUT, says } from "./testing/altered.ts"

const NOBODY = `kil_${"0".repeat(26)}`

/**
 * A halt of an agent of which three instances are expected: `pod` acknowledges and then stops, `side` does both at
 * once, `lost` says nothing. `gone` ended before. It is released, and then a model is halted, which the agent leaves
 * meanwhile.
 */
const life = Effect.gen(function* () {
  const [agents, kill] = [yield* Agents, yield* Kill]
  const { id: agentId } = yield* registered("courier")
  const { id: other } = yield* registered("other")
  yield* agents.update(agentId, { model_ids: ["gpt-9"] }, ann)
  yield* Capture.use((capture) =>
    capture.witness(
      agentId,
      ["gone", "lost", "pod", "side"].map((instance_id) => ({
        client_ref: instance_id,
        kind: "tool_call" as const,
        action: "act",
        status: "ok" as const,
        instance_id
      })),
      key
    )
  )
  yield* Capture.use((capture) => capture.endInstance(agentId, { instance_id: "gone" }, key))
  const halt = (target_type: "agent" | "model", target_id: string) =>
    Effect.map(
      kill.activate({ target_type, target_id, response: "halt", reason: "It pays twice." }, ann),
      ({ activation_event }) => activation_event!
    )
  const ack = (activation_event: string, instance_id: string, stopped: boolean) =>
    kill.ack({ activation_event, agent_id: agentId, instance_id, stopped }, key)
  const first = yield* halt("agent", agentId)
  yield* ack(first, "pod", false)
  assert.strictEqual(yield* recordExpected, 1)
  yield* TestClock.adjust(1_000)
  yield* ack(first, "pod", true)
  yield* ack(first, "side", true)
  yield* TestClock.adjust(CONFIRM_MS)
  assert.strictEqual(yield* confirmStops, 1)
  yield* kill.release({ activation_event: first, reason: "Fixed." }, ann)
  const model = yield* halt("model", "gpt-9")
  yield* ack(model, "pod", true)
  yield* agents.update(agentId, { model_ids: [] }, ann)
  assert.strictEqual(yield* recordExpected, 1)
  return { agentId, first, model, other }
})

const altered = alteredLife(life)

describe("replay of acknowledgements", () => {
  it.effect("agrees with what was not altered", () =>
    Effect.map(altered(), (found) => assert.deepStrictEqual(found, []))
  )

  it("waits as long as the service does: twice the time that a status counts", () => {
    assert.strictEqual(CONFIRM_MS, 2 * KILL_TTL_MS)
  })

  it.effect.each([
    [
      "one of an activation that no record shows",
      ["kill.acknowledged", 0, says({ activation_id: NOBODY })],
      "reference"
    ],
    [
      "one by an agent that the halt does not reach",
      ["kill.acknowledged", 0, (body, { other }) => ({ ...body, agent_id: other })],
      "ack"
    ],
    [
      "one by an agent that the model's halt never reached",
      ["kill.acknowledged", 2, (body, { other }) => ({ ...body, agent_id: other })],
      "ack"
    ],
    [
      "one by an agent that nobody registered",
      ["kill.acknowledged", 0, says({ agent_id: `agt_${"0".repeat(26)}` })],
      "ack"
    ],
    [
      "one after the release",
      ["kill.acknowledged", 2, (body, { first }) => ({ ...body, activation_id: first })],
      "ack"
    ],
    ["a second one of an instance", ["kill.acknowledged", 1, says({ instance_id: "pod" })], "ack"],
    [
      "one that is older than its activation",
      ["kill.acknowledged", 0, says({ acknowledged_at: "1969-12-31T00:00:00.000Z" })],
      "ack"
    ],
    [
      "one that is younger than its record",
      ["kill.acknowledged", 0, says({ acknowledged_at: "1970-01-02T00:00:00.000Z" })],
      "ack"
    ],
    ["a stop without an acknowledgement", ["kill.stopped", 0, says({ instance_id: "lost" })], "ack"],
    ["a second stop of an instance", ["kill.stopped", 1, says({ instance_id: "pod" })], "ack"],
    ["a stop under another activation", ["kill.stopped", 0, says({ activation_id: NOBODY })], "reference"],
    [
      "silence that was recorded too early",
      ["kill.unconfirmed", 0, says({ unconfirmed_at: "1970-01-01T00:00:29.999Z" })],
      "ack"
    ],
    ["silence of more instances than were silent", ["kill.unconfirmed", 0, says({ instances: 2 })], "ack"],
    [
      "silence of another instance",
      ["kill.unconfirmed", 0, { part: "instances", json: [{ agent_id: "x", instance_id: "pod" }] }],
      "ack"
    ],
    ["silence where the instance had acknowledged", ["kill.acknowledged", 1, says({ instance_id: "lost" })], "ack"],
    [
      "silence under an activation that no record shows",
      ["kill.unconfirmed", 0, says({ activation_id: NOBODY })],
      "reference"
    ]
  ] as ReadonlyArray<readonly [string, Altered<Effect.Success<typeof life>>, "ack" | "reference"]>)(
    "finds %s",
    ([, change, verdict]) =>
      Effect.map(altered(change), (found) =>
        assert.include(found, verdict === "ack" ? "acknowledgement_mismatch" : "reference_mismatch")
      )
  )

  it.effect("cannot say who was silent where the instances are not shown", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* altered(["kill.expected", 0, { hides: "expected" }]), ["withheld", "withheld"])
      assert.deepStrictEqual(yield* altered(["kill.unconfirmed", 0, { hides: "instances" }]), ["withheld"])
    })
  )
})

describe("replay of whom an activation expects", () => {
  it.effect.each([
    ["one that leaves out an instance that acted", "activation_mismatch", [["pod"], ["side"]]],
    ["one with an instance that had ended", "activation_mismatch", [["gone"], ["lost"], ["pod"], ["side"]]],
    ["one with an instance that never acted", "activation_mismatch", [["lost"], ["new"], ["pod"], ["side"]]],
    [
      "one with an instance of an agent that is not reached",
      "activation_mismatch",
      [["lost"], ["pod"], ["side", "other"]]
    ]
  ] as ReadonlyArray<readonly [string, string, ReadonlyArray<readonly [string, string?]>]>)(
    "finds %s",
    ([, verdict, instances]) =>
      Effect.gen(function* () {
        const listed = (agentId: string, other: string) =>
          instances.map(([instance_id, of]) => ({ agent_id: of === undefined ? agentId : other, instance_id }))
        let part: ReadonlyArray<unknown> = []
        const found = yield* altered(
          [
            "kill.activated",
            0,
            (body, { agentId, other }) => {
              part = listed(agentId, other)
              return body
            }
          ],
          ["kill.expected", 0, says({ expected: instances.length })],
          [
            "kill.expected",
            0,
            {
              part: "expected",
              get json() {
                return part
              }
            }
          ]
        )
        assert.include(found, verdict)
      })
  )

  it.effect.each([
    [
      "an instance that a decision before it names otherwise",
      ["decision.witnessed", 0, says({ instance_id: "else" })],
      "activation"
    ],
    ["an instance that a record before it ends", ["instance.ended", 0, says({ instance_id: "pod" })], "activation"],
    ["no instance whose end is left out", ["instance.ended", 0, LEFT_OUT], "activation"],
    [
      "the end of an agent's instance that is not registered",
      ["instance.ended", 0, says({ agent_id: `agt_${"0".repeat(26)}` })],
      "reference"
    ],
    ["another number than it lists", ["kill.expected", 0, says({ expected: 2 })], "activation"],
    ["a number that it could have listed", ["kill.expected", 0, says({ unlisted: 1 })], "activation"],
    ["a second one", ["kill.expected", 1, (body, { first }) => ({ ...body, activation_id: first })], "activation"],
    ["one of an activation that no record shows", ["kill.expected", 0, says({ activation_id: NOBODY })], "reference"],
    ["one by a person", ["kill.expected", 0, says({ writer: "usr_00000000000000000000000000" })], "writer"],
    ["silence that is recorded before it", ["kill.expected", 0, LEFT_OUT], "acknowledgement"]
  ] as ReadonlyArray<readonly [string, Altered<Effect.Success<typeof life>>, string]>)(
    "finds %s",
    ([, change, verdict]) => Effect.map(altered(change), (found) => assert.include(found, `${verdict}_mismatch`))
  )
})
