import { assert, describe, it } from "@effect/vitest"
import { ReleaseNotAllowed } from "@flyball/contract"
import { Effect } from "effect"
import { Agents } from "../../registry/agents/service.ts"
import { Provenance } from "../../registry/provenance/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { ann, ask, ben, governedAgent, recomputed } from "../evaluations/testing/refunds.ts"
import { Kill } from "./service.ts"

const activate = (target_id: string, more: { readonly [name: string]: unknown } = {}, writer = ann) =>
  Kill.use((kill) =>
    kill.activate(
      { target_type: "agent", target_id, response: "halt", reason: "Pays twice.", ...more } as never,
      writer
    )
  )
const release = (activation: string, writer = ben) =>
  Kill.use((kill) => kill.release({ activation_event: activation, reason: "Fixed." }, writer))
const status = (id: string, type: "agent" | "model" = "agent") => Kill.use((kill) => kill.status({ type, id }))
const outcome = (agentId: string, tool = "search") =>
  Effect.map(
    ask(agentId, { tool, amount: 5 }),
    ({ activation_event, effective_tier, epoch, matched_rule, outcome }) => ({
      activation_event,
      effective_tier,
      epoch,
      matched_rule,
      outcome
    })
  )
const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)
const sound = Effect.gen(function* () {
  assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
  assert.deepStrictEqual(
    (yield* recomputed).filter(({ verdict }) => verdict !== "ok"),
    []
  )
})

describe("the kill switch", () => {
  it.effect("denies every action of a halted agent, and none after the release", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      assert.deepInclude(yield* status(agentId), {
        halted: false,
        drill: false,
        since: null,
        activation_event: null,
        response: null,
        effective_response: null,
        epoch: 0,
        as_of_seq: null,
        ttl_ms: 15_000,
        origin: "flyball.example/test"
      })
      assert.deepInclude(yield* outcome(agentId), { outcome: "allow", activation_event: null, epoch: null })
      const activated = yield* activate(agentId)
      const id = activated.activation_event!
      assert.match(id, /^kil_/)
      assert.deepInclude(activated.status, {
        halted: true,
        drill: false,
        response: "halt",
        epoch: 1,
        activation_event: id
      })
      assert.deepInclude(activated.reach, { agents: [agentId], agent_count: 1, models: [], highest_tier: "L2" })
      assert.deepInclude(yield* outcome(agentId), {
        outcome: "deny",
        matched_rule: "@killed",
        activation_event: id,
        epoch: 1
      })
      const released = yield* release(id)
      assert.deepInclude(released, { activation_event: id, epoch: 2 })
      assert.deepInclude(released.status, { halted: false, response: null, epoch: 2 })
      assert.deepInclude(yield* outcome(agentId), { outcome: "allow", activation_event: null })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("has the most restrictive response of a set in force, and releasing one lifts no other", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const drain = (yield* activate(agentId, { response: "drain" })).activation_event!
      assert.deepInclude(yield* status(agentId), { halted: false, response: "drain", effective_response: "drain" })
      const halt = (yield* activate(agentId)).activation_event!
      const quarantine = (yield* activate(agentId, { response: "quarantine" })).activation_event!
      assert.deepInclude(yield* status(agentId), { halted: true, activation_event: quarantine, epoch: 3 })
      yield* release(quarantine)
      assert.deepInclude(yield* status(agentId), { halted: true, activation_event: halt })
      yield* release(halt)
      assert.deepInclude(yield* status(agentId), { halted: false, activation_event: drain })
      assert.deepInclude(yield* outcome(agentId), { outcome: "deny", matched_rule: "@killed", activation_event: drain })
      yield* release(drain)
      assert.deepInclude(yield* status(agentId), { response: null, epoch: 6 })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("lowers the effective tier by one under step_down, and changes nothing under notify", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* activate(agentId, { response: "notify" })
      assert.deepInclude(yield* outcome(agentId, "refund"), { outcome: "allow_with_notice", effective_tier: "L2" })
      const { activation_event: id } = yield* activate(agentId, { response: "step_down" })
      assert.deepInclude(yield* outcome(agentId, "refund"), {
        outcome: "require_review",
        effective_tier: "L1",
        activation_event: id
      })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("reaches every agent that names a model, by its model ids or its provenance, at once", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agentId } = yield* governedAgent()
      const { agentId: other } = yield* governedAgent(undefined, "other bot")
      const { activation_event: id, reach } = yield* activate("gpt-9", { target_type: "model" })
      assert.deepInclude(reach, { agents: [], agent_count: 0, models: ["gpt-9"], highest_tier: null })
      assert.deepInclude(yield* outcome(agentId), { outcome: "allow" })
      yield* agents.update(agentId, { model_ids: ["gpt-9"] }, ben)
      assert.deepInclude(yield* outcome(agentId), { outcome: "deny", matched_rule: "@killed", activation_event: id })
      assert.deepInclude(yield* outcome(other), { outcome: "allow" })
      yield* Provenance.use((provenance) => provenance.add(other, { kind: "model", name: "gpt-9" }, ben))
      assert.deepInclude(yield* outcome(other), { outcome: "deny", activation_event: id })
      assert.deepInclude(yield* status(other), { halted: true, activation_event: id })
      assert.deepInclude(yield* status("gpt-9", "model"), { halted: true, activation_event: id })
      assert.deepInclude(yield* status("gpt-8", "model"), { halted: false })
      assert.deepInclude((yield* release(id!)).reach, { agent_count: 2, highest_tier: "L2" })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("answers a dry run as the activation would be answered, and records nothing", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const input = { target_type: "agent", target_id: agentId, response: "halt", reason: "To see." } as const
      const dry = yield* Kill.use((kill) => kill.activate(input, ann, undefined, { dryRun: true }))
      assert.deepInclude(dry, { activation_event: null, epoch: 0 })
      assert.deepInclude(dry.reach, { agents: [agentId], agent_count: 1 })
      assert.deepInclude(yield* status(agentId), { halted: false, epoch: 0 })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is released from L3 on by somebody else than its activator", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const agent = yield* registered("bot")
      yield* agents.update(agent.id, { autonomy_tier: "L3" }, ben)
      const { activation_event: id } = yield* activate(agent.id)
      yield* agents.update(agent.id, { autonomy_tier: "L1" }, ben)
      assert.isTrue((yield* Effect.flip(release(id!, ann))) instanceof ReleaseNotAllowed)
      const { activation_event: lower } = yield* activate(agent.id)
      yield* agents.update(agent.id, { autonomy_tier: "L3" }, ben)
      assert.strictEqual(yield* tag(release(lower!, ann)), "ReleaseNotAllowed")
      assert.strictEqual(yield* tag(release(id!, { id: "breaker:errors" })), "ReleaseNotAllowed")
      const { activation_event: drain } = yield* activate(agent.id, { response: "drain" })
      yield* release(drain!, ann)
      yield* release(id!)
      assert.strictEqual(yield* tag(release(id!)), "ActivationReleased")
      assert.strictEqual(yield* tag(release(`kil_${"0".repeat(26)}`)), "ActivationNotFound")
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("answers what another unit has as if it were not there", () =>
    Effect.gen(function* () {
      const kill = yield* Kill
      const agent = yield* registered("bot", "ops")
      const there = { orgUnits: ["sales"] }
      const { activation_event: id } = yield* activate(agent.id)
      const input = { target_type: "agent", target_id: agent.id, response: "halt", reason: "x" } as const
      assert.strictEqual(yield* tag(kill.activate(input, ann, there)), "AgentNotFound")
      assert.strictEqual(yield* tag(kill.status({ type: "agent", id: agent.id }, there)), "AgentNotFound")
      assert.strictEqual(
        yield* tag(kill.release({ activation_event: id!, reason: "x" }, ann, there)),
        "ActivationNotFound"
      )
      assert.strictEqual(
        yield* tag(kill.activate({ ...input, target_type: "model", target_id: "gpt" }, ann, there)),
        "OrgUnitNotAllowed"
      )
      assert.deepInclude(yield* status(agent.id), { epoch: 1 })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )
})
