import { assert, describe, it } from "@effect/vitest"
import { ReleaseNotAllowed } from "@flyball/contract"
import { fromBase64, killStatusBytes, parseVkey, portableCrypto, verifyEd25519 } from "@flyball/evidence"
import { type Context, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { CONFIRM_MS, type JsonMap, KILL_ACTIVATIONS, orgUnitDigest } from "@flyball/rules"
import { Chain } from "../../chain/chain.ts"
import { everyUnit } from "../../foundation/scope.ts"
import { type CommitTurn, Storage, type StorageApi } from "../../storage/port.ts"
import { ResponsePolicies } from "../response-policy/service.ts"
import { confirmStops } from "./confirm-stops.ts"
import { Capture } from "../capture/service.ts"
import { recordExpected } from "./expected.ts"
import { EPOCH_POLL_MS } from "./epoch-watch.ts"
import { planActivate } from "./plan-activate.ts"
import { AGENTS } from "../../registry/agents/document.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Models } from "../../registry/models/service.ts"
import { Provenance } from "../../registry/provenance/service.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { ann, ask, ben, findingsWith, governedAgent, key, recomputed } from "../evaluations/testing/refunds.ts"
import { Evaluations } from "../evaluations/service.ts"
import { Reviews } from "../reviews/service.ts"
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
      const stepped = yield* ask(agentId, { tool: "refund", amount: 5 })
      const explained = yield* Evaluations.use((evaluations) => evaluations.explain(stepped.id))
      assert.strictEqual(
        explained.tier_reason,
        `The agent is registered at L2 and acts at L1: the kill switch lowers it by one (${id}).`
      )
      assert.deepInclude(
        stepped.trace.find(({ step }) => step === "tier"),
        { id: "L1", failed_on: `the kill switch lowers it by one (${id})` }
      )
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

  it.effect("reaches a model under any of its names", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const models = yield* Models
      const { id: model } = yield* models.create({ provider: "acme", name: "big", version: "2" }, ben)
      const names = ["big", "acme/big", "big@2", "acme/big@2", model]
      const ids: Array<string> = []
      for (const [n, name] of names.entries()) {
        const { agentId } = yield* governedAgent(undefined, `bot ${n}`)
        yield* n % 2 === 0
          ? agents.update(agentId, { model_ids: [name] }, ben)
          : Provenance.use((provenance) => provenance.add(agentId, { kind: "model", name }, ben))
        ids.push(agentId)
      }
      const { agentId: other } = yield* governedAgent(undefined, "other bot")
      yield* agents.update(other, { model_ids: ["acme/big@3"] }, ben)
      for (const name of names) {
        const { activation_event: id, reach, warnings } = yield* activate(name, { target_type: "model" })
        assert.deepStrictEqual([reach.agent_count, warnings], [name === "big" || name === "acme/big" ? 6 : 5, []], name)
        for (const one of ids) assert.deepInclude(yield* outcome(one), { activation_event: id }, name)
        for (const one of names) assert.deepInclude(yield* status(one, "model"), { halted: true }, one)
        yield* release(id!)
      }
      assert.deepInclude(yield* activate("acme/small", { target_type: "model" }), { warnings: ["reaches_nobody"] })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("stops an agent by its exact name, and answers a repetition with the first", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent(undefined, "refund bot")
      const first = yield* activate("refund bot")
      assert.deepInclude(first.status, { target_id: agentId, halted: true })
      assert.strictEqual((yield* activate(agentId)).activation_event, first.activation_event)
      assert.notStrictEqual((yield* activate(agentId, { reason: "Another." })).activation_event, first.activation_event)
      assert.notStrictEqual((yield* activate(agentId, {}, ben)).activation_event, first.activation_event)
      yield* TestClock.adjust(10_000)
      assert.notStrictEqual((yield* activate(agentId)).activation_event, first.activation_event)
      assert.strictEqual(yield* tag(activate("nobody")), "AgentNotFound")
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("takes the response of the policy's row for manual where a person names none", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* ResponsePolicies.use((policies) =>
        policies.set(
          [{ scope: "agent", target: agentId, trigger: "manual", response: "drain", notify: [] }] as never,
          ben
        )
      )
      assert.deepInclude((yield* activate(agentId, { response: undefined })).status, { response: "drain" })
      assert.deepInclude((yield* activate("gpt-9", { target_type: "model", response: undefined })).status, {
        response: "halt"
      })
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

  it.effect("is released from L3 on by somebody other than its activator", () =>
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

const ack = (
  activation: string,
  instance: string,
  more: { readonly [name: string]: unknown } = {},
  scope = everyUnit
) =>
  Kill.use((kill) =>
    kill.ack({ activation_event: activation, instance_id: instance, stopped: false, ...more } as never, key, scope)
  )
const seen = (agentId: string, instance: string) =>
  ask(agentId, { tool: "search", amount: 5 }, { instance_id: instance })
const truth = (id: string) =>
  Effect.map(
    Kill.use((kill) => kill.activation(id)),
    ({ acknowledged, expected, instances, stopped, unconfirmed }) => ({
      counts: [expected, acknowledged, stopped, unconfirmed],
      states: instances.map(({ instance_id, state }) => `${instance_id} ${state}`)
    })
  )

describe("acknowledgements of an activation", () => {
  it.effect("expects the instances of the hour before, and counts what each of them says", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* seen(agentId, "old")
      yield* TestClock.adjust(3_600_001)
      yield* seen(agentId, "pod-2")
      yield* seen(agentId, "pod-1")
      yield* seen(agentId, "pod-2")
      const dry = yield* Kill.use((kill) =>
        kill.activate({ target_type: "agent", target_id: agentId, reason: "To see." }, ann, everyUnit, { dryRun: true })
      )
      assert.deepStrictEqual(
        dry.reach.instances!.map(({ instance_id }) => instance_id),
        ["pod-1", "pod-2"]
      )
      const activated = yield* activate(agentId)
      const id = activated.activation_event!
      assert.deepInclude(activated.reach, { instances: null, instance_count: null })
      assert.deepInclude(yield* Kill.use((kill) => kill.activation(id)), { expected: null, instances: [] })
      // What comes behind the activation is not expected, although it is read then.
      yield* seen(agentId, "pod-9")
      assert.deepStrictEqual([yield* recordExpected, yield* recordExpected], [1, 0])
      assert.deepStrictEqual(yield* truth(id), {
        counts: [2, 0, 0, 0],
        states: ["pod-1 requested", "pod-2 requested"]
      })
      assert.deepInclude(yield* ack(id, "pod-1"), { duplicate: false, stopped_at: null, in_flight: 0 })
      assert.deepInclude(yield* ack(id, "pod-1", { in_flight: 9 }), { duplicate: true, in_flight: 0 })
      assert.strictEqual(yield* tag(ack(id, "pod-3", { stopped: true, in_flight: 1 })), "InvalidInput")
      yield* ack(id, "pod-3", { stopped: true })
      yield* TestClock.adjust(CONFIRM_MS)
      assert.strictEqual(yield* confirmStops, 1)
      assert.strictEqual(yield* confirmStops, 0)
      assert.deepStrictEqual(yield* truth(id), {
        counts: [3, 2, 1, 1],
        states: ["pod-1 acknowledged", "pod-2 unconfirmed", "pod-3 stopped"]
      })
      yield* ack(id, "pod-1", { stopped: true })
      yield* ack(id, "pod-2")
      assert.deepStrictEqual(yield* truth(id), {
        counts: [3, 3, 2, 0],
        states: ["pod-1 stopped", "pod-2 acknowledged", "pod-3 stopped"]
      })
      yield* release(id)
      assert.strictEqual(yield* tag(ack(id, "pod-2", { stopped: true })), "ActivationReleased")
      assert.deepInclude(yield* ack(id, "pod-1", { stopped: true }), { duplicate: true })
      const kinds = Effect.map(
        Kill.use((kill) => kill.events({})),
        (entries) => entries.map(({ kind, instance_id }) => [kind, instance_id])
      )
      assert.deepStrictEqual(yield* kinds, [
        ["kill.released", null],
        ["kill.acknowledged", "pod-2"],
        ["kill.stopped", "pod-1"],
        ["kill.unconfirmed", null],
        ["kill.stopped", "pod-3"],
        ["kill.acknowledged", "pod-3"],
        ["kill.acknowledged", "pod-1"],
        ["kill.expected", null],
        ["kill.activated", null]
      ])
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("expects no instance that ended, unless it acted again", () =>
    Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const ended = (instance_id: string) =>
        Capture.use((capture) => capture.endInstance(agentId, { instance_id }, key))
      for (const name of ["back", "gone", "here", "late"]) yield* seen(agentId, name)
      for (const name of ["back", "gone", "gone", "never"]) yield* ended(name)
      yield* seen(agentId, "back")
      const id = (yield* activate(agentId)).activation_event!
      yield* ended("late")
      assert.strictEqual(yield* recordExpected, 1)
      assert.deepStrictEqual((yield* truth(id)).states, ["back requested", "here requested", "late requested"])
      assert.strictEqual(
        yield* tag(
          Capture.use((capture) =>
            capture.endInstance(agentId, { instance_id: "here" }, key, { orgUnits: ["elsewhere"] })
          )
        ),
        "AgentNotFound"
      )
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("refuses an acknowledgement of who is not reached, or is of another unit, and records nothing", () =>
    Effect.gen(function* () {
      const agent = yield* registered("bot", "ops")
      const other = yield* registered("other", "sales")
      const id = (yield* activate(agent.id)).activation_event!
      const model = (yield* activate("gpt-9", { target_type: "model" })).activation_event!
      const before = yield* Storage.use((storage) => storage.head)
      assert.strictEqual(yield* tag(ack(id, "pod", {}, { orgUnits: ["sales"] })), "ActivationNotFound")
      assert.strictEqual(yield* tag(ack(id, "pod", { agent_id: other.id })), "InvalidInput")
      assert.strictEqual(yield* tag(ack(model, "pod")), "InvalidInput")
      assert.strictEqual(yield* tag(ack(model, "pod", { agent_id: agent.id })), "InvalidInput")
      assert.strictEqual(yield* tag(ack(`kil_${"0".repeat(26)}`, "pod")), "ActivationNotFound")
      assert.deepStrictEqual(yield* Storage.use((storage) => storage.head), before)
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("a request of an agent's own key", () => {
  const request = (agentId: string, writer = key) =>
    Kill.use((kill) => kill.request({ agent_id: agentId, reason: "I pay twice." }, writer))
  const row = (response: "drain" | "halt") =>
    ResponsePolicies.use((policies) =>
      policies.set([{ scope: "default", trigger: "agent_request", response, notify: [] }] as never, ben)
    )

  it.effect("stops nothing without a row of the response policy, and is on record", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agent } = yield* agents.register({ name: "bot", org_unit: "ops" }, key)
      assert.deepInclude(yield* request(agent.id), { activation_event: null })
      assert.deepInclude(yield* status(agent.id), { halted: false, epoch: 0 })
      const [entry] = yield* Kill.use((kill) => kill.events({}))
      assert.deepInclude(entry, { kind: "kill.requested", agent_id: agent.id, actor: key.id, reason: "I pay twice." })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("activates with one, by the policy, and only for the key that registered the agent", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      yield* row("drain")
      const { agent } = yield* agents.register({ name: "bot", org_unit: "ops" }, key)
      const { agent: other } = yield* agents.register({ name: "other", org_unit: "ops" }, ben)
      assert.deepInclude(yield* request(other.id), { activation_event: null })
      const { activation_event: id } = yield* request(agent.id)
      assert.deepInclude(yield* Kill.use((kill) => kill.activation(id!)), {
        actor: "policy:agent_request",
        requested_by: key.id,
        response: "drain",
        reason: "I pay twice."
      })
      assert.strictEqual(yield* tag(release(id!, key)), "ReleaseNotAllowed")
      yield* release(id!)
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("a key that requests again and again", () => {
  it.effect("activates once while that holds, again where the policy asks for more, and after a release", () =>
    Effect.gen(function* () {
      const kill = yield* Kill
      const row = (response: "drain" | "halt") =>
        ResponsePolicies.use((policies) =>
          policies.set([{ scope: "default", trigger: "agent_request", response, notify: [] }] as never, ben)
        )
      yield* row("drain")
      const { agent } = yield* Agents.use((agents) => agents.register({ name: "bot", org_unit: "ops" }, key))
      const request = Effect.map(
        kill.request({ agent_id: agent.id, reason: "I pay twice." }, key),
        ({ activation_event: id }) => id!
      )
      const answers = yield* Effect.all([request, request, request], { concurrency: "unbounded" })
      assert.strictEqual(new Set(answers).size, 1)
      const log = yield* kill.events({})
      assert.deepStrictEqual(
        ["kill.requested", "kill.activated"].map((kind) => log.filter((one) => one.kind === kind).length),
        [3, 1]
      )
      yield* row("halt")
      const halted = yield* request
      assert.notInclude(answers, halted)
      assert.strictEqual(yield* request, halted)
      yield* release(halted)
      assert.notStrictEqual(yield* request, halted)
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("an agent that works for another", () => {
  it.effect("is stopped by its parent's halt, and by no halt of its children", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const parent = yield* registered("parent")
      const child = yield* agents.create({ name: "child", org_unit: "ops", parent_agent_id: parent.id }, ann)
      const grandchild = yield* agents.create({ name: "grandchild", org_unit: "ops", parent_agent_id: child.id }, ann)
      const { activation_event: id, reach } = yield* activate(child.id)
      assert.sameMembers([...reach.agents], [child.id, grandchild.id])
      assert.deepInclude(yield* status(grandchild.id), { halted: true, activation_event: id })
      assert.deepInclude(yield* status(parent.id), { halted: false })
      assert.deepInclude(yield* outcome(grandchild.id), { matched_rule: "@killed", activation_event: id })
      yield* release(id!)
      assert.deepInclude(yield* status(grandchild.id), { halted: false })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("targets inside", () => {
  it.effect("are an org unit, by its digest, and the whole deployment", () =>
    Effect.gen(function* () {
      const kill = yield* Kill
      const { agentId } = yield* governedAgent()
      const elsewhere = yield* registered("elsewhere", "sales")
      const input = {
        response: "halt",
        reason: null,
        drill: null,
        breakerId: null,
        actor: ann.id,
        requestedBy: null
      } as const
      const unit = orgUnitDigest((yield* Chain).originTag, "ops")
      const ops = yield* kill.activateTarget({ ...input, target: { type: "org_unit", id: unit } })
      assert.deepInclude(yield* outcome(agentId), { matched_rule: "@killed", activation_event: ops.activation_event })
      assert.deepInclude(yield* status(elsewhere.id), { halted: false })
      yield* release(ops.activation_event!)
      const all = yield* kill.activateTarget({ ...input, target: { type: "deployment", id: "deployment" } })
      assert.deepInclude(yield* status(elsewhere.id), { halted: true, activation_event: all.activation_event })
      assert.deepInclude(yield* status("gpt-9", "model"), { halted: true })
      assert.deepInclude(yield* outcome(agentId), { matched_rule: "@killed", activation_event: all.activation_event })
      assert.deepInclude(all.reach, { agent_count: 2, highest_tier: "L2" })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("what a key says", () => {
  it.effect("waits in turn with other keys, and not with the acts of people", () => {
    const turns: Array<readonly [kind: string, turn: CommitTurn | undefined]> = []
    const noting = (storage: StorageApi): StorageApi => ({
      ...storage,
      commit: (change) => {
        for (const { kind } of change.records ?? []) turns.push([kind, change.turn])
        return storage.commit(change)
      }
    })
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      const [kill, reviews] = [yield* Kill, yield* Reviews]
      const large = { tool: "refund", amount: 5_000 }
      const { review_id } = yield* ask(agentId, large, { args: large })
      turns.length = 0
      yield* reviews.withdraw(review_id!, {}, key)
      yield* kill.request({ agent_id: agentId, reason: "It pays twice." }, key)
      const { activation_event } = yield* activate(agentId)
      yield* kill.ack({ activation_event: activation_event!, instance_id: "a", in_flight: 0, stopped: false }, key)
      const own = { class: "act", key: key.id } as const
      assert.deepStrictEqual(turns, [
        ["review.cancelled", own],
        ["kill.requested", own],
        ["kill.activated", undefined],
        ["kill.acknowledged", own]
      ])
    }).pipe(Effect.provide(governorWorld(noting)))
  })
})

describe("what others know of the state", () => {
  it.effect("waits for a change and no longer than requested", () =>
    Effect.gen(function* () {
      const kill = yield* Kill
      const { id } = yield* registered("bot")
      const target = { type: "agent", id } as const
      const { tag: before } = (yield* kill.statusAfter(target, null, 0))!
      assert.isNull(yield* kill.statusAfter(target, before, 0))
      const waiting = yield* Effect.forkChild(kill.statusAfter(target, before, 25_000))
      const idle = yield* Effect.forkChild(kill.statusAfter(target, before, 200))
      yield* TestClock.adjust(200)
      assert.isNull(yield* Fiber.join(idle))
      const { activation_event } = yield* activate(id)
      const after = (yield* Fiber.join(waiting))!
      assert.deepInclude(after.status, { halted: true, activation_event })
      assert.notStrictEqual(after.tag, before)
      // What changes for another agent changes the epoch, and not what this status says.
      const other = yield* registered("other")
      yield* activate(other.id)
      assert.isNull(yield* kill.statusAfter(target, after.tag, 0))
      assert.deepInclude(yield* status(id), { epoch: 2, activation_event })
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is read for a halt of the agent, of its parent or of all, and not for those of others", () => {
    const read = { agents: 0, live: 0 }
    const counting = (storage: StorageApi): StorageApi => ({
      ...storage,
      get: (collection, id) => {
        if (collection === AGENTS) read.agents++
        return storage.get(collection, id)
      },
      find: (collection, key, value) => {
        if (collection === KILL_ACTIVATIONS && key === "state") read.live++
        return storage.find(collection, key, value)
      }
    })
    return Effect.gen(function* () {
      const kill = yield* Kill
      const parent = yield* registered("parent")
      const agents = yield* Agents
      const { agent: bot } = yield* agents.register({ name: "bot", org_unit: "ops", parent_agent_id: parent.id }, ann)
      const others = [yield* registered("a"), yield* registered("b")]
      const target = { type: "agent", id: bot.id } as const
      const { tag } = (yield* kill.statusAfter(target, null, 0))!
      const waiting = yield* Effect.forEach(Array.from({ length: 50 }), () =>
        Effect.forkChild(kill.statusAfter(target, tag, 25_000))
      )
      yield* Effect.yieldNow
      yield* activate(others[0]!.id)
      yield* Effect.yieldNow
      Object.assign(read, { agents: 0, live: 0 })
      yield* activate(others[1]!.id)
      yield* TestClock.adjust(1)
      // What the activation itself reads.
      assert.isBelow(read.agents, 10)
      assert.isBelow(read.live, 5)
      const { activation_event } = yield* activate(parent.id)
      for (const one of waiting) assert.deepInclude((yield* Fiber.join(one))!.status, { activation_event })
    }).pipe(Effect.provide(governorWorld(counting)))
  })

  it.effect("is found by polling where another process changed it", () => {
    let other: StorageApi | null = null
    return Effect.gen(function* () {
      const kill = yield* Kill
      const { id } = yield* registered("bot")
      const target = { type: "agent", id } as const
      const { tag: before } = (yield* kill.statusAfter(target, null, 0))!
      const waiting = yield* Effect.forkChild(kill.statusAfter(target, before, 25_000))
      // Under the store that notifies listeners: as another host commits.
      const planned = planActivate(
        {
          activationId: `kil_${"0".repeat(25)}1`,
          target,
          response: "halt",
          reason: null,
          drill: null,
          breakerId: null,
          actor: ann.id,
          requestedBy: null,
          reach: { highestTier: "L0", agents: 1, expects: [] }
        },
        { epoch: 0, version: 0 },
        { ms: 1, seq: 0 }
      )
      yield* other!.commit(planned.change)
      yield* TestClock.adjust(EPOCH_POLL_MS)
      assert.deepInclude((yield* Fiber.join(waiting))!.status, { halted: true, epoch: 1 })
    }).pipe(Effect.provide(governorWorld((storage) => (other = storage))))
  })

  it.effect("is signed for who sends a nonce, by the key of the checkpoints", () =>
    Effect.gen(function* () {
      const kill = yield* Kill
      const { id } = yield* registered("bot")
      const signed = yield* kill.status({ type: "agent", id }, everyUnit, "n-1")
      const [vkey] = yield* (yield* Chain).keys
      assert.deepInclude(signed, { nonce: "n-1", key_id: vkey!.key_id })
      const parsed = parseVkey(vkey!.vkey)
      const holds = (status: object): boolean =>
        verifyEd25519(
          portableCrypto,
          parsed.ok ? parsed.vkey.publicKey : new Uint8Array(),
          killStatusBytes(status as never),
          fromBase64(signed.signature!)!
        )
      assert.isTrue(holds(signed))
      // A status that was kept verifies after the person's text is erased from it.
      assert.isTrue(holds({ ...signed, reason: "x" }))
      assert.isFalse(holds({ ...signed, nonce: "n-2" }))
      assert.isFalse(holds({ ...signed, halted: true }))
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("what was said with a halt", () => {
  it.effect("stands in the status of every agent that it reaches, until it is erased", () =>
    Effect.gen(function* () {
      const kill = yield* Kill
      const { agentId } = yield* governedAgent()
      const target = { type: "agent", id: agentId } as const
      assert.isNull((yield* status(agentId)).reason)
      yield* activate(agentId)
      const before = (yield* kill.statusAfter(target, null, 0))!
      assert.deepInclude(before.status, { halted: true, reason: "Pays twice." })
      const [record] = yield* Storage.use((storage) => storage.records({ kinds: ["kill.activated"], limit: 1 }))
      const { seq } = record!
      yield* Erasure.use((erasure) => erasure.erase({ seq, name: "reason", reason: "subject_request" }, ann))
      // The epoch is the same: the view of it is kept, and the reason is not.
      const erased = yield* kill.statusAfter(target, before.tag, 0)
      assert.deepInclude(erased?.status, { halted: true, reason: null, epoch: before.status.epoch })
      yield* sound
    }).pipe(Effect.provide(governorWorld()))
  )
})

describe("an answer that is read while the state changes", () => {
  /** An effect that runs once, after this many more reads of an agent. */
  let meanwhile: Effect.Effect<unknown, unknown> | null = null
  let reads = 0
  const world = () =>
    governorWorld((storage) => ({
      ...storage,
      get: (collection, id) => {
        const first = collection === "agents" && meanwhile !== null && --reads === 0 ? meanwhile : null
        if (first !== null) meanwhile = null
        return first === null
          ? storage.get(collection, id)
          : Effect.andThen(Effect.orDie(first), storage.get(collection, id))
      }
    }))
  const atRead = <A, E, R>(read: number, effect: Effect.Effect<A, E, R>) =>
    Effect.contextWith((context: Context.Context<R>) =>
      Effect.sync(() => {
        reads = read
        meanwhile = Effect.provideContext(effect, context)
      })
    )

  it.effect("is halted at an epoch at which it was, though another activation has taken over", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("bot")
      const first = (yield* activate(id)).activation_event!
      // The first read asks whether there is such an agent.
      yield* atRead(2, Effect.andThen(activate(id, { response: "quarantine" }), release(first)))
      assert.deepInclude(yield* status(id), { halted: true, epoch: 1, activation_event: first })
      assert.deepInclude(yield* status(id), { halted: true, epoch: 3, effective_response: "quarantine" })
    }).pipe(Effect.provide(world()))
  )

  it.effect("refuses an acknowledgement with the release that came before it was looked up whom it reaches", () =>
    Effect.gen(function* () {
      const { id } = yield* registered("bot")
      const activation = (yield* activate(id)).activation_event!
      yield* atRead(1, release(activation))
      const acked = Kill.use((kill) =>
        kill.ack({ activation_event: activation, instance_id: "pod", stopped: false }, key)
      )
      assert.strictEqual(yield* tag(acked), "ActivationReleased")
      yield* sound
    }).pipe(Effect.provide(world()))
  )
})

describe("replay", () => {
  const changedTo = (kind: string, change: { readonly [name: string]: unknown }) =>
    Effect.map(
      findingsWith((record) => {
        const changed = Object.entries({ ...record.body, ...change }).filter(([, value]) => value !== undefined)
        return record.kind === kind ? { ...record, body: Object.fromEntries(changed) as JsonMap } : record
      }),
      (found) => found.map(({ verdict }) => verdict)
    )

  it.effect("finds what was allowed under a halt, and releases by who may not", () =>
    Effect.gen(function* () {
      const agents = yield* Agents
      const { agentId } = yield* governedAgent()
      yield* agents.update(agentId, { autonomy_tier: "L1" }, ben)
      const { activation_event: id } = yield* activate(agentId)
      yield* outcome(agentId)
      yield* release(id!)
      assert.deepStrictEqual(yield* changedTo("none", {}), [])
      const allowed = { outcome: "allow", matched_rule: "search" }
      assert.deepStrictEqual(yield* changedTo("evaluation.made", allowed), ["killed_but_allowed"])
      const unnamed = { ...allowed, activations: undefined }
      assert.deepStrictEqual(yield* changedTo("evaluation.made", unnamed), ["killed_but_allowed"])
      assert.deepStrictEqual(
        yield* changedTo("evaluation.made", {
          activations: [{ epoch: 1, id: id!, response: "halt", via: "model" }]
        }),
        ["activation_mismatch"]
      )
      assert.deepStrictEqual(yield* changedTo("kill.released", { writer: "breaker:errors" }), ["release_not_allowed"])
      assert.deepStrictEqual(yield* changedTo("kill.released", { writer: ann.id, highest_tier: "L3" }), [
        "release_not_allowed"
      ])
      assert.deepStrictEqual(yield* changedTo("kill.released", { writer: ann.id }), [])
    }).pipe(Effect.provide(governorWorld()))
  )
})
