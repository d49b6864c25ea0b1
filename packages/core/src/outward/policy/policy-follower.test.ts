import { assert, describe, it } from "@effect/vitest"
import type { PolicyRow } from "@flyball/contract"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { systemHost as writer } from "../../foundation/writer.ts"
import { suspendDue } from "../../registry/agents/clock.ts"
import { Agents } from "../../registry/agents/service.ts"
import { ToolServers } from "../../screens/mcp/service.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Breakers } from "../../verdicts/breakers/service.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { ask, governedAgent } from "../../verdicts/evaluations/testing/refunds.ts"
import { Drills } from "../../verdicts/drills/service.ts"
import { Kill } from "../../verdicts/kill/service.ts"
import { ResponsePolicies } from "../../verdicts/response-policy/service.ts"
import { Replay } from "../replay/service.ts"
import { sendDueMails } from "../webhooks/mail-job.ts"
import { outside, outsideLayer, type Outside } from "../webhooks/testing/webhook-world.ts"
import { followPolicy, policyFollower } from "./policy-follower.ts"

const WEEK_MS = 7 * 86_400_000
const worldOf = (there: Outside, wrap?: (storage: StorageApi) => StorageApi) =>
  Layer.fresh(governorWorld(wrap)).pipe(Layer.provideMerge(outsideLayer(there)))
/** Ids of one millisecond are in no order. */
const register = (name: string, more = {}) =>
  Effect.andThen(
    TestClock.adjust(1),
    Agents.use((agents) =>
      Effect.map(
        agents.register(
          { name, org_unit: "ops", owner_name: "Ada", owner_email: `${name}-owner@example.org`, ...more },
          writer
        ),
        ({ agent }) => agent
      )
    )
  )
const row = (more: Partial<PolicyRow>): PolicyRow => ({
  scope: "default",
  target: null,
  trigger: "manual",
  response: "halt",
  notify: ["risk@example.org"],
  ...more
})
const policy = (...rows: ReadonlyArray<PolicyRow>) => ResponsePolicies.use((policies) => policies.set(rows, writer))
const halt = (id: string, type: "agent" | "model" = "agent") =>
  Kill.use((kill) =>
    kill.activate({ target_type: type, target_id: id, response: "halt", reason: "Pays twice." }, writer)
  )
/** Whom letters reach that follow from what has happened. */
const written = (there: Outside) =>
  Effect.gen(function* () {
    while ((yield* followPolicy(true, 0)) > 0);
    yield* sendDueMails
    return there.mails.splice(0).map(({ subject, to }) => [to, subject] as const)
  })

describe("the follower of the response policy", () => {
  it.effect("writes to the owner and to those whom the narrowest row names, once, and of no drill", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id } = yield* register("courier")
      yield* policy(row({}), row({ scope: "agent", target: id, notify: ["ward@example.org"] }))
      const { activation_event } = yield* halt(id)
      const subject = `Flyball: ${id} is under the response halt of the kill switch`
      assert.deepStrictEqual(yield* written(there), [
        ["courier-owner@example.org", subject],
        ["ward@example.org", subject]
      ])
      yield* Kill.use((kill) => kill.release({ activation_event: activation_event!, reason: "Fixed." }, writer))
      yield* Drills.use((drills) =>
        drills.start({ target_type: "agent", target_id: id, mode: "live", scenario: "x", slo_ms: 1 }, writer)
      )
      assert.deepStrictEqual(yield* written(there), [])
    }).pipe(Effect.provide(worldOf(there)))
  })

  it.effect("writes one letter to somebody with several agents, and names them", () => {
    const there = outside()
    return Effect.gen(function* () {
      for (const name of ["a", "b", "c"])
        yield* register(name, { model_ids: ["gpt-9"], owner_email: "ada@example.org" })
      yield* register("d")
      yield* halt("gpt-9", "model")
      while ((yield* followPolicy(true, 0)) > 0);
      yield* sendDueMails
      assert.deepStrictEqual(
        there.mails.map(({ subject, to }) => [to, subject]),
        [["ada@example.org", "Flyball: 3 agents: each is under the response halt of the kill switch"]]
      )
      assert.include(there.mails[0]!.text, "Trigger: manual")
      assert.match(there.mails[0]!.text, /^a \(agt_\w+\) is under/)
    }).pipe(Effect.provide(worldOf(there)))
  })

  it.effect("reports a breaker that only warns, and a halt that a key requests in vain", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id } = yield* register("courier")
      yield* policy(row({ trigger: "breaker" }), row({ trigger: "agent_request", scope: "tier", target: "L4" }))
      const input = { metric: "consecutive_failures", params: { max_count: 1 }, enabled: true } as const
      yield* Breakers.use((breakers) => breakers.arm(id, { ...input, name: "warns", mode: "warn" }, writer))
      yield* Capture.use((capture) =>
        capture.witness(id, [{ client_ref: "1", kind: "tool_call", action: "pay", status: "error" }], writer)
      )
      yield* Breakers.use((breakers) => breakers.check())
      yield* Kill.use((kill) => kill.request({ agent_id: id, reason: "I pay twice." }, { id: `key_${"0".repeat(26)}` }))
      const [tripped, requested] = [
        `Flyball: ${id} has a breaker that tripped (consecutive_failures)`,
        `Flyball: ${id} requested to be stopped and was not: an operator decides`
      ]
      assert.sameDeepMembers(
        [...(yield* written(there))],
        [
          ["courier-owner@example.org", tripped],
          ["risk@example.org", tripped],
          ["courier-owner@example.org", requested]
        ]
      )
    }).pipe(Effect.provide(worldOf(there)))
  })

  it.effect("writes to the owner and to those whom a row names that people must answer a review", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { agentId } = yield* governedAgent()
      yield* policy(row({ trigger: "review", response: "notify", notify: ["desk@example.org"] }))
      yield* ask(agentId, { tool: "refund", amount: 500 })
      assert.deepStrictEqual(yield* written(there), [])
      yield* ask(agentId, { tool: "refund", amount: 5_000 })
      const letters = yield* written(there)
      const subject = letters[0]![1]
      assert.match(subject, /^Flyball: agt_\w+ waits for people: an action needs a review until 1970-01-01T01:00:00/)
      assert.deepStrictEqual(letters, [
        ["ada@example.org", subject],
        ["desk@example.org", subject]
      ])
    }).pipe(Effect.provide(worldOf(there)))
  })

  it.effect("adds the response of a row to a suspension, never takes one away, and writes once", () => {
    const there = outside()
    return Effect.gen(function* () {
      const agents = yield* Agents
      const orphan = yield* register("orphan")
      const mild = yield* register("mild", { org_unit: "ward 7" })
      yield* policy(
        row({ trigger: "orphan", response: "quarantine" }),
        row({
          trigger: "orphan",
          scope: "org_unit",
          target: "ward 7",
          response: "notify",
          notify: ["ward@example.org"]
        })
      )
      for (const { id } of [orphan, mild]) {
        yield* agents.activate(id, writer)
        yield* agents.disown(id, { reason: "left" }, writer)
      }
      yield* TestClock.adjust(WEEK_MS)
      yield* suspendDue
      const letters = yield* written(there)
      assert.sameDeepMembers(
        letters.map(([to]) => to),
        ["risk@example.org", "ward@example.org"]
      )
      const status = (id: string) => Kill.use((kill) => kill.status({ type: "agent", id }))
      assert.deepInclude(yield* status(orphan.id), { halted: true, response: "quarantine" })
      assert.deepInclude(yield* status(mild.id), { halted: false, response: null })
      for (const { id } of [orphan, mild]) assert.deepInclude(yield* agents.get(id), { status: "suspended" })
      const { activation_event } = yield* status(orphan.id)
      assert.deepInclude(yield* Kill.use((kill) => kill.activation(activation_event!)), { actor: "policy:orphan" })
      assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
    }).pipe(Effect.provide(worldOf(there)))
  })

  it.effect("stops an agent that saw a tool server change, where a row says so, and for no tool that only came", () =>
    Effect.gen(function* () {
      const { id } = yield* register("courier")
      yield* policy(row({ trigger: "mcp", response: "drain" }))
      const list = (...descriptions: ReadonlyArray<string>) =>
        ToolServers.use((servers) =>
          servers.upload(
            {
              agent_id: id,
              manifest: { tools: descriptions.map((description, at) => ({ name: `t${at}`, description })) }
            },
            writer
          )
        )
      const status = Kill.use((kill) => kill.status({ type: "agent", id }))
      yield* list("Pays.")
      yield* list("Pays.", "Reads.")
      yield* followPolicy(false, 0)
      assert.deepInclude(yield* status, { response: null })
      yield* list("Pays twice.", "Reads.")
      yield* followPolicy(false, 0)
      assert.deepInclude(yield* status, { response: "drain" })
    }).pipe(Effect.provide(worldOf(outside())))
  )

  it.effect("forgets a letter whose reader neither owns an agent nor is named any more", () => {
    const there = outside()
    return Effect.gen(function* () {
      const { id } = yield* register("courier")
      yield* policy(row({}))
      yield* halt(id)
      while ((yield* followPolicy(true, 0)) > 0);
      yield* policy()
      yield* sendDueMails
      assert.deepStrictEqual(
        there.mails.map(({ to }) => to),
        ["courier-owner@example.org"]
      )
      const waiting = yield* Storage.use((storage) => storage.find("mails", "waiting", "yes"))
      assert.deepStrictEqual(waiting, [])
    }).pipe(Effect.provide(worldOf(there)))
  })

  it.effect("follows as a job, in one process of two", () => {
    const there = outside()
    return Effect.gen(function* () {
      yield* Layer.build(Layer.fresh(policyFollower))
      yield* Layer.build(Layer.fresh(policyFollower))
      yield* TestClock.adjust(5_000)
      const { id } = yield* register("courier")
      yield* halt(id)
      yield* TestClock.adjust(5_000)
      yield* sendDueMails
      assert.lengthOf(there.mails, 1)
    }).pipe(Effect.scoped, Effect.provide(worldOf(there)))
  })

  it.effect("takes its lease at once for an event of the policy, and not for others", () => {
    let leases = 0
    const counted = (storage: StorageApi): StorageApi => ({
      ...storage,
      lease: (name, holder, leaseMs) =>
        Effect.suspend(() => {
          if (name === "policy_follower") leases++
          return storage.lease(name, holder, leaseMs)
        })
    })
    return Effect.gen(function* () {
      yield* Layer.build(Layer.fresh(policyFollower))
      const { id } = yield* register("courier")
      yield* register("another")
      yield* TestClock.adjust(1)
      assert.strictEqual(leases, 1)
      yield* halt(id)
      yield* TestClock.adjust(1)
      assert.strictEqual(leases, 2)
    }).pipe(Effect.scoped, Effect.provide(worldOf(outside(), counted)))
  })
})
