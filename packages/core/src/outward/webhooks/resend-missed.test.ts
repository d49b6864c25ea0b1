import { assert, describe, it } from "@effect/vitest"
import { formatInstant } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { StorageApi } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { created, DAY_MS, engine, hooks, tagOf } from "./testing/webhook-acts.ts"
import { answered, happened, outside, untilIdle, wait, webhookWorld } from "./testing/webhook-world.ts"

describe("webhooks", () => {
  it.effect("are resent what they missed, once, and only what they want", () => {
    const there = outside()
    /** Lets another have its turn between what is read and what is committed. */
    const halting = (storage: StorageApi): StorageApi => ({
      ...storage,
      outbox: { ...storage.outbox, missed: (query) => Effect.tap(storage.outbox.missed(query), () => Effect.yieldNow) }
    })
    return Effect.gen(function* () {
      yield* happened()
      yield* TestClock.setTime(1_000)
      const { id } = yield* created()
      yield* Layer.build(engine)
      yield* happened()
      yield* untilIdle
      yield* hooks(({ disable }) => disable(id, systemHost))
      yield* TestClock.setTime(2_000)
      for (const type of ["agent.registered", "agent.suspended", "agent.registered"]) yield* happened(type)
      const since = formatInstant(0)
      assert.strictEqual(yield* tagOf(({ recover }) => recover(id, { since })), "WebhookNotActive")
      yield* hooks(({ enable }) => enable(id, systemHost))
      assert.deepStrictEqual(yield* hooks(({ recover }) => recover(id, { since, dry_run: true })), {
        count: 2,
        dry_run: true,
        has_more: false
      })
      assert.lengthOf(yield* hooks(({ deliveries }) => deliveries(id)), 1)
      const both = yield* hooks(({ recover }) =>
        Effect.all([recover(id, { since }), recover(id, { since })], { concurrency: 2 })
      )
      assert.strictEqual(
        both.reduce((sum, { count }) => sum + count, 0),
        2
      )
      yield* untilIdle
      assert.deepStrictEqual(
        there.arrived.map(({ headers }) => headers["webhook-sequence"]),
        ["1", "2", "3"]
      )
      assert.deepStrictEqual(yield* hooks(({ recover }) => recover(id, { since })), {
        count: 0,
        dry_run: false,
        has_more: false
      })
    }).pipe(Effect.scoped, Effect.provide(webhookWorld(there, {}, halting)))
  })

  it.effect("are resent no more than 14 days", () =>
    Effect.gen(function* () {
      const { id } = yield* created()
      yield* TestClock.setTime(15 * DAY_MS)
      assert.strictEqual(
        yield* tagOf(({ recover }) => recover(id, { since: formatInstant(DAY_MS - 1) })),
        "InvalidInput"
      )
      assert.deepInclude(yield* hooks(({ recover }) => recover(id, { since: formatInstant(DAY_MS) })), { count: 0 })
    }).pipe(Effect.provide(webhookWorld(outside())))
  )

  it.effect("are resent what failed, after the receiver is well again", () => {
    const there = outside()
    there.answer = () => Effect.succeed(answered(500))
    return Effect.gen(function* () {
      const { id } = yield* created()
      yield* Layer.build(engine)
      yield* happened()
      yield* wait(40 * 3_600_000)
      assert.strictEqual((yield* hooks(({ get }) => get(id))).status, "failed")
      there.answer = outside().answer
      yield* hooks(({ enable }) => enable(id, systemHost))
      assert.deepInclude(yield* hooks(({ recover }) => recover(id, { since: formatInstant(0) })), { count: 1 })
      yield* untilIdle
      assert.deepStrictEqual(
        (yield* hooks(({ deliveries }) => deliveries(id))).map(({ attempts, state }) => [state, attempts.length]),
        [
          ["succeeded", 1],
          ["failed", 7]
        ]
      )
    }).pipe(Effect.scoped, Effect.provide(webhookWorld(there)))
  })
})
