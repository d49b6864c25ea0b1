/** Breakers on `kill_ack_missing`: live, in windows that are read again, in previews and in replay. */
import { assert, describe, it } from "@effect/vitest"
import type { BreakerCreate } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import type { AgentDocument, JsonMap, KillTarget } from "@flyball/rules"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { systemHost } from "../../foundation/writer.ts"
import { AGENTS } from "../../registry/agents/document.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Capture } from "../capture/service.ts"
import { checkChannel } from "../drills/channel-check.ts"
import { Drills } from "../drills/service.ts"
import { ann, ask, ben, findingsWith, governedAgent } from "../evaluations/testing/refunds.ts"
import { recordExpected } from "../kill/expected.ts"
import { Kill } from "../kill/service.ts"
import { breakerKeeper } from "./keeper.ts"
import { Breakers } from "./service.ts"

const MAX_MS = 20_000
const SCOPE = { isActive: true, orphanedSinceMs: null, firstBadSeq: null }

const armed = (agentId: string, more: Partial<BreakerCreate> = {}) =>
  Breakers.use((breakers) =>
    breakers.arm(
      agentId,
      {
        name: "silent",
        metric: "kill_ack_missing",
        params: { max_ms: MAX_MS },
        enabled: true,
        mode: "shadow",
        ...more
      },
      ann
    )
  )
let refs = 0
/** An agent with a breaker that names a model, and has an instance in the hour before. */
const watched = Effect.gen(function* () {
  const agents = yield* Agents
  const { agentId } = yield* governedAgent(undefined, "bot")
  yield* agents.update(agentId, { model_ids: ["gpt-9"] }, ben)
  yield* seen(agentId, "pod-1")
  return { agentId, breaker: yield* armed(agentId) }
})
const seen = (agentId: string, instance_id: string) =>
  Capture.use((capture) =>
    capture.witness(
      agentId,
      [{ client_ref: `s${refs++}`, kind: "tool_call", action: "pay", status: "ok", instance_id }],
      systemHost
    )
  )
const activate = (target: KillTarget, response: "drain" | "halt" | "notify" = "halt") =>
  Kill.use((kill) =>
    kill.activateTarget({
      target,
      response,
      reason: "Pays twice.",
      drill: null,
      breakerId: null,
      actor: ann.id,
      requestedBy: null
    })
  ).pipe(Effect.tap(() => recordExpected))
const ack = (activation_event: string, agent_id: string, instance_id = "pod-1") =>
  Kill.use((kill) => kill.ack({ activation_event, agent_id, instance_id, in_flight: 0, stopped: false }, systemHost))
const release = (activation_event: string) =>
  Kill.use((kill) => kill.release({ activation_event, reason: "Repaired." }, ben))

/** The value, which the running windows and those that another process reads from the chain agree on. */
const value = (agentId: string, breakerId: string) =>
  Effect.gen(function* () {
    const checked = (yield* Breakers.use((breakers) => breakers.check())).find((one) => one.breaker_id === breakerId)!
    const storage = yield* Storage
    const asOf = yield* storage.asOf
    const anew = (yield* breakerKeeper(storage).of(agentId, asOf))!.read(breakerId, asOf, SCOPE)!
    if (!checked.tripped) assert.deepStrictEqual([anew.value, anew.samples], [checked.value, checked.samples])
    return [Number(checked.value), checked.samples, checked.tripped]
  })

/** Findings of replay; `withParts` false: over a pack that discloses nothing. */
const findings = (withParts = true, change: (body: JsonMap) => JsonMap = (body) => body) =>
  findingsWith((record) => ({
    ...record,
    body: record.kind === "breaker.tripped" ? change(record.body) : record.body,
    parts: withParts || record.kind !== "kill.expected" ? record.parts : new Map()
  }))

describe("a breaker on unacknowledged halts", () => {
  it.effect("counts those of the agent, its models, its org unit, its parents and the deployment alike", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agentId: parentId } = yield* governedAgent(undefined, "parent")
      const { id: agentId } = yield* agents.create(
        { name: "child", org_unit: "ops", parent_agent_id: parentId, model_ids: ["gpt-9"] },
        ann
      )
      yield* seen(agentId, "pod-1")
      const breaker = yield* armed(agentId)
      const { orgUnitDigest } = (yield* (yield* Storage).get(AGENTS, agentId))!.body as unknown as AgentDocument
      const targets: ReadonlyArray<KillTarget> = [
        { type: "agent", id: agentId },
        { type: "agent", id: parentId },
        { type: "model", id: "gpt-9" },
        { type: "org_unit", id: orgUnitDigest! },
        { type: "deployment", id: "deployment" }
      ]
      for (const target of targets) {
        assert.deepStrictEqual(yield* value(agentId, breaker.id), [0, 0, false], target.type)
        const { activation_event: id } = yield* activate(target, target.type === "model" ? "drain" : "halt")
        yield* TestClock.adjust(1_500)
        assert.deepStrictEqual(yield* value(agentId, breaker.id), [1_500, 1, false], target.type)
        if (target.type === "agent") yield* release(id!)
        else yield* ack(id!, agentId)
      }
      assert.deepStrictEqual(yield* value(agentId, breaker.id), [0, 0, false])
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("leaves out drills, what forbids nothing, other agents' instances, and what was before it", () =>
    Effect.gen(function* () {
      const { agentId, breaker } = yield* watched
      const { agentId: other } = yield* governedAgent(undefined, "other")
      yield* seen(other, "pod-9")
      yield* activate({ type: "agent", id: agentId }, "notify")
      yield* activate({ type: "agent", id: other })
      yield* Drills.use((drills) =>
        drills.start(
          { target_type: "agent", target_id: agentId, mode: "live", scenario: "It pays twice.", slo_ms: 5_000 },
          ann
        )
      )
      yield* checkChannel
      yield* TestClock.adjust(5_000)
      assert.deepStrictEqual(yield* value(agentId, breaker.id), [0, 0, false])
      const later = yield* armed(other, { name: "later" })
      yield* TestClock.adjust(5_000)
      assert.deepStrictEqual(yield* value(other, later.id), [0, 0, false])
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("holds the oldest of several, long after windows were let go of", () =>
    Effect.gen(function* () {
      const { agentId, breaker } = yield* watched
      const { activation_event: first } = yield* activate({ type: "model", id: "gpt-9" })
      yield* TestClock.adjust(1_000)
      const { activation_event: second } = yield* activate({ type: "agent", id: agentId })
      // More records than a window that is read from its begin has, and more time than any reading reaches back.
      const storage = yield* Storage
      yield* Effect.forEach(Array.from({ length: 23 }), () =>
        Capture.use((capture) =>
          capture.witness(
            agentId,
            Array.from({ length: 100 }, () => ({
              client_ref: `m${refs++}`,
              kind: "tool_call" as const,
              action: "pay",
              status: "denied" as const
            })),
            systemHost
          )
        )
      )
      yield* TestClock.adjust(2 * 3_600_000)
      yield* seen(agentId, "pod-1")
      const anew = (yield* breakerKeeper(storage).of(agentId, yield* storage.asOf))!
      const reading = anew.read(breaker.id, yield* storage.asOf, SCOPE)
      assert.deepInclude(reading, { value: "7201000", samples: 2, tripped: true })
      yield* ack(first!, agentId)
      const asOf = yield* storage.asOf
      assert.deepInclude((yield* breakerKeeper(storage).of(agentId, asOf))!.read(breaker.id, asOf, SCOPE), {
        value: "7200000",
        samples: 1
      })
      yield* release(second!)
      const after = yield* storage.asOf
      assert.deepInclude((yield* breakerKeeper(storage).of(agentId, after))!.read(breaker.id, after, SCOPE), {
        value: "0",
        samples: 0
      })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect(
    "trips before an evaluation, and replay comes to the same, or withholds where instances are not shown",
    () =>
      Effect.gen(function* () {
        const { agentId } = yield* watched
        const enforcing = yield* armed(agentId, { name: "strict", mode: "enforce", response: "quarantine" })
        yield* activate({ type: "model", id: "gpt-9" }, "drain")
        yield* TestClock.adjust(MAX_MS)
        assert.strictEqual((yield* ask(agentId, { tool: "search" })).outcome, "deny")
        assert.strictEqual((yield* Breakers.use((breakers) => breakers.get(enforcing.id))).state, "armed")
        yield* TestClock.adjust(1)
        yield* ask(agentId, { tool: "search" })
        const tripped = yield* Breakers.use((breakers) => breakers.get(enforcing.id))
        assert.strictEqual(tripped.state, "tripped")
        assert.deepInclude(yield* Kill.use((kill) => kill.status({ type: "agent", id: agentId })), {
          response: "quarantine",
          activation_event: tripped.fired_event_id
        })
        assert.deepStrictEqual(yield* findings(), [])
        assert.deepStrictEqual(
          (yield* findings(true, (body) => ({ ...body, value: "20002" }))).map(({ verdict }) => verdict),
          ["breaker_value_mismatch", "breaker_value_mismatch"]
        )
        assert.deepStrictEqual(
          (yield* findings(false)).map(({ verdict }) => verdict).filter((verdict) => verdict !== "withheld"),
          []
        )
        const preview = yield* Breakers.use((breakers) =>
          breakers.preview(agentId, { metric: "kill_ack_missing", params: { max_ms: MAX_MS } })
        )
        assert.strictEqual(preview.trip_count, 1)
        assert.deepInclude(preview.trips[0], { value: "20001", at: formatInstant(MAX_MS + 1) })
      }).pipe(Effect.provide(governorWorld()))
  )
})
