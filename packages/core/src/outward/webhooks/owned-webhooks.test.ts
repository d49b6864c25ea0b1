/** Webhooks of org units: what reaches them, who sees them, and how they change. Spec: document 2 section 6. */
import { assert, describe, it } from "@effect/vitest"
import { fromUtf8 } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { systemHost } from "../../foundation/writer.ts"
import { Idempotency } from "../../idempotency/idempotency.ts"
import { unitOwner } from "../../storage/event.ts"
import { Storage } from "../../storage/port.ts"
import { Erasure } from "../erasure/service.ts"
import { Webhooks } from "./service.ts"
import { bodiesOf, created, DAY_MS, engine, hooks, replays } from "./testing/webhook-acts.ts"
import { answered, governorWithWebhooks, outside, untilIdle, wait, webhookWorld } from "./testing/webhook-world.ts"

const TYPE = "analysis.failed"
const units = { a: "sales", b: "shop" }
const of = (unit: string) => Effect.map(Webhooks, ({ ofOrgUnit }) => ofOrgUnit(unit))
const hookOf = (unit: string, url = `https://hooks.example/${unit}`) =>
  Effect.flatMap(of(unit), ({ create }) => create({ url, events: [TYPE] }, systemHost))
const emit = (unit: string | null, n: number) =>
  Storage.use((storage) =>
    storage.commit({
      events: [{ type: TYPE, data: { n }, ...(unit === null ? {} : { owner: unitOwner(unit) }) }]
    })
  )

describe("webhooks of an org unit", () => {
  it.effect("get the events of their unit alone, without a word about the chain, and recover these", () => {
    const there = outside()
    return Effect.gen(function* () {
      yield* created({ events: [TYPE as never], url: "https://hooks.example/governance" })
      const { id } = yield* hookOf(units.a)
      yield* hookOf(units.b)
      yield* emit(units.a, 1)
      yield* emit(units.b, 2)
      yield* emit(null, 3)
      yield* untilIdle
      const arrived = () => there.arrived.map(({ body, url }) => [new URL(url).pathname, JSON.parse(fromUtf8(body)!)])
      assert.sameDeepMembers(
        arrived().map(([path, event]) => [path, event.data.n, Object.keys(event).length]),
        [
          ["/sales", 1, 4],
          ["/shop", 2, 4],
          ["/governance", 3, 5]
        ]
      )
      const sales = yield* of(units.a)
      yield* sales.change(id, { status: "disabled" }, systemHost)
      for (const unit of [units.a, units.b, null]) yield* emit(unit, 4)
      yield* sales.change(id, { status: "active" }, systemHost)
      assert.deepInclude(yield* sales.recover(id, { since: "1970-01-01T00:00:00Z" }), { count: 1 })
      yield* sales.test(id)
      yield* untilIdle
      const last = arrived()
        .filter(([path]) => path === "/sales")
        .map(([, event]) => event)
      assert.deepStrictEqual(last[1].data, { webhook_id: id, resource: `/v1/webhooks/${id}/deliveries` })
      assert.deepStrictEqual(last[2].data, { n: 4 })
      yield* replays
    }).pipe(Effect.provide(engine.pipe(Layer.provideMerge(webhookWorld(there)))))
  })

  it.effect("exist for their unit only, and change in one record", () =>
    Effect.gen(function* () {
      const { id } = yield* hookOf(units.a)
      const own = yield* created()
      assert.deepStrictEqual(
        (yield* hooks(({ list }) => list)).map((one) => one.id),
        [own.id]
      )
      const [sales, shop] = [yield* of(units.a), yield* of(units.b)]
      for (const [other, of] of [
        [shop, id],
        [yield* Webhooks, id],
        [sales, own.id]
      ] as const) {
        const refused = [
          other.get(of),
          other.change(of, { status: "disabled" }, systemHost),
          other.revoke(of, systemHost),
          other.rotateSecret(of, {}, systemHost),
          other.deliveries(of),
          other.redeliver(of, "dlv_x"),
          other.recover(of, { since: "1970-01-01T00:00:00Z" }),
          other.test(of)
        ] as ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>>
        for (const call of refused) assert.strictEqual((yield* Effect.flip(call))._tag, "WebhookNotFound")
      }
      const change = { url: "https://hooks.example/next", events: ["alert.triggered"], description: "d" }
      const changed = yield* sales.change(id, { ...change, status: "disabled" }, systemHost)
      assert.deepInclude(changed, { ...change, status: "disabled", cause: "owner" })
      assert.deepStrictEqual(yield* sales.change(id, { ...change, status: "disabled" }, systemHost), changed)
      assert.deepInclude(yield* sales.change(id, { description: null, status: "active" }, systemHost), {
        description: null,
        url: change.url,
        cause: "enabled"
      })
      assert.deepStrictEqual(yield* bodiesOf("webhook.changed"), [
        { cause: "owner", events: ["alert.triggered"], status: "disabled", webhook_id: id, writer: "system:host" },
        { cause: "enabled", status: "active", webhook_id: id, writer: "system:host" }
      ])
      assert.strictEqual(
        (yield* Effect.flip(sales.change(id, { url: "https://10.0.0.1/" }, systemHost)))._tag,
        "InvalidInput"
      )
      yield* replays
      const records = yield* Storage.use((storage) => storage.records({ kinds: ["webhook.changed"], limit: 9 }))
      yield* Erasure.use(({ erase }) =>
        erase({ seq: records[1]!.seq, name: "endpoint", reason: "subject_request" }, systemHost)
      )
      assert.deepInclude(yield* sales.get(id), { url: null, status: "revoked" })
      assert.strictEqual((yield* Effect.flip(sales.change(id, {}, systemHost)))._tag, "WebhookRevoked")
      yield* replays
    }).pipe(Effect.provide(governorWithWebhooks(outside())))
  )

  it.effect("keep the answer to a key in the commit of the change, sealed where it has a secret", () =>
    Effect.gen(function* () {
      const sales = (yield* Webhooks).ofOrgUnit(units.a, ({ id }) => ({ shown: id }))
      const run = (key: string, act: Effect.Effect<{ readonly id: string }, unknown>) =>
        Idempotency.use((idempotency) =>
          idempotency.run(
            {
              owner: "unit:sales",
              key,
              fingerprint: "0a".repeat(32),
              requestId: key,
              isSecret: true,
              answerOf: (value) => ({ status: 201, headers: {}, body: JSON.stringify(value) })
            },
            Effect.map(act, ({ id }) => ({ status: 201, headers: {}, body: id }))
          )
        )
      const input = { url: "https://hooks.example/in", events: [TYPE] }
      const { body: id } = yield* run("create", sales.create(input, systemHost))
      yield* run("rotate", sales.rotateSecret(id, { overlap_hours: 0 }, systemHost))
      yield* run("change", sales.change(id, { status: "disabled" }, systemHost))
      for (const key of ["create", "rotate", "change"])
        assert.deepInclude(yield* run(key, Effect.die("it ran again")), { body: JSON.stringify({ shown: id }) })
      const kept = yield* Storage.use((storage) => storage.list("idempotency"))
      assert.deepStrictEqual(
        kept.map(({ body, version }) => [version, body["sealed"]]),
        [
          [1, true],
          [1, true],
          [1, true]
        ]
      )
      yield* replays
    }).pipe(Effect.provide(governorWithWebhooks(outside())))
  )

  it.effect("that fail tell nobody of another owner", () => {
    const there = outside()
    there.answer = () => Effect.succeed(answered(500))
    return Effect.gen(function* () {
      yield* created({ events: ["webhook.failed"] })
      const { id } = yield* hookOf(units.a)
      yield* emit(units.a, 1)
      yield* wait(3 * DAY_MS)
      assert.strictEqual((yield* (yield* of(units.a)).get(id)).status, "failed")
      assert.deepStrictEqual([...new Set(there.arrived.map(({ url }) => new URL(url).pathname))], ["/sales"])
      yield* replays
    }).pipe(Effect.provide(engine.pipe(Layer.provideMerge(webhookWorld(there)))))
  })
})
