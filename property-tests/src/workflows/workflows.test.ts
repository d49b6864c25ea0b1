/** Workflows over a governor in memory: calls, answers of people, slots, ends, and what replay finds of lies. */
import { assert, describe, it } from "@effect/vitest"
import type { Execution, WorkflowCreate } from "@flyball/contract"
import {
  type AgentCall,
  type AgentCalled,
  Agents,
  Egress,
  Envelopes,
  Erasure,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  ephemeralKeys,
  Kill,
  layerOf,
  memoryStorage,
  PlatformKeys,
  Reviews,
  SecretBox,
  systemHost
} from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import type { JsonMap, ReplayRecord } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { executionKinds } from "../../../packages/evidence/src/kinds/executions.ts"
import { isFound, liesAbout, type Timed } from "../replay/lies.ts"
import { namedLies } from "../replay/named-lies.ts"
import { recorded } from "../../../packages/core/src/testing/recorded.ts"
import { findingsWith } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { platform } from "../../../packages/platform/src/index.ts"
import { Workflows } from "../../../packages/platform/src/workflows/service.ts"

const ann = { id: `usr_${"0".repeat(25)}1` }
const ben = { id: `usr_${"0".repeat(25)}2` }
const key = { id: `pky_${"0".repeat(25)}3` }
const person = (
  writer: { readonly id: string },
  roles: ReadonlyArray<"reviewer" | "operator" | "admin"> = ["reviewer"]
) => ({ writer, roles }) as const

type Answer = { readonly status: number | null; readonly json?: unknown; readonly isCut?: boolean } | "never"
/** A world whose agents answer what the test says, and write down what they were sent. */
const world = (answers: ReadonlyArray<Answer> = []) => {
  const calls: Array<AgentCall> = []
  const egress = Layer.succeed(Egress, {
    call: (call) =>
      Effect.suspend((): Effect.Effect<AgentCalled> => {
        const answer = answers[calls.push(call) - 1] ?? { status: 200, json: { n: calls.length } }
        if (answer === "never") return Effect.never
        const { isCut = false, json, status } = answer
        return Effect.succeed({
          statusCode: status,
          errorCode: status === null ? "connect" : null,
          body: json === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(json)),
          isComplete: !isCut,
          isTooLarge: false,
          durationMs: 5,
          retryAfterMs: null
        })
      }),
    stream: () => Effect.die(new Error("no workflow reads a stream")),
    urlProblem: (url) => (url.includes("10.0.0.1") ? "URL leads to a private address" : null),
    headersProblem: () => null
  })
  const box = Layer.succeed(SecretBox, {
    keyId: "trial",
    seal: (secret) => Effect.succeed(Uint8Array.from(secret, (byte) => byte ^ 90)),
    open: (sealed) => Effect.succeed(Uint8Array.from(sealed, (byte) => byte ^ 90))
  })
  const layer = governorLayer({ origin: "flyball.example/test", capabilities: [platform({ usdInr: 80 })] }).pipe(
    Layer.provideMerge(layerOf(memoryStorage())),
    Layer.provide(Layer.mergeAll(keysLayerOf(ephemeralKeys()), egress, box))
  )
  // The cast: services of capabilities are not in the type of the layer.
  return { calls, layer: layer as Layer.Layer<GovernorServices | Storage | Workflows, unknown> }
}

const sendStep = (id: string, agent: string, more: object = {}) => ({
  id,
  type: "agent" as const,
  agent,
  request: { url: "https://agent.example/run", method: "POST" as const, body: { order: "{{inputs.order}}" } },
  ...more
})
const gate = (id: string, more: object = {}) => ({ id, type: "approval" as const, title: "Refund?", ...more })

/** An agent whose envelope allows amounts up to 100, and asks people above. */
const clerk = Effect.gen(function* () {
  const { agent } = yield* Agents.use((agents) =>
    agents.register({ name: "clerk", org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" }, systemHost)
  )
  const { id } = yield* Envelopes.use((envelopes) =>
    envelopes.create(
      {
        name: "orders",
        agent_id: agent.id,
        envelope: {
          semantics: "envelope/1",
          signals: { amount: { type: "int", min: 0, max: 10_000, source: "caller", on_missing: 0 } },
          effects: { "*": "write_reversible" },
          rules: [
            { id: "small", outcome: "allow", when: [{ signal: "amount", lte: 100 }] },
            {
              id: "large",
              outcome: "require_review",
              when: [{ signal: "amount", between: [101, 5_000] }],
              obligations: [{ type: "reviewers", role: "reviewer", approvals: 1, ttl_ms: 3_600_000 }]
            }
          ],
          default: { outcome: "deny" }
        }
      },
      ann
    )
  )
  yield* Envelopes.use((envelopes) => envelopes.publish(id, {}, ben))
  yield* Agents.use((agents) => agents.update(agent.id, { autonomy_tier: "L2" }, ben))
  yield* Agents.use((agents) => agents.activate(agent.id, ben))
  return agent.id
})

const create = (steps: ReadonlyArray<object>, more: Partial<WorkflowCreate> = {}) =>
  Workflows.use((workflows) =>
    workflows.create("ops", { name: "refund", steps: steps as WorkflowCreate["steps"], ...more }, ann)
  )
const start = (workflowId: string, inputs: JsonMap = {}, by = { writer: ann, cap: 10 }) =>
  Workflows.use((workflows) => workflows.start("ops", workflowId, inputs, by))
const get = (id: string) => Workflows.use((workflows) => workflows.get("ops", id))
const decide = (id: string, approved: boolean, who: Parameters<typeof person>[0] = ben, more: object = {}) =>
  Effect.gen(function* () {
    const waiting = (yield* get(id)).waiting
    const named = waiting === undefined ? {} : { approval_id: waiting.id }
    return yield* (yield* Workflows).decide("ops", id, { approved, ...named, ...more }, person(who))
  })

/** Rounds of the engine until the execution has one of these statuses. */
const until = (id: string, ...statuses: ReadonlyArray<Execution["status"]>) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 200; tries++) {
      const found = yield* get(id)
      if (statuses.includes(found.status)) return found
      yield* Workflows.use((workflows) => workflows.round)
      for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow
    }
    return yield* Effect.die(new Error(`${id} is ${(yield* get(id)).status}`))
  })

const findings = (change: (record: ReplayRecord) => ReplayRecord = (record) => record) =>
  Effect.map(findingsWith(change), (found) => found.map(({ verdict }) => verdict))

describe("an execution", () => {
  it.effect("calls agents, asks a person, and goes on as it was answered", () => {
    const { calls, layer } = world([{ status: 200, json: { score: 7 } }])
    return Effect.gen(function* () {
      const agent = yield* clerk
      const workflow = yield* create([
        sendStep("score", agent, {
          cost: { usd: 0.25 },
          request: {
            url: "https://agent.example/run",
            method: "POST",
            headers: { authorization: "Bearer s" },
            body: { order: "{{inputs.order}}" }
          }
        }),
        gate("ok", { subject: { score: "{{steps.score.output.score}}", text: "order {{inputs.order.id}}" } }),
        sendStep("pay", agent, {
          signals: { amount: "{{inputs.amount}}" },
          request: { url: "https://agent.example/run", method: "POST", body: { score: "{{steps.score.output}}" } }
        })
      ])
      assert.notInclude(JSON.stringify(workflow), "Bearer")
      const queued = yield* start(workflow.id, { order: { id: "o1" }, amount: 5 })
      assert.deepInclude(queued, { status: "queued", duration_ms: null, completed_at: null })
      const waiting = yield* until(queued.id, "waiting_approval")
      assert.deepStrictEqual(waiting.waiting!.subject, { score: 7, text: "order o1" })
      assert.strictEqual(calls.length, 1)
      assert.deepInclude(calls[0]!.headers, { authorization: "Bearer s", "idempotency-key": `"${queued.id}:score"` })
      assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(calls[0]!.body)), { order: { id: "o1" } })
      const decided = yield* decide(queued.id, true, ben, { notes: "fine", approval_id: waiting.waiting!.id })
      assert.deepInclude(decided, { status: "running" })
      assert.deepInclude(decided.approval, { approved: true, decided_by: ben.id, notes: "fine" })
      const done = yield* until(queued.id, "completed")
      assert.strictEqual(calls.length, 2)
      assert.deepStrictEqual(done.outputs, { score: { score: 7 }, pay: { n: 2 } })
      assert.deepStrictEqual(done.cost, { usd: 0.25, inr: 20 })
      assert.deepStrictEqual(
        done.steps.map(({ agent: who, status }) => [who, status]),
        [
          [agent, "completed"],
          ["human", "completed"],
          [agent, "completed"]
        ]
      )
      // The same answer of the same person again; another one is refused.
      assert.deepStrictEqual((yield* decide(queued.id, true)).approval, decided.approval)
      assert.strictEqual((yield* Effect.flip(decide(queued.id, false)))._tag, "ApprovalAlreadyDecided")
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("is not approved by its starter, by another role, too early, twice or for another subject", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      const workflow = yield* create([gate("ok", { approvers: { role: "operator" } }), gate("sure")])
      const { id } = yield* start(workflow.id)
      const refused = (effect: ReturnType<typeof decide>) => Effect.map(Effect.flip(effect), ({ _tag }) => _tag)
      assert.strictEqual(yield* refused(decide(id, true)), "ExecutionNotWaiting")
      const first = yield* until(id, "waiting_approval")
      const as = (
        writer: typeof ann,
        roles: ReadonlyArray<"reviewer" | "operator" | "admin"> | null,
        more: object = {}
      ) => Workflows.use((workflows) => workflows.decide("ops", id, { approved: true, ...more }, { writer, roles }))
      assert.strictEqual(yield* refused(as(ann, ["admin"])), "ApprovalNotEligible")
      assert.strictEqual(yield* refused(as(ben, ["reviewer"])), "ApprovalNotEligible")
      assert.strictEqual(yield* refused(as(key, null)), "ApprovalNotEligible")
      assert.strictEqual(
        yield* refused(as(ben, ["admin"], { subject_digest: `sha256:${"0".repeat(64)}` })),
        "ApprovalStale"
      )
      assert.strictEqual(yield* refused(as(ben, ["admin"], { approval_id: `apv_${"0".repeat(26)}` })), "ApprovalStale")
      yield* as(ben, ["admin"], { subject_digest: first.waiting!.subject_digest })
      yield* until(id, "waiting_approval")
      const second = yield* get(id)
      assert.strictEqual(second.waiting!.step_id, "sure")
      // The answer to the step before, again, is the first one.
      const again = yield* as(ben, ["admin"], { approval_id: first.waiting!.id })
      assert.strictEqual(again.approval.id, first.waiting!.id)
      const rejected = yield* as(key, null, { approved: false })
      assert.deepInclude(rejected, { status: "failed" })
      assert.deepInclude(rejected.error, { code: "approval_rejected", step_id: "sure" })
      assert.strictEqual(yield* refused(as(key, null)), "ApprovalAlreadyDecided")
      assert.strictEqual(
        (yield* Effect.flip(Workflows.use((workflows) => workflows.cancel("ops", id, ann))))._tag,
        "ExecutionFinal"
      )
      assert.strictEqual(
        (yield* Effect.flip(Workflows.use((workflows) => workflows.get("other", id))))._tag,
        "ExecutionNotFound"
      )
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("fails closed when nobody answers, and waits as long as a delay says", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      const workflow = yield* create([{ id: "pause", type: "delay", ms: 60_000 }, gate("ok", { expires_in_s: 3_600 })])
      const { id } = yield* start(workflow.id)
      yield* until(id, "running")
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual((yield* until(id, "running")).steps[0]!.status, "running")
      yield* TestClock.adjust("1 seconds")
      yield* until(id, "waiting_approval")
      yield* TestClock.adjust("1 hours")
      assert.strictEqual((yield* Effect.flip(decide(id, true)))._tag, "ExecutionNotWaiting")
      const failed = yield* until(id, "failed")
      assert.deepInclude(failed.error, { code: "approval_expired", step_id: "ok" })
      assert.strictEqual(failed.steps[0]!.duration_ms, 60_000)
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("holds a slot while it runs and none while it waits, and keeps to its plan", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      const asking = yield* create([gate("ok"), { id: "rest", type: "delay", ms: 5_000 }])
      const by = { writer: ann, cap: 2 }
      const ids = yield* Effect.forEach([1, 2, 3, 4], () => Effect.map(start(asking.id, {}, by), ({ id }) => id))
      for (const id of ids) yield* until(id, "waiting_approval")
      assert.deepStrictEqual(yield* Effect.forEach(ids, (id) => Effect.map(decide(id, true), ({ status }) => status)), [
        "running",
        "running",
        "queued",
        "queued"
      ])
      yield* Workflows.use((workflows) => workflows.round)
      for (let turn = 0; turn < 200; turn++) yield* Effect.yieldNow
      yield* TestClock.adjust("5 seconds")
      for (const id of ids.slice(0, 2)) yield* until(id, "completed")
      for (const id of ids.slice(2)) yield* until(id, "running")
      yield* TestClock.adjust("5 seconds")
      for (const id of ids.slice(2)) yield* until(id, "completed")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("goes on in one org unit while every agent of another hangs", () => {
    const { calls, layer } = world(Array.from({ length: 300 }, () => "never" as const))
    return Effect.gen(function* () {
      const hanging = yield* create([sendStep("call", yield* clerk)])
      const by = { writer: ann, cap: 1_000 }
      yield* Effect.forEach(Array.from({ length: 300 }), () => start(hanging.id, { order: 1 }, by))
      const quick = yield* Workflows.use((workflows) =>
        workflows.create("sales", { name: "rest", steps: [{ id: "rest", type: "delay", ms: 1 }] }, ann)
      )
      const { id } = yield* Workflows.use((workflows) => workflows.start("sales", quick.id, {}, by))
      for (let rounds = 0; rounds < 3; rounds++) {
        yield* Workflows.use((workflows) => workflows.round)
        for (let turn = 0; turn < 2_000; turn++) yield* Effect.yieldNow
        yield* TestClock.adjust("1 millis")
      }
      assert.strictEqual(calls.length, 128)
      assert.strictEqual((yield* Workflows.use((workflows) => workflows.get("sales", id))).status, "completed")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("repeats a call that got no answer under one key, and not one that was refused", () => {
    const { calls, layer } = world([{ status: null }, { status: 503 }, { status: 200, json: [1] }, { status: 422 }])
    return Effect.gen(function* () {
      const agent = yield* clerk
      const workflow = yield* create([sendStep("a", agent), sendStep("b", agent)])
      const { id } = yield* start(workflow.id)
      yield* until(id, "running")
      for (let tries = 0; tries < 3; tries++) {
        for (let turn = 0; turn < 200; turn++) yield* Effect.yieldNow
        yield* TestClock.adjust("2 seconds")
        yield* Workflows.use((workflows) => workflows.round)
      }
      const failed = yield* until(id, "failed")
      assert.deepInclude(failed.error, { code: "agent_refused", step_id: "b" })
      assert.deepStrictEqual(failed.steps[0]!.output, { value: [1] })
      assert.deepStrictEqual(
        calls.map(({ headers }) => headers["idempotency-key"]),
        [...[1, 2, 3].map(() => `"${id}:a"`), `"${id}:b"`]
      )
      const kinds = Map.groupBy(yield* recorded, ({ kind }) => kind)
      assert.deepStrictEqual(
        kinds.get("decision.witnessed")!.map(({ body }) => body["status"]),
        ["ok", "error"]
      )
      assert.strictEqual(kinds.get("evaluation.made")!.length, 4)
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("says of an answer that was cut that it did not reach its end, and not that its status is wrong", () => {
    const { layer } = world([{ status: 200, isCut: true }])
    return Effect.gen(function* () {
      const workflow = yield* create([sendStep("a", yield* clerk, { retries: 0 })])
      const { error } = yield* until((yield* start(workflow.id)).id, "failed")
      assert.deepInclude(error, {
        code: "agent_unreachable",
        message: "The agent's answer to the step did not reach its end: it was cut."
      })
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("asks the agent's envelope first: a denial ends it, a review is waited for", () => {
    const { calls, layer } = world()
    return Effect.gen(function* () {
      const agent = yield* clerk
      const workflow = yield* create([sendStep("pay", agent, { signals: { amount: "{{inputs.amount}}" } })])
      const denied = yield* start(workflow.id, { amount: 9_000 })
      assert.deepInclude((yield* until(denied.id, "failed")).error, { code: "agent_denied" })
      assert.strictEqual(calls.length, 0)
      const reviewed = yield* start(workflow.id, { amount: 3_000 })
      yield* until(reviewed.id, "waiting_approval")
      const [review] = yield* Reviews.use((reviews) => reviews.list({ status: "open" }))
      yield* Reviews.use((reviews) =>
        reviews.resolve(review!.id, { resolution: "approve" }, { writer: ben, grants: "any", email: null })
      )
      yield* TestClock.adjust("5 seconds")
      yield* until(reviewed.id, "completed")
      assert.strictEqual(calls.length, 1)
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("lets no agent act for a platform key that was revoked meanwhile", () => {
    const { calls, layer } = world()
    return Effect.gen(function* () {
      const agent = yield* clerk
      const minted = yield* PlatformKeys.use((keys) =>
        keys.mint({ name: "shop", org_unit: "ops", plan: "starter", scopes: ["*"] }, ann)
      )
      const workflow = yield* create([gate("ok"), sendStep("pay", agent)])
      const { id } = yield* start(workflow.id, {}, { writer: { id: minted.id }, cap: 10 })
      yield* until(id, "waiting_approval")
      yield* TestClock.adjust("1 hours")
      yield* PlatformKeys.use((keys) => keys.revoke(minted.id, ann))
      yield* TestClock.adjust("1 hours")
      yield* decide(id, true)
      assert.deepInclude((yield* until(id, "failed")).error, { code: "starter_ended", step_id: "pay" })
      assert.strictEqual(calls.length, 0)
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect.each([
    ["outputs", 16, {}, "outputs_too_large"],
    ["a body", 2, { b: Array.from({ length: 5 }, () => "{{steps.s0.output}}") }, "template_too_large"]
  ] as const)("ends where %s would be too large for a record", ([, steps, body, code]) => {
    const { layer } = world(Array.from({ length: steps }, () => ({ status: 200, json: { text: "x".repeat(60_000) } })))
    return Effect.gen(function* () {
      const agent = yield* clerk
      const workflow = yield* create(
        Array.from({ length: steps }, (_, at) =>
          sendStep(
            `s${at}`,
            agent,
            at === 0 ? {} : { request: { url: "https://agent.example/run", method: "POST", body } }
          )
        )
      )
      const { id } = yield* start(workflow.id)
      assert.deepInclude((yield* until(id, "failed")).error, { code })
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("evaluates each try anew: a halt between two stops the second", () => {
    const { calls, layer } = world([{ status: 503 }, { status: 503 }])
    return Effect.gen(function* () {
      const agent = yield* clerk
      const workflow = yield* create([sendStep("pay", agent, { signals: { amount: "{{inputs.amount}}" } })])
      const reviewed = yield* start(workflow.id, { amount: 3_000 })
      yield* until(reviewed.id, "waiting_approval")
      const [review] = yield* Reviews.use((reviews) => reviews.list({ status: "open" }))
      yield* Reviews.use((reviews) =>
        reviews.resolve(review!.id, { resolution: "approve" }, { writer: ben, grants: "any", email: null })
      )
      yield* TestClock.adjust("5 seconds")
      const allowed = yield* start(workflow.id, { amount: 5 })
      for (let tries = 0; tries < 20 && calls.length < 2; tries++) {
        yield* Workflows.use((workflows) => workflows.round)
        for (let turn = 0; turn < 200; turn++) yield* Effect.yieldNow
      }
      assert.strictEqual(calls.length, 2)
      yield* Kill.use((kill) => kill.activate({ target_type: "agent", target_id: agent, reason: "stop" }, ben))
      yield* TestClock.adjust("2 minutes")
      for (const { id } of [allowed, reviewed])
        assert.include(["agent_halted", "agent_denied"], (yield* until(id, "failed")).error!.code)
      assert.strictEqual(calls.length, 2)
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("ends, or is not started, once its definition was erased", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      const workflow = yield* create([gate("ok"), gate("sure")])
      const [one, other] = [yield* start(workflow.id), yield* start(workflow.id)]
      for (const { id } of [one, other]) yield* until(id, "waiting_approval")
      const { seq } = (yield* recorded).find(({ kind }) => kind === "workflow.changed")!
      yield* Erasure.use((erasure) => erasure.erase({ seq, name: "definition", reason: "retention" }, ann))
      assert.strictEqual((yield* Effect.flip(start(workflow.id)))._tag, "WorkflowNotFound")
      yield* decide(one.id, true)
      assert.deepInclude((yield* until(one.id, "failed")).error, { code: "definition_erased" })
      yield* TestClock.adjust("8 days")
      assert.deepInclude((yield* until(other.id, "failed")).error, { code: "approval_expired", step_id: "ok" })
      assert.deepStrictEqual(new Set(yield* findings()), new Set(["withheld"]))
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("is not approved by its starter's own key, nor by an answer to the step before, again", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      const own = yield* PlatformKeys.use((keys) =>
        keys.mint({ name: "own", org_unit: "ops", plan: "starter", scopes: ["executions:approve"] }, ann)
      )
      const workflow = yield* create([gate("ok"), gate("sure")])
      const { id } = yield* start(workflow.id)
      yield* until(id, "waiting_approval")
      assert.strictEqual((yield* Effect.flip(decide(id, true, { id: own.id })))._tag, "ApprovalNotEligible")
      const first = (yield* get(id)).waiting!.id
      yield* decide(id, true, ben, { notes: "Grace" })
      yield* until(id, "waiting_approval")
      const again = Workflows.use((workflows) => workflows.decide("ops", id, { approved: true }, person(ben)))
      assert.strictEqual((yield* Effect.flip(again))._tag, "ApprovalStale")
      assert.deepInclude((yield* decide(id, true, ben, { approval_id: first })).approval, { id: first })
      yield* decide(id, true, ben, { notes: "Hopper" })
      const { seq } = (yield* recorded).find(({ kind }) => kind === "execution.decided")!
      yield* Erasure.use((erasure) => erasure.erase({ seq, name: "notes", reason: "subject_request" }, ann))
      const storage = yield* Storage
      const held = JSON.stringify(yield* storage.list("executions"))
      assert.notInclude(held, "Grace")
      assert.include(held, "Hopper")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("is cancelled, and what comes back then changes nothing", () => {
    const { layer } = world()
    return Effect.gen(function* () {
      const workflow = yield* create([gate("ok")])
      const { id } = yield* start(workflow.id)
      yield* until(id, "waiting_approval")
      const cancelled = yield* Workflows.use((workflows) => workflows.cancel("ops", id, ann))
      assert.deepInclude(cancelled, { status: "cancelled" })
      assert.strictEqual(cancelled.steps[0]!.status, "skipped")
      assert.strictEqual((yield* Effect.flip(decide(id, true)))._tag, "ExecutionNotWaiting")
      assert.deepStrictEqual(yield* findings(), [])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("forgets what was erased of its definition, inputs, question, notes and outputs", () =>
    Effect.gen(function* () {
      const agent = yield* clerk
      const workflow = yield* create([
        sendStep("find", agent),
        gate("ok", { title: "Grace", subject: { who: "{{inputs.who}}" } })
      ])
      const { id } = yield* start(workflow.id, { who: "Grace" })
      yield* until(id, "waiting_approval")
      yield* decide(id, true, ben, { notes: "Grace called" })
      yield* until(id, "completed")
      const other = yield* start(workflow.id, { who: "Grace" })
      yield* until(other.id, "waiting_approval")
      assert.strictEqual((yield* get(other.id)).waiting!.title, "Grace")
      yield* Workflows.use((workflows) => workflows.cancel("ops", other.id, ann))
      const places = executionKinds.flatMap(({ kind, parts }) => parts.map(({ name }) => [kind, name] as const))
      const storage = yield* Storage
      const held = Effect.map(
        Effect.all([storage.list("executions"), storage.list("workflows")]),
        (documents) => JSON.stringify(documents).match(/Grace/g)?.length ?? 0
      )
      assert.isAbove(yield* held, 6)
      for (const record of yield* recorded)
        for (const [kind, name] of places)
          if (record.kind === kind && record.parts.has(name))
            yield* Erasure.use((erasure) => erasure.erase({ seq: record.seq, name, reason: "subject_request" }, ann))
      assert.strictEqual(yield* held, 0)
      assert.deepInclude(yield* get(id), { workflow_name: workflow.id, inputs: {}, outputs: {} })
      assert.deepStrictEqual(new Set(yield* findings()), new Set(["withheld"]))
    }).pipe(
      Effect.scoped,
      Effect.provide(
        world([
          { status: 200, json: { approval_id: 1, found: "Grace" } },
          { status: 200, json: { approval_id: 1, found: "Grace" } }
        ]).layer
      )
    )
  )
})

describe("a workflow", () => {
  it.effect.each([
    ["an id twice", [gate("ok"), gate("ok")], "id"],
    ["a member of another type", [gate("ok", { ms: 4 })], "ms"],
    ["an approval without a title", [{ id: "ok", type: "approval" }], "title"],
    [
      "a placeholder of a later step",
      [gate("ok", { subject: { x: "{{steps.later.output}}" } }), gate("later")],
      "subject"
    ],
    [
      "a private address",
      [sendStep("a", "AGENT", { request: { url: "http://10.0.0.1/", method: "POST" } })],
      "request"
    ],
    [
      "a header of ours",
      [
        sendStep("a", "AGENT", {
          request: { url: "https://a.example", method: "POST", headers: { "Idempotency-Key": "1" } }
        })
      ],
      "request"
    ]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<object>, string]>)("is refused with %s", ([, steps, member]) =>
    Effect.gen(function* () {
      const agent = yield* clerk
      const named = JSON.parse(JSON.stringify(steps).replaceAll("AGENT", agent)) as ReadonlyArray<object>
      const refusal = yield* Effect.flip(create(named))
      assert.strictEqual(refusal._tag, "InvalidInput")
      assert.include(JSON.stringify((refusal as { readonly detail?: unknown }).detail), `"${member}"`)
      assert.deepStrictEqual(
        (yield* recorded).filter(({ kind }) => kind === "workflow.changed"),
        []
      )
    }).pipe(Effect.scoped, Effect.provide(world().layer))
  )
})

describe("replay of executions", () => {
  it.effect("finds every lie about their records but those that the page names", () =>
    Effect.gen(function* () {
      const agent = yield* clerk
      const workflow = yield* create([gate("ok"), gate("sure"), sendStep("pay", agent)])
      for (const answers of [[true, true], [true, false], []]) {
        const { id } = yield* start(workflow.id, { order: 1 })
        yield* until(id, "waiting_approval")
        for (const [at, approved] of answers.entries()) {
          yield* decide(id, approved, ben, { notes: "so" })
          if (at === 0) yield* until(id, "waiting_approval")
        }
        if (answers.length === 0) yield* Workflows.use((workflows) => workflows.cancel("ops", id, ann))
        yield* until(id, "completed", "failed", "cancelled")
      }
      const storage = yield* Storage
      const times = new Map((yield* storage.records({ limit: 1_000 })).map(({ atMs, seq }) => [seq, atMs]))
      const history = (yield* recorded).map((record): Timed => ({ record, atMs: times.get(record.seq)! }))
      const kinds = executionKinds.map(({ kind }) => kind)
      const accepted = new Set<string>()
      for (const kind of kinds)
        for (const at of history.keys())
          if (history[at]!.record.kind === kind)
            for (const { records, what } of liesAbout(history, at))
              if (!isFound(records, "flyball.example/test")) accepted.add(`${kind}: ${what}`)
      assert.deepStrictEqual([...accepted].sort(), [...namedLies(kinds)].sort())
    }).pipe(Effect.scoped, Effect.provide(world().layer))
  )

  const says = (kind: string, place: number, members: JsonMap) => {
    let seen = -1
    return (record: ReplayRecord): ReplayRecord =>
      record.kind === kind && ++seen === place ? { ...record, body: { ...record.body, ...members } } : record
  }
  it.effect.each([
    ["an approval of the starter", says("execution.decided", 0, { writer: ann.id }), "self_approved"],
    [
      "an answer to another subject",
      says("execution.decided", 0, { subject_digest: "0".repeat(64) }),
      "execution_mismatch"
    ],
    [
      "an answer to another approval",
      says("execution.decided", 0, { approval_id: `apv_${"0".repeat(26)}` }),
      "execution_mismatch"
    ],
    ["a rejection that is called an approval", says("execution.decided", 1, { approved: true }), "execution_mismatch"],
    ["an approval that is called a rejection", says("execution.decided", 0, { approved: false }), "execution_mismatch"],
    ["a gate that was left out", says("execution.waiting", 0, { step_id: "sure" }), "execution_mismatch"],
    ["a longer time to answer", says("execution.waiting", 0, { expires_at_ms: 9_000_000 }), "execution_mismatch"],
    [
      "an end that its answers do not give",
      says("execution.finished", 0, { status: "completed" }),
      "execution_mismatch"
    ],
    ["a cancellation by the engine", says("execution.finished", 0, { status: "cancelled" }), "writer_mismatch"],
    [
      "an answer by an ingest key",
      says("execution.decided", 0, { writer: `key_${"0".repeat(26)}` }),
      "writer_mismatch"
    ],
    ["a workflow without four eyes", says("workflow.changed", 0, { four_eyes: false }), "execution_mismatch"],
    ["other inputs", says("execution.started", 0, { inputs_digest: "0".repeat(64) }), "execution_mismatch"],
    [
      "an execution of no workflow",
      says("execution.started", 0, { workflow_id: `wfl_${"0".repeat(26)}` }),
      "reference_mismatch"
    ]
  ] as ReadonlyArray<readonly [string, (record: ReplayRecord) => ReplayRecord, string]>)(
    "finds %s",
    ([, change, verdict]) =>
      Effect.gen(function* () {
        const workflow = yield* create([gate("ok"), gate("sure")])
        const { id } = yield* start(workflow.id)
        yield* until(id, "waiting_approval")
        yield* decide(id, true)
        yield* until(id, "waiting_approval")
        yield* decide(id, false)
        assert.include(yield* findings(change), verdict)
      }).pipe(Effect.scoped, Effect.provide(world().layer))
  )
})
