import { assert, describe, it } from "@effect/vitest"
import { BREAKERS } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { systemHost } from "../../foundation/writer.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Storage, type StorageApi } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Capture } from "../capture/service.ts"
import { breakerWatch, TICK_MS, tripAllDue } from "./breaker-watch.ts"
import { BreakerWindows } from "./keeper.ts"
import { Breakers } from "./service.ts"

const arm = (
  agentId: string,
  metric: string,
  params: { readonly [name: string]: number },
  mode: "enforce" | "warn" = "enforce"
) =>
  Breakers.use((breakers) => breakers.arm(agentId, { name: "limit", metric, params, enabled: true, mode }, systemHost))

const fail = (agentId: string, ref: string) =>
  Capture.use((capture) =>
    capture.witness(agentId, [{ client_ref: ref, kind: "tool_call", action: "pay", status: "error" }], systemHost)
  )

const trips = Storage.use((storage) =>
  Effect.map(storage.records({ kinds: ["breaker.tripped", "kill.activated"], limit: 100 }), (found) => found.length)
)

/** Waits for a fact: lets all other fibers run until it holds. */
const until = (holds: Effect.Effect<boolean, unknown, Storage>) =>
  Effect.gen(function* () {
    for (let turn = 0; turn < 10_000; turn++) {
      if (yield* holds) return
      yield* Effect.yieldNow
    }
    assert.fail("it never came to hold")
  })

describe("the watch over breakers", () => {
  it.effect("trips what a commit makes due, without anybody who calls", () =>
    Effect.gen(function* () {
      const agent = yield* registered("a bot")
      yield* arm(agent.id, "consecutive_failures", { max_count: 2 })
      yield* fail(agent.id, "a")
      yield* fail(agent.id, "b")
      yield* until(Effect.map(trips, (count) => count === 2))
    }).pipe(Effect.provide(breakerWatch.pipe(Layer.provideMerge(governorWorld()))))
  )

  it.effect("trips on its tick what time alone makes due", () =>
    Effect.gen(function* () {
      const agent = yield* Agents.use((agents) => agents.register({ name: "an orphan", org_unit: "ops" }, systemHost))
      yield* arm(agent.agent.id, "owner_orphaned", { grace_ms: 1_000 })
      yield* TestClock.adjust(TICK_MS)
      yield* until(Effect.map(trips, (count) => count === 2))
    }).pipe(Effect.provide(breakerWatch.pipe(Layer.provideMerge(governorWorld()))))
  )

  it.effect("looks up breakers neither before one is armed, nor of an agent that only registered", () => {
    const lookedUp = new Set<string>()
    const noted = (storage: StorageApi): StorageApi => ({
      ...storage,
      find: (collection, key, value) =>
        Effect.suspend(() => {
          if (collection === BREAKERS && key === "agent_id") lookedUp.add(value)
          return storage.find(collection, key, value)
        })
    })
    return Effect.gen(function* () {
      const unwatched = yield* registered("without a breaker")
      yield* fail(unwatched.id, "a")
      yield* Effect.yieldNow
      const watched = yield* registered("with a breaker")
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([...lookedUp], [])
      yield* arm(watched.id, "consecutive_failures", { max_count: 1 })
      yield* registered("a newcomer")
      yield* fail(watched.id, "b")
      yield* until(Effect.map(trips, (count) => count === 2))
      assert.deepStrictEqual([...lookedUp], [watched.id])
    }).pipe(Effect.provide(breakerWatch.pipe(Layer.provideMerge(governorWorld(noted)))))
  })
})

describe("hosts that read one breaker at once", () => {
  it.effect.each(["warn", "enforce"] as const)("trip it once, in mode %s", (mode) =>
    Effect.gen(function* () {
      const agent = yield* registered("a bot")
      yield* arm(agent.id, "consecutive_failures", { max_count: 1 }, mode)
      yield* fail(agent.id, "a")
      // Each has windows of its own over the one store, as another process has.
      const another = Layer.fresh(Breakers.layer.pipe(Layer.provide(BreakerWindows.layer)))
      const counts = yield* Effect.all(
        Array.from({ length: 6 }, () => tripAllDue.pipe(Effect.provide(another))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(
        counts.reduce((sum, count) => sum + count, 0),
        1
      )
      assert.strictEqual(yield* trips, mode === "warn" ? 1 : 2)
      // All have read the breaker before the first of them commits.
    }).pipe(
      Effect.provide(
        governorWorld((storage) => ({
          ...storage,
          commit: (change) => Effect.andThen(Effect.yieldNow, storage.commit(change))
        }))
      )
    )
  )
})
