import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { CaptureAdmission } from "./capture-admission.ts"

const bounds = { perKeyBytes: 100, allBytes: 200, waitMs: 3_000 }

/** Requests that have passed, in order, each held until it is let go. */
const world = Effect.sync(() => {
  const capture = new CaptureAdmission(bounds)
  const passed: Array<string> = []
  const gates = new Map<string, Deferred.Deferred<void>>()
  return {
    passed,
    send: (key: string, name: string, bytes: number) => {
      const gate = Deferred.makeUnsafe<void>()
      gates.set(name, gate)
      const work = Effect.andThen(
        Effect.sync(() => void passed.push(name)),
        Deferred.await(gate)
      )
      return Effect.forkChild(Effect.exit(capture.pass(key, bytes, work)), { startImmediately: true })
    },
    end: (name: string) => Effect.andThen(Deferred.succeed(gates.get(name)!, undefined), Effect.yieldNow)
  }
})

describe("CaptureAdmission", () => {
  it.effect("lets a key have its bytes under way, and the next one pass when one is answered", () =>
    Effect.gen(function* () {
      const { end, passed, send } = yield* world
      for (const name of ["a1", "a2", "a3"]) yield* send("a", name, 50)
      yield* send("b", "b1", 50)
      assert.deepStrictEqual(passed, ["a1", "a2", "b1"])
      yield* end("a1")
      assert.deepStrictEqual(passed, ["a1", "a2", "b1", "a3"])
    })
  )

  it.effect("bounds all keys together; then keys take turns, and a light request goes first", () =>
    Effect.gen(function* () {
      const { end, passed, send } = yield* world
      for (const key of ["a", "b", "c"]) for (const nth of [1, 2, 3]) yield* send(key, `${key}${nth}`, 50)
      yield* send("d", "d1", 1)
      assert.deepStrictEqual(passed, ["a1", "a2", "b1", "b2"])
      yield* end("a1")
      assert.deepStrictEqual(passed.slice(4), ["a3"])
      yield* end("a2")
      assert.deepStrictEqual(passed.slice(5), ["d1"])
      yield* end("d1")
      assert.deepStrictEqual(passed.slice(6), ["c1"])
    })
  )

  it.effect("counts a large request as half of its key's bytes", () =>
    Effect.gen(function* () {
      const { passed, send } = yield* world
      for (const name of ["huge1", "huge2", "huge3"]) yield* send("a", name, 1_000)
      assert.deepStrictEqual(passed, ["huge1", "huge2"])
    })
  )

  it.effect("lets nothing pass a request that finds no room among all keys, so that it does not starve", () =>
    Effect.gen(function* () {
      const { end, passed, send } = yield* world
      for (const [key, bytes] of [
        ["a", 50],
        ["b", 50],
        ["c", 50],
        ["d", 30]
      ] as const)
        yield* send(key, key, bytes)
      yield* send("e", "e", 30)
      yield* send("f", "f", 40)
      yield* send("e", "e2", 15)
      assert.deepStrictEqual(passed, ["a", "b", "c", "d"])
      yield* end("d")
      assert.deepStrictEqual(passed.slice(4), ["e"])
    })
  )

  it.effect("refuses what waited in vain, with the time that what is before it will take", () =>
    Effect.gen(function* () {
      const { end, passed, send } = yield* world
      yield* send("a", "a0", 50)
      yield* TestClock.adjust(5_000)
      yield* end("a0")
      // 50 bytes took 5 seconds: 100 that are under way and 50 that wait take 15.
      for (const name of ["a1", "a2"]) yield* send("a", name, 50)
      const waiting = yield* send("a", "a3", 50)
      yield* TestClock.adjust(bounds.waitMs - 1)
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust(1)
      const exit = yield* Fiber.join(waiting)
      const error = Exit.isFailure(exit) ? yield* Effect.flip(exit) : null
      assert.deepStrictEqual([error?._tag, error?.retryAfterS], ["CaptureQueueFull", 15])
      assert.deepStrictEqual(passed, ["a0", "a1", "a2"])
    })
  )

  it.effect("is left by a request whose sender hangs up, in the queue and behind it", () =>
    Effect.gen(function* () {
      const { passed, send } = yield* world
      const [first, , third] = yield* Effect.forEach(["a1", "a2", "a3", "a4"], (name) => send("a", name, 50))
      yield* Fiber.interrupt(third!)
      yield* Fiber.interrupt(first!)
      assert.deepStrictEqual(passed, ["a1", "a2", "a4"])
    })
  )
})
