/** Findings of replay in a chain in which an agent's life, a drill, the channel's check or a key were altered. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { IngestKeys } from "../../registry/ingest-keys/service.ts"
import { Agents } from "../../registry/agents/service.ts"
import { registered } from "../../testing/governor-world.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { checkChannel } from "../../verdicts/drills/channel-check.ts"
import { Drills } from "../../verdicts/drills/service.ts"
import { ann, ask, ben, governedAgent } from "../../verdicts/evaluations/testing/refunds.ts"
import { type Altered, alteredLife, LEFT_OUT, says } from "../../verdicts/kill/testing/altered.ts"

const DAY_MS = 86_400_000
const NOBODY = `agt_${"0".repeat(26)}`

/** A drilled agent that acts, is suspended and ends; a check of the channel; a key that writes and is revoked. */
const life = Effect.gen(function* () {
  const [agents, drills, keys] = [yield* Agents, yield* Drills, yield* IngestKeys]
  const { agentId } = yield* governedAgent()
  const { id: other } = yield* registered("other")
  const { id: keyId } = yield* keys.mint({ name: "courier", org_unit: "ops", max_autonomy_tier: "L2" }, ann)
  const witness = (client_ref: string) =>
    Capture.use((capture) =>
      capture.witness(agentId, [{ client_ref, kind: "tool_call", action: "pay", status: "ok" }], { id: keyId })
    )
  yield* witness("first")
  yield* drills.start(
    { target_type: "agent", target_id: agentId, mode: "shadow", scenario: "One is stopped.", slo_ms: 1_000 },
    ann
  )
  yield* checkChannel
  yield* ask(agentId, { tool: "search" })
  yield* agents.suspend(agentId, {}, ben)
  yield* witness("second")
  yield* keys.revoke(keyId, ann)
  yield* TestClock.adjust(2 * DAY_MS)
  yield* agents.recertify(agentId, { recert_due_at: new Date(90 * DAY_MS).toISOString() }, ben)
  yield* agents.activate(agentId, ben)
  yield* ask(agentId, { tool: "search" })
  yield* Capture.use((capture) =>
    capture.witness(agentId, [{ client_ref: "third", kind: "tool_call", action: "pay", status: "ok" }], ben)
  )
  yield* agents.decommission(agentId, ben)
  return { agentId, keyId, other }
})

const altered = alteredLife(life)

describe("replay of lives", () => {
  it.effect("agrees with what was not altered", () =>
    Effect.map(altered(), (found) => assert.deepStrictEqual(found, []))
  )

  it.effect.each([
    [
      "a decision that hides that its agent was suspended",
      ["decision.witnessed", 1, says({ agent_status: "active" })],
      "tier_mismatch"
    ],
    [
      "a decision of an agent that nobody registered",
      ["decision.witnessed", 0, says({ agent_id: NOBODY })],
      "reference_mismatch"
    ],
    ["a suspension that was left out", ["agent.suspended", 0, LEFT_OUT], "tier_mismatch"],
    [
      "an agent that is registered twice",
      ["agent.registered", 1, (body, { agentId }) => ({ ...body, agent_id: agentId })],
      "reference_mismatch"
    ],
    ["a real halt that is called an exercise", ["drill.started", 0, LEFT_OUT], "reference_mismatch"],
    [
      "an armed channel that no exercise went through",
      ["channel.checked", 0, says({ activation_id: `kil_${"0".repeat(26)}` })],
      "reference_mismatch"
    ],
    ["an armed channel whose exercise was not released", ["kill.released", 0, LEFT_OUT], "reference_mismatch"],
    [
      "an activation that is dated forward",
      ["kill.activated", 0, says({ activated_at: "1970-01-01T00:02:00.000Z" })],
      "activation_mismatch"
    ],
    [
      "a decision of a key that was revoked two days before",
      ["decision.witnessed", 2, (body, { keyId }) => ({ ...body, writer: keyId })],
      "withheld"
    ]
  ] as ReadonlyArray<readonly [string, Altered<Effect.Success<typeof life>>, string]>)(
    "finds %s",
    ([, change, verdict]) => Effect.map(altered(change), (found) => assert.include(found, verdict))
  )
})
