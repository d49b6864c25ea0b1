/**
 * Whatever is done to webhooks, and whatever is refused: one delivery for each event and each webhook that wanted it
 * then, and no state outside of the tables.
 */
import { endpointAfter, type EndpointAct, type EndpointStatus } from "@flyball/rules"
import { type OwnedWebhooksApi, systemHost, unitOwner, type WebhooksApi } from "@flyball/core"
import { type Delivery, Storage } from "@flyball/core/storage"
import { toHex } from "@flyball/evidence"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { Layer } from "effect"
import { assert, describe, it } from "vitest"
import { deliveryEngine } from "../../../packages/core/src/outward/webhooks/delivery-engine.ts"
import { Replay } from "../../../packages/core/src/outward/replay/service.ts"
import { Webhooks } from "../../../packages/core/src/outward/webhooks/service.ts"
import {
  accepted,
  answered,
  outside,
  untilIdle,
  unreachable,
  webhookWorld
} from "../../../packages/core/src/outward/webhooks/testing/webhook-world.ts"

const SEED = 20_261_123
const types = ["agent.registered", "agent.suspended", "key.minted"] as const
type Type = (typeof types)[number]

/** Whose webhooks and events: the governance's (null), or an org unit's. */
type Unit = "sales" | "shop" | null
type Command =
  | { readonly do: "create"; readonly events: ReadonlyArray<Type>; readonly unit: Unit }
  | {
      readonly do: "enable" | "disable" | "revoke" | "rotate-secret" | "complete-rotation" | "test"
      readonly which: number
    }
  | { readonly do: "happen" | "refused"; readonly events: ReadonlyArray<Type>; readonly unit: Unit }
  | { readonly do: "redeliver" | "recover"; readonly which: number }
  | { readonly do: "time"; readonly seconds: number }
  | { readonly do: "answers"; readonly how: "well" | "ill" | "away" }

const which = fc.nat({ max: 3 })
const unit = fc.constantFrom<Unit>(null, null, "sales", "shop")
const some = fc.uniqueArray(fc.constantFrom(...types), { minLength: 1 })
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("create" as const), events: some, unit }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "enable" as const,
        "disable" as const,
        "revoke" as const,
        "rotate-secret" as const,
        "complete-rotation" as const,
        "test" as const
      ),
      which
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("happen" as const, "happen" as const, "refused" as const),
      events: fc.array(fc.constantFrom(...types), { minLength: 1, maxLength: 4 }),
      unit
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("redeliver" as const, "recover" as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("time" as const), seconds: fc.constantFrom(0, 1, 60, 3_600, 90_000) })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("answers" as const),
      how: fc.constantFrom("well" as const, "ill" as const, "away" as const)
    })
  }
)

/** A receiver that is ill until everything owed to it was tried seven times. Rare by chance, so it is dealt whole. */
const illness: ReadonlyArray<Command> = [
  { do: "answers", how: "ill" },
  { do: "happen", events: ["agent.registered", "key.minted"], unit: null },
  ...Array.from({ length: 7 }, () => ({ do: "time", seconds: 90_000 }) as const)
]
const commands = (max: number): fc.Arbitrary<ReadonlyArray<Command>> =>
  fc
    .array(
      fc.oneof({ weight: 15, arbitrary: command.map((one) => [one]) }, { weight: 1, arbitrary: fc.constant(illness) }),
      { maxLength: max }
    )
    .map((some) => [{ do: "create", events: ["agent.registered"], unit: null }, ...some.flat()])

/** A webhook as the tables say it must stand. */
interface Hook {
  readonly id: string
  readonly unit: Unit
  readonly events: ReadonlyArray<Type>
  status: EndpointStatus
  /** Ids of events owed to it by themselves, and how many of each were requested again. */
  readonly owed: Array<string>
  again: number
}

const ended = new Set(["succeeded", "failed", "cancelled"])
const answers = { well: accepted, ill: answered(500), away: unreachable }

const run = (all: ReadonlyArray<Command>, engineRuns: boolean) => {
  const there = outside()
  const hooks: Array<Hook> = []
  let how: keyof typeof answers = "well"
  there.answer = () => Effect.sync(() => answers[how])
  const before = new Map<string, Delivery>()

  const poll = Effect.gen(function* () {
    const storage = yield* Storage
    const webhooks = yield* Webhooks
    for (const hook of hooks) {
      const { status } = yield* ofUnit(webhooks, hook.unit).get(hook.id)
      // The engine alone moves by itself, and only along one row.
      if (status !== hook.status) assert.strictEqual(status, endpointAfter("fail", hook.status))
      hook.status = status
      const deliveries = (yield* storage.outbox.deliveriesOf(hook.id, { limit: 1_000 })).toReversed()
      assert.deepStrictEqual(
        deliveries.map(({ sequence }) => sequence),
        deliveries.map((_, at) => at + 1)
      )
      assert.strictEqual(deliveries.length, hook.owed.length + hook.again)
      for (const eventId of hook.owed) assert.isTrue(deliveries.some((one) => one.eventId === eventId))
      for (const delivery of deliveries) {
        assert.isAtMost(delivery.attempts, 7)
        const was = before.get(delivery.id)
        if (was !== undefined && ended.has(was.state)) assert.deepStrictEqual(delivery, was)
        if (status !== "active") assert.notStrictEqual(delivery.state, "pending")
        before.set(delivery.id, delivery)
      }
    }
    const requests = Map.groupBy(there.arrived, ({ headers }) => headers["X-Platform-Delivery"]!)
    for (const [id, sent] of requests) {
      assert.isAtMost(sent.length, 7)
      assert.strictEqual(new Set(sent.map(({ body }) => toHex(body))).size, 1)
      const delivery = before.get(id)
      if (delivery !== undefined) assert.isAtMost(sent.length, delivery.attempts)
    }
  })

  const act = Effect.fnUntraced(function* (one: Command) {
    const storage = yield* Storage
    const webhooks = yield* Webhooks
    switch (one.do) {
      case "create": {
        const input = { url: "https://hooks.example/in", events: one.events }
        const { id } = yield* ofUnit(webhooks, one.unit).create(input, systemHost)
        return void hooks.push({ id, unit: one.unit, events: one.events, status: "active", owed: [], again: 0 })
      }
      case "happen": {
        const last = (yield* allEvents).at(-1)?.id ?? ""
        yield* storage.commit({ events: eventsOf(one) })
        for (const { id, type } of (yield* allEvents).filter((event) => event.id > last)) {
          for (const hook of hooks)
            if (hook.status === "active" && hook.unit === one.unit && hook.events.some((wanted) => wanted === type))
              hook.owed.push(id)
        }
        return
      }
      case "refused": {
        const count = (yield* allEvents).length
        const refusal = yield* Effect.flip(
          storage.commit({
            expects: [{ collection: "agents", id: "agt_x", version: 3 }],
            events: eventsOf(one)
          })
        )
        assert.strictEqual(refusal._tag, "StorageConflict")
        assert.strictEqual((yield* allEvents).length, count)
        return
      }
      case "time": {
        yield* TestClock.setTime((yield* Clock.currentTimeMillis) + one.seconds * 1_000)
        return
      }
      case "answers": {
        how = one.how
        return
      }
      case "redeliver": {
        const hook = hooks[one.which]
        const delivery = hook === undefined ? undefined : (yield* storage.outbox.deliveriesOf(hook.id, { limit: 1 }))[0]
        if (hook === undefined || delivery === undefined) return
        const taken = yield* Effect.isSuccess(ofUnit(webhooks, hook.unit).redeliver(hook.id, delivery.id))
        if (taken) assert.isNotNull(endpointAfter("redeliver", hook.status))
        // One that waits is made due, and nothing more is owed.
        if (taken && delivery.state !== "pending") hook.again += 1
        return
      }
      case "recover": {
        const hook = hooks[one.which]
        if (hook === undefined) return
        const recovered = yield* Effect.exit(
          ofUnit(webhooks, hook.unit).recover(hook.id, {
            since: new Date(yield* Clock.currentTimeMillis).toISOString()
          })
        )
        if (recovered._tag === "Success") hook.again += recovered.value.count
        assert.strictEqual(recovered._tag === "Success", endpointAfter("recover", hook.status) !== null)
        return
      }
      default: {
        const hook = hooks[one.which]
        if (hook === undefined) return
        const own = ofUnit(webhooks, hook.unit)
        const acts: { readonly [act in typeof one.do]: Effect.Effect<unknown, { readonly _tag: string }> } = {
          enable: own.enable(hook.id, systemHost),
          disable: own.disable(hook.id, systemHost),
          revoke: own.revoke(hook.id, systemHost),
          "rotate-secret": own.rotateSecret(hook.id, { overlap_hours: 1 }, systemHost),
          "complete-rotation": own.completeRotation(hook.id, systemHost),
          test: own.test(hook.id)
        }
        const refused = yield* Effect.map(Effect.result(acts[one.do]), (result) =>
          result._tag === "Failure" ? result.failure._tag : null
        )
        const after = endpointAfter(one.do satisfies EndpointAct, hook.status)
        if (hook.status === "revoked" && one.do !== "revoke") assert.strictEqual(refused, "WebhookRevoked")
        if (refused === null && after !== null) hook.status = after
      }
    }
  })

  return Effect.gen(function* () {
    if (engineRuns) yield* Layer.build(deliveryEngine({ pollMs: 30 * 86_400_000 }))
    for (const one of all) {
      // What was due has happened before the next act: the model need not know how far the engine is.
      yield* untilIdle
      yield* poll
      yield* act(one)
      if (!engineRuns) yield* poll
    }
    yield* untilIdle
    yield* poll
    assert.deepStrictEqual((yield* Replay.use(({ check }) => check)).differences, [])
  }).pipe(Effect.scoped, Effect.provide(webhookWorld(there)), Effect.provide(TestClock.layer()))
}

const ofUnit = (webhooks: WebhooksApi, unit: Unit): OwnedWebhooksApi =>
  unit === null ? webhooks : webhooks.ofOrgUnit(unit)

const eventsOf = ({ events, unit }: { readonly events: ReadonlyArray<Type>; readonly unit: Unit }) =>
  events.map((type) => ({ type, data: {}, ...(unit === null ? {} : { owner: unitOwner(unit) }) }))

const allEvents = Storage.use((storage) => storage.outbox.events({ types, limit: 1_000 }))

describe("the pending deliveries of webhooks", () => {
  it("are one for each event and subscribed webhook, even when commits are refused", async () => {
    await fc.assert(
      fc.asyncProperty(commands(30), (all) => Effect.runPromise(run(all, false))),
      { numRuns: 60, seed: SEED }
    )
  })

  it("while sending, have at most seven attempts, keep final states, and end for inactive webhooks", async () => {
    await fc.assert(
      fc.asyncProperty(commands(40), (all) => Effect.runPromise(run(all, true))),
      { numRuns: 60, seed: SEED }
    )
  })
})
